//! The page of a VPC: address map, subnets and instances.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::HeaderMap;
use maud::{Markup, html};

use super::{LIST, active_tag, instance_count, url};
use crate::console::address_map;
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, page_url, pagination, time};
use crate::console::query::Query;
use crate::console::subnets;
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::VpcId;
use crate::model::interface::write_address;
use crate::model::page::Paged;
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::VpcIp;
use crate::rules::address_map::VisibleInstances;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::{self, Error};
use crate::web::App;
use crate::web::extract::At;

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    query: Query,
    headers: HeaderMap,
) -> PageResult {
    let list_request = query.list_request(100);
    let found = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::view(tx, caller, id)?;
            Ok(VpcPage {
                used: addresses::used_in_subnets(tx, &vpc.subnets)?,
                taken: rules::vpc_ips::of_vpc(tx, caller, id, &list_request)?,
                visible: rules::address_map::visible(tx, caller)?,
                may_change: caller
                    .require_permission(tx, GrantKind::Vpc, id.0, Permission::ReadWrite)
                    .is_ok(),
                vpc,
            })
        })
        .await;
    let page = match found {
        // An open page reloads itself with htmx: show that the VPC was deleted, because htmx discards error responses.
        Err(Error::NotFound) if headers.contains_key("hx-request") => {
            return Ok(visit.page("VPC", &[LIST], &not_available()));
        }
        found => found?,
    };
    let forbidden = &app.store().context().policy.forbidden_ranges;
    Ok(visit.page(page.vpc.label.as_str(), &[LIST], &page.render(forbidden)))
}

fn not_available() -> Markup {
    let text = "It was deleted, or you no longer have access to it.";
    html! { div #vpc role="status" { (empty_state("VPC not available", text, Some(("Show all VPCs", LIST.1)))) } }
}

/// The data of the page.
struct VpcPage {
    vpc: Vpc,
    used: Vec<Usage>,
    taken: Paged<VpcIp>,
    visible: VisibleInstances,
    may_change: bool,
}

impl VpcPage {
    fn render(&self, forbidden: &[Cidr]) -> Markup {
        let VpcPage { vpc, may_change, .. } = self;
        let here = url(vpc.id);
        let all = self.used.iter().copied().fold(Usage::default(), Usage::and);
        let live = page_url(&here, self.taken.page.number);
        let trigger = format!(
            "garth:vpc-{} from:body, garth:subnet from:body, garth:linode from:body",
            vpc.id
        );
        html! { div #vpc hx-get=(live) hx-trigger=(trigger) hx-select="#vpc" hx-swap="outerHTML" {
            div .title {
                h1 { (vpc.label.as_str()) }
                div .actions {
                    @if *may_change { a .button.main href=(format!("{here}/subnets/new")) { "Add subnet" } }
                    a .button href=(format!("/tickets/new?vpc_id={}", vpc.id)) { "Open a ticket about this" }
                    @if *may_change {
                        a .button href=(format!("{here}/edit")) { "Edit" }
                        a .button.danger href=(format!("{here}/delete")) { "Delete" }
                    }
                }
            }
            @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
            dl .facts {
                div { dt { "Region" } dd { (vpc.region.0) } }
                div { dt { "Subnets" } dd { (vpc.subnets.len()) } }
                div { dt { "Instances" } dd { (instance_count(vpc)) } }
                div { dt { "Addresses in use" } dd { (used_meter(all)) } }
                div { dt { "ID" } dd { (vpc.id) } }
                div { dt { "Created" } dd { (time(vpc.created)) } }
                div { dt { "Updated" } dd { (time(vpc.updated)) } }
            }
            @if vpc.subnets.is_empty() {
                @let action = may_change.then(|| format!("{here}/subnets/new"));
                @let text = "A subnet is a range of private IPv4 addresses for instances.";
                (empty_state("No subnets yet", text, action.as_deref().map(|action| ("Add subnet", action))))
            } @else {
                section aria-labelledby="map" { h2 #map { "Address map" } (self.map(forbidden)) }
                section aria-labelledby="subnets" { h2 #subnets { "Subnets" } (self.subnets()) }
                section aria-labelledby="instances" { h2 #instances { "Instances and addresses" } (self.addresses()) }
            }
        } }
    }

    fn map(&self, forbidden: &[Cidr]) -> Markup {
        let blocks = address_map::blocks(&self.vpc, &self.used, subnets::url);
        address_map::vpc(&blocks, forbidden)
    }

    fn subnets(&self) -> Markup {
        html! {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Range" } th scope="col" .number { "Instances" }
                    th scope="col" { "Addresses in use" } th scope="col" { "Updated" }
                    @if self.may_change { th scope="col" { span .hidden { "Actions" } } }
                } }
                tbody {
                    @for (subnet, used) in self.vpc.subnets.iter().zip(&self.used) {
                        @let here = subnets::url(subnet);
                        tr {
                            th scope="row" { a href=(here) { (subnet.label.as_str()) } " " span .id { (subnet.id) } }
                            td data-label="Range" { code { (subnet.ipv4) } }
                            td .number data-label="Instances" { (subnets::instance_count(subnet)) }
                            td data-label="In use" { (used_meter(*used)) }
                            td data-label="Updated" { (time(subnet.updated)) }
                            @if self.may_change { td { div .actions {
                                a href=(format!("{here}/edit")) { "Edit" span .hidden { " " (subnet.label.as_str()) } }
                                a href=(format!("{here}/delete")) { "Delete" span .hidden { " " (subnet.label.as_str()) } }
                            } } }
                        }
                    }
                }
            }
        }
    }

    fn addresses(&self) -> Markup {
        let here = url(self.vpc.id);
        let uses = self
            .vpc
            .subnets
            .iter()
            .flat_map(|subnet| subnet.uses.iter().map(move |found| (subnet, found)));
        let uses: HashMap<_, _> = uses
            .map(|(subnet, found)| (found.interface, (subnet, found)))
            .collect();
        html! {
            @if self.taken.items.is_empty() {
                (empty_state("No instances yet", "No instance has an interface on these subnets. Use the API or an API client to add a VPC interface to an \
                    instance's config.", None))
            } @else {
                table .list {
                    thead { tr {
                        th scope="col" { "Instance" } th scope="col" { "Address" } th scope="col" { "Subnet" }
                        th scope="col" { "Config" } th scope="col" { "State" }
                    } }
                    tbody {
                        @for taken in &self.taken.items {
                            @let found = uses.get(&taken.interface);
                            tr {
                                th scope="row" {
                                    @match found.filter(|_| self.visible.has(taken.instance)) {
                                        Some((_, found)) => (found.instance_label),
                                        None => "Instance",
                                    }
                                    " " span .id { (taken.instance) }
                                }
                                td data-label="Address" {
                                    code { @match (taken.address, taken.range) {
                                        (Some(address), _) => (write_address(address)),
                                        (None, Some(range)) => (range),
                                        (None, None) => "–",
                                    } }
                                    @if taken.range.is_some() { " " span .tag { "range" } }
                                }
                                td data-label="Subnet" { @if let Some((subnet, _)) = found {
                                    a href=(subnets::interface_url(subnet, taken.interface)) { (subnet.label.as_str()) }
                                } }
                                td data-label="Config" {
                                    // The label of a config often contains the label of the instance.
                                    @match found.filter(|_| self.visible.has(taken.instance)) {
                                        Some((_, found)) => (found.config_label),
                                        None => span .id { (taken.config) },
                                    }
                                }
                                td data-label="State" { (active_tag(taken.active)) }
                            }
                        }
                    }
                }
                (pagination(&self.taken, &here))
            }
        }
    }
}
