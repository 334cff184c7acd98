//! The VPCs that a ticket is about, as staff see them. Staff cannot open an account's own pages, so all links stay here.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::address_map;
use crate::console::desk::{QUEUE, address};
use crate::console::layout::time;
use crate::console::session::{Answer, Visit, Wrong};
use crate::console::usage::used_meter;
use crate::http::App;
use crate::http::extract::At;
use crate::model::cidr::Cidr;
use crate::model::id::{SubnetId, TicketId};
use crate::model::ticket::Ticket;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::agent::Staff;
use crate::store::ReadTx;

/// A VPC, and how full its subnets are.
pub struct Network {
    vpc: Vpc,
    used: Vec<Usage>,
}

pub fn of(tx: &mut ReadTx, ticket: &Ticket) -> rules::Result<Vec<Network>> {
    let mut networks = Vec::new();
    for vpc in rules::desk::vpcs(tx, ticket)? {
        let used = addresses::used_in_subnets(tx, &vpc.subnets)?;
        networks.push(Network { vpc, used });
    }
    Ok(networks)
}

fn page_of(ticket: TicketId) -> String {
    format!("{}/vpc", address(ticket))
}

fn row_of(subnet: SubnetId) -> String {
    format!("subnet-{subnet}")
}

/// The page with all there is to know about them.
pub async fn page(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<TicketId>) -> Answer {
    let networks = app
        .read(staff, move |tx, _| {
            let ticket = rules::desk::view(tx, id)?.ticket;
            of(tx, &ticket)
        })
        .await?;
    let title = match &networks[..] {
        [] => return Err(Wrong::not_found()),
        [network] => network.vpc.label.as_str(),
        _ => "VPCs of the instance",
    };
    let forbidden = &app.store().world().policy.forbidden_ranges;
    let ticket = format!("Ticket {id}");
    let way = [QUEUE, (ticket.as_str(), &address(id))];
    let body = html! { @for network in &networks { (network.whole(forbidden)) } };
    Ok(visit.page(title, &way, &body))
}

impl Network {
    /// In the narrow room beside the thread.
    pub fn beside(&self, ticket: TicketId, forbidden: &[Cidr]) -> Markup {
        let there = page_of(ticket);
        let blocks = address_map::blocks(&self.vpc, &self.used, |subnet| {
            format!("{there}#{}", row_of(subnet.id))
        });
        html! {
            h3 { "Addresses of " (self.vpc.label.as_str()) }
            (address_map::beside(&blocks, forbidden))
            p { a href=(there) { "Its subnets and what is on them" } }
        }
    }

    fn whole(&self, forbidden: &[Cidr]) -> Markup {
        let vpc = &self.vpc;
        let blocks = address_map::blocks(vpc, &self.used, |subnet| format!("#{}", row_of(subnet.id)));
        html! {
            h1 { (vpc.label.as_str()) " " span .id { (vpc.id) } }
            dl .facts {
                div { dt { "Region" } dd { (vpc.region.0) } }
                div { dt { "Subnets" } dd { (vpc.subnets.len()) } }
                div { dt { "Created" } dd { (time(vpc.created)) } }
                div { dt { "Changed" } dd { (time(vpc.updated)) } }
            }
            @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
            @if vpc.subnets.is_empty() { p .quiet { "It has no subnets." } } @else {
                section aria-label="Address map" { (address_map::vpc(&blocks, forbidden)) }
                section aria-labelledby=(format!("subnets-{}", vpc.id)) { h2 #(format!("subnets-{}", vpc.id)) { "Subnets" } (self.table()) }
            }
        }
    }

    fn table(&self) -> Markup {
        html! {
            table .list {
                thead { tr { th scope="col" { "Subnet" } th scope="col" { "Range" } th scope="col" { "Addresses in use" } th scope="col" { "Instances" } } }
                tbody {
                    @for (subnet, used) in self.vpc.subnets.iter().zip(&self.used) {
                        tr #(row_of(subnet.id)) {
                            th scope="row" { (subnet.label.as_str()) " " span .id { (subnet.id) } }
                            td data-label="Range" { code { (subnet.ipv4) } }
                            td data-label="In use" { (used_meter(*used)) }
                            td data-label="Instances" { span {
                                @if subnet.uses.is_empty() { span .quiet { "–" } }
                                @for (at, found) in subnet.uses.iter().enumerate() {
                                    @if at > 0 { ", " }
                                    (found.instance_label) " " span .id { (found.instance) } @if !found.active { " " span .quiet { "(not active)" } }
                                }
                            } }
                        }
                    }
                }
            }
        }
    }
}
