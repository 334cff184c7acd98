//! The page of a VPC of an account for staff, read-only: its subnets and the addresses in use.

use std::collections::HashMap;

use axum::extract::State;
use maud::{Markup, html};

use super::account_networks::{instance_url, vpc_url, vpcs_url, written};
use super::account_summary::{LIST, name, url};
use crate::console::error_page::PageResult;
use crate::console::layout::{pagination, pagination_of, time};
use crate::console::query::Query;
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::model::id::{AccountId, InstanceId, SubnetId, VpcId};
use crate::model::page::Paged;
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::VpcIp;
use crate::rules;
use crate::rules::account_networks;
use crate::rules::addresses::{Usage, used_in_subnets};
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::web::App;
use crate::web::extract::At;

/// The parameter with the page of the subnets. That of the addresses is `page`.
const SUBNETS: &str = "subnets";

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At((account, id)): At<(AccountId, VpcId)>,
    query: Query,
) -> PageResult {
    let list = query.list_request().only(Condition::equal("vpc_id", id.0));
    let (owner, vpc, used, ips) = app
        .read(staff, move |tx, _| {
            let owner = rules::accounts::load(tx, account)?;
            let vpc = account_networks::vpc(tx, account, id)?;
            let used = used_in_subnets(tx, &vpc.subnets)?;
            Ok((owner, vpc, used, account_networks::ips(tx, account, &list)?))
        })
        .await?;
    let (account_url, list_url) = (url(account), vpcs_url(account));
    let shown = vpc.subnets.iter().zip(used).collect();
    let subnets = Paged::select(shown, query.page(SUBNETS));
    let breadcrumbs = [LIST, (name(&owner), &account_url), ("VPCs", &list_url)];
    let body = html! {
        h1 { (vpc.label.as_str()) " " span .id { (vpc.id) } }
        dl .facts {
            div { dt { "Region" } dd { (vpc.region.0) } }
            @if let Some(range) = vpc.ipv6 { div { dt { "IPv6 range" } dd { code { (range) } } } }
            div { dt { "Subnets" } dd { (vpc.subnets.len()) } }
            div { dt { "Created" } dd { (time(vpc.created)) } }
            div { dt { "Updated" } dd { (time(vpc.updated)) } }
        }
        @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
        section aria-labelledby="subnets" {
            h2 #subnets { "Subnets" }
            (subnet_table(&subnets))
            (pagination_of(&subnets, &vpc_url(account, id), SUBNETS, "Pages of subnets"))
        }
        section aria-labelledby="addresses" {
            h2 #addresses { "IPv4 addresses in use" }
            (address_table(account, &vpc, &ips))
            (pagination(&ips, &vpc_url(account, id)))
        }
    };
    Ok(visit.page(vpc.label.as_str(), &breadcrumbs, &body))
}

fn subnet_table(subnets: &Paged<(&Subnet, Usage)>) -> Markup {
    html! {
        @if subnets.items.is_empty() { p .quiet { "None" } } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Subnet" } th scope="col" { "Range" } th scope="col" { "IPv6 range" } th scope="col" { "Addresses in use" }
                } }
                tbody { @for (subnet, used) in &subnets.items {
                    tr {
                        th scope="row" { (subnet.label.as_str()) " " span .id { (subnet.id) } }
                        td data-label="Range" { code { (subnet.ipv4) } }
                        td data-label="IPv6 range" { @match subnet.ipv6 { Some(range) => code { (range) }, None => span .quiet { "–" } } }
                        td data-label="In use" { (used_meter(*used)) }
                    }
                } }
            }
        }
    }
}

fn address_table(account: AccountId, vpc: &Vpc, ips: &Paged<VpcIp>) -> Markup {
    let subnets: HashMap<SubnetId, &str> = vpc
        .subnets
        .iter()
        .map(|subnet| (subnet.id, subnet.label.as_str()))
        .collect();
    let uses = vpc.subnets.iter().flat_map(|subnet| &subnet.uses);
    let instances: HashMap<InstanceId, &str> = uses
        .map(|subnet_use| (subnet_use.instance, subnet_use.instance_label.as_str()))
        .collect();
    html! {
        @if ips.items.is_empty() { p .quiet { "None" } } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Address" } th scope="col" { "Subnet" } th scope="col" { "Instance" } th scope="col" { "State" }
                } }
                tbody { @for ip in &ips.items {
                    tr {
                        th scope="row" { code { (written(ip)) } @if ip.address.is_none() { " " span .tag { "routed" } } }
                        td data-label="Subnet" { (subnets.get(&ip.subnet).copied().unwrap_or_default()) }
                        td data-label="Instance" {
                            a href=(instance_url(account, ip.instance)) { (instances.get(&ip.instance).copied().unwrap_or("instance")) }
                            " " span .id { (ip.instance) }
                        }
                        td data-label="State" { @if ip.active { "Active" } @else { span .quiet { "Inactive" } } }
                    }
                } }
            }
        }
    }
}
