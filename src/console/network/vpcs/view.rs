//! The page of a VPC: address map, subnets and instances.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::HeaderMap;
use maud::{Markup, html};

use super::{LIST, active_tag, map, tabs, url};
use crate::console::account::event_filter::url_of_object;
use crate::console::address_map::{self, MAX_MAPPED_SUBNETS};
use crate::console::error_page::PageResult;
use crate::console::ipv6;
use crate::console::layout::{empty_state, number, page_url, pagination, pluralize, region_name, time};
use crate::console::query::Query;
use crate::console::subnets;
use crate::console::usage::{used_meter, used_meter_with_percent};
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{InterfaceId, VpcId};
use crate::model::interface::write_address;
use crate::model::network_map::NetworkHolder;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::VpcIp;
use crate::rules::address_map::VisibleInstances;
use crate::rules::addresses::Usage;
use crate::rules::caller::Caller;
use crate::rules::subnet_lists::{Attachments, Overview};
use crate::rules::{self, Error};
use crate::web::App;
use crate::web::extract::At;

/// The page of a VPC with more subnets links to the list of subnets.
const MAX_LISTED_SUBNETS: usize = 25;

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    query: Query,
    headers: HeaderMap,
) -> PageResult {
    let list_request = query.list_request();
    let loaded = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::load_without_subnets(tx, caller, id, Permission::ReadOnly)?;
            let vpc_ips = rules::vpc_ips::of_vpc(tx, caller, id, &list_request)?;
            Ok(VpcPage {
                overview: rules::subnet_lists::overview(tx, id, MAX_MAPPED_SUBNETS)?,
                attachments: rules::subnet_lists::attachments(tx, &vpc_ips.items)?,
                networks: match vpc.ipv6 {
                    Some(_) => rules::vpc_ips::networks_of(tx, &vpc_ips.items)?,
                    None => HashMap::new(),
                },
                vpc_ips,
                visible: rules::address_map::visible(tx, caller)?,
                may_change: caller
                    .require_permission(tx, GrantKind::Vpc, id.0, Permission::ReadWrite)
                    .is_ok(),
                vpc,
            })
        })
        .await;
    let page = match loaded {
        // An open page reloads itself with htmx, which discards error responses. So this is a page without an
        // error status.
        Err(Error::NotFound) if headers.contains_key("hx-request") => {
            return Ok(visit.page("VPC", &[LIST], &not_available()));
        }
        other => other?,
    };
    let policy = &app.store().policy();
    Ok(visit.page(page.vpc.label.as_str(), &[LIST], &page.render(policy)))
}

fn not_available() -> Markup {
    let text = "It was deleted, or you no longer have access to it.";
    html! { div #vpc role="status" { (empty_state("VPC not available", text, Some(("Show all VPCs", LIST.1)))) } }
}

/// The data of the page.
struct VpcPage {
    /// Without its subnets.
    vpc: Vpc,
    overview: Overview,
    /// The subnets and interfaces of `vpc_ips`.
    attachments: Attachments,
    vpc_ips: Paged<VpcIp>,
    /// The IPv6 networks of the interfaces of `vpc_ips`.
    networks: HashMap<InterfaceId, Vec<NetworkHolder>>,
    visible: VisibleInstances,
    may_change: bool,
}

impl VpcPage {
    fn render(&self, policy: &Policy) -> Markup {
        let VpcPage {
            vpc,
            may_change,
            overview,
            ..
        } = self;
        let vpc_url = url(vpc.id);
        let reload_url = page_url(&vpc_url, self.vpc_ips.page.number);
        let trigger = format!(
            "garth:vpc-{} from:body, garth:subnet from:body, garth:linode from:body",
            vpc.id
        );
        html! { div #vpc hx-get=(reload_url) hx-trigger=(trigger) hx-select="#vpc" hx-swap="outerHTML" {
            div .title {
                h1 { (vpc.label.as_str()) }
                div .actions {
                    @if *may_change { a .button.main href=(format!("{vpc_url}/subnets/new")) { "Add subnet" } }
                    a .button href=(format!("/tickets/new?vpc_id={}", vpc.id)) { "Open a ticket about this" }
                    a .button href=(url_of_object("vpc", vpc.id.0)) { "Activity" }
                    @if *may_change {
                        a .button href=(format!("{vpc_url}/edit")) { "Edit" }
                        a .button.danger href=(format!("{vpc_url}/delete")) { "Delete" }
                    }
                }
            }
            (tabs(vpc.id, overview.count, ""))
            @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
            dl .facts {
                div { dt { "Region" } dd { (region_name(policy, &vpc.region.0)) } }
                @if let Some(range) = vpc.ipv6 { div { dt { "IPv6 range" } dd { code { (range) } } } }
                div { dt { "Subnets" } dd { (number(overview.count.unsigned_abs())) } }
                div { dt { "Instances" } dd { (number(overview.instances as u64)) } }
                @if let Some(subnets) = &overview.subnets {
                    @let usage = subnets.iter().fold(Usage::default(), |sum, (_, usage)| sum.and(*usage));
                    div { dt { "Addresses in use" } dd { (used_meter_with_percent(usage)) } }
                }
                div { dt { "ID" } dd { (vpc.id) } }
                div { dt { "Created" } dd { (time(vpc.created)) } }
                div { dt { "Updated" } dd { (time(vpc.updated)) } }
            }
            @if overview.count == 0 {
                @let action = may_change.then(|| format!("{vpc_url}/subnets/new"));
                @let text = "A subnet is a range of private IPv4 addresses for instances.";
                (empty_state("No subnets yet", text, action.as_deref().map(|action| ("Add subnet", action))))
            } @else {
                section aria-labelledby="map" { h2 #map { "Address map" } (self.map(&policy.forbidden_ranges)) }
                section aria-labelledby="subnets" {
                    h2 #subnets { "Subnets" }
                    @match &overview.subnets {
                        Some(subnets) if subnets.len() <= MAX_LISTED_SUBNETS => (self.subnets(subnets)),
                        _ => p { a .button href=(format!("{vpc_url}/subnets")) { "Show all " (pluralize(overview.count as usize, "subnet", "subnets")) } },
                    }
                }
                section aria-labelledby="instances" { h2 #instances { "Instances and addresses" } (self.addresses()) }
            }
        } }
    }

    fn map(&self, forbidden: &[Cidr]) -> Markup {
        let Some(subnets) = &self.overview.subnets else {
            return map::loaded_later(self.vpc.id);
        };
        let subnets = subnets.iter().map(|(subnet, usage)| (subnet, *usage));
        let new_subnet_url = self
            .may_change
            .then(|| format!("{}/subnets/new", url(self.vpc.id)));
        let blocks = address_map::blocks(subnets, subnets::url);
        address_map::vpc(&blocks, forbidden, new_subnet_url.as_deref())
    }

    fn subnets(&self, subnets: &[(Subnet, Usage)]) -> Markup {
        html! {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Range" } th scope="col" .number { "Instances" }
                    th scope="col" { "Addresses in use" } th scope="col" { "Updated" }
                    @if self.may_change { th scope="col" { span .hidden { "Actions" } } }
                } }
                tbody {
                    @for (subnet, used) in subnets {
                        @let subnet_url = subnets::url(subnet);
                        tr {
                            th scope="row" { a href=(subnet_url) { (subnet.label.as_str()) } " " span .id { (subnet.id) } }
                            td .long data-label="Range" { div { div { code { (subnet.ipv4) } } @if let Some(ipv6) = subnet.ipv6 { div { code { (ipv6) } } } } }
                            td .number data-label="Instances" { (subnets::instance_count(subnet)) }
                            td data-label="In use" { (used_meter(*used)) }
                            td data-label="Updated" { (time(subnet.updated)) }
                            @if self.may_change { td { div .actions {
                                a href=(format!("{subnet_url}/edit")) { "Edit" span .hidden { " " (subnet.label.as_str()) } }
                                a href=(format!("{subnet_url}/delete")) { "Delete" span .hidden { " " (subnet.label.as_str()) } }
                            } } }
                        }
                    }
                }
            }
        }
    }

    fn addresses(&self) -> Markup {
        let vpc_url = url(self.vpc.id);
        let Attachments { subnets, uses } = &self.attachments;
        html! {
            @if self.vpc_ips.items.is_empty() {
                (empty_state("No instances yet", "No instance is attached to these subnets. To attach one, open a subnet.", None))
            } @else {
                table .list {
                    thead { tr {
                        th scope="col" { "Instance" } th scope="col" { "Address" } th scope="col" { "Subnet" }
                        th scope="col" { "Config" } th scope="col" { "State" }
                    } }
                    tbody {
                        @for vpc_ip in &self.vpc_ips.items {
                            // A config's label often contains the instance's label, so both are hidden together.
                            @let shown_use = uses.get(&vpc_ip.interface).filter(|_| self.visible.has(vpc_ip.instance));
                            tr {
                                th scope="row" {
                                    (address_map::instance_link(vpc_ip.instance, shown_use.map(|one| one.instance_label.as_str()), true))
                                }
                                td .long data-label="Address" { div {
                                    code { @match (vpc_ip.address, vpc_ip.range) {
                                        (Some(address), _) => (write_address(address)),
                                        (None, Some(range)) => (range),
                                        (None, None) => "–",
                                    } }
                                    @if vpc_ip.range.is_some() { " " span .tag { "range" } }
                                    @else if let Some(networks) = self.networks.get(&vpc_ip.interface) { (ipv6::interface_networks(networks)) }
                                } }
                                td data-label="Subnet" { @if let Some(subnet) = subnets.get(&vpc_ip.subnet) {
                                    a href=(subnets::interface_url(subnet, vpc_ip.interface)) { (subnet.label.as_str()) }
                                } }
                                td data-label="Config" {
                                    @match shown_use {
                                        Some(subnet_use) => (subnet_use.config_label),
                                        None => span .id { (vpc_ip.config) },
                                    }
                                }
                                td data-label="State" { (active_tag(vpc_ip.active)) }
                            }
                        }
                    }
                }
                (pagination(&self.vpc_ips, &vpc_url))
                p { a .button href=(format!("{vpc_url}/addresses.csv")) download { "Export addresses as CSV" } }
            }
        }
    }
}
