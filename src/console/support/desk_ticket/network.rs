//! The VPCs that a ticket is about, as staff see them, down to single addresses. Staff cannot open an account's own pages,
//! so all links stay here.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::address_map::{self, Block};
use crate::console::desk::{QUEUE, address};
use crate::console::error_page::{Answer, ErrorPage};
use crate::console::layout::time;
use crate::console::query::Query;
use crate::console::subnets;
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::id::{SubnetId, TicketId};
use crate::model::interface::{Interface, write_address};
use crate::model::ticket::Ticket;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::agent::Staff;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

/// A VPC, how full its subnets are, and what the ticket's instance has of it.
pub struct Network {
    vpc: Vpc,
    used: Vec<Usage>,
    own: Vec<Interface>,
}

pub fn of(tx: &mut ReadTx, ticket: &Ticket) -> rules::Result<Vec<Network>> {
    let interfaces = rules::desk::interfaces(tx, ticket)?;
    let mut networks = Vec::new();
    for vpc in rules::desk::vpcs(tx, ticket)? {
        let used = addresses::used_in_subnets(tx, &vpc.subnets)?;
        let here = |one: &&Interface| one.vpc.as_ref().is_some_and(|attached| attached.vpc == vpc.id);
        let own = interfaces.iter().filter(here).cloned().collect();
        networks.push(Network { vpc, used, own });
    }
    Ok(networks)
}

fn page_of(ticket: TicketId) -> String {
    format!("{}/vpc", address(ticket))
}

fn page_of_subnet(ticket: TicketId, subnet: SubnetId) -> String {
    format!("{}/subnets/{subnet}", page_of(ticket))
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
        [] => return Err(ErrorPage::not_found()),
        [network] => network.vpc.label.as_str(),
        _ => "VPCs of the instance",
    };
    let forbidden = &app.store().context().policy.forbidden_ranges;
    let ticket = format!("Ticket {id}");
    let way = [QUEUE, (ticket.as_str(), &address(id))];
    let body = html! { @for network in &networks { (network.whole(id, forbidden)) } };
    Ok(visit.page(title, &way, &body))
}

/// A subnet of them, down to single addresses.
pub async fn subnet(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At((ticket, id)): At<(TicketId, SubnetId)>,
    query: Query,
) -> Answer {
    let window = subnets::window(&query)?;
    let (shown, usage) = app
        .read(staff, move |tx, _| {
            let about = rules::desk::view(tx, ticket)?.ticket;
            let shown = rules::address_map::view_for_staff(tx, &about, id, window)?;
            let usage = addresses::used_in_subnets(tx, std::slice::from_ref(&shown.subnet))?;
            Ok((shown, usage[0]))
        })
        .await?;
    let (label, vpc) = (format!("Ticket {ticket}"), shown.vpc.label.as_str());
    let way = [QUEUE, (label.as_str(), &address(ticket)), (vpc, &page_of(ticket))];
    let body = subnets::draw(&shown, usage, &page_of_subnet(ticket, id), false);
    Ok(visit.page(shown.subnet.label.as_str(), &way, &body))
}

impl Network {
    /// In the narrow room beside the thread.
    pub fn beside(&self, ticket: TicketId, forbidden: &[Cidr]) -> Markup {
        let there = page_of(ticket);
        let blocks = self.blocks(ticket);
        html! {
            @for own in &self.own { (self.address_of(own, ticket)) }
            h3 { "Addresses of " (self.vpc.label.as_str()) }
            (address_map::beside(&blocks, forbidden))
            p { a href=(there) { "Its subnets and what is on them" } }
        }
    }

    fn blocks(&self, ticket: TicketId) -> Vec<Block<'_>> {
        address_map::blocks(&self.vpc, &self.used, |subnet| page_of_subnet(ticket, subnet.id))
    }

    /// An address that the ticket's instance has.
    fn address_of(&self, own: &Interface, ticket: TicketId) -> Markup {
        let attached = own.vpc.as_ref();
        let subnet = attached.and_then(|at| self.vpc.subnets.iter().find(|subnet| subnet.id == at.subnet));
        html! {
            @if let (Some(at), Some(subnet)) = (attached, subnet) {
                @let place = subnets::place_at(&page_of_subnet(ticket, subnet.id), subnet, own.id);
                p .small {
                    a href=(place) { code { (write_address(at.address)) } } " in " (subnet.label.as_str()) " " code { (subnet.ipv4) }
                    @for range in &at.ranges { ", routed " code { (range) } }
                    @if let Some(public) = at.nat_1_1 { ", from outside " code { (write_address(public)) } }
                    @if !own.active { " " span .quiet { "(not active)" } }
                }
            }
        }
    }

    fn whole(&self, ticket: TicketId, forbidden: &[Cidr]) -> Markup {
        let vpc = &self.vpc;
        let blocks = self.blocks(ticket);
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
                section aria-labelledby=(format!("subnets-{}", vpc.id)) { h2 #(format!("subnets-{}", vpc.id)) { "Subnets" } (self.table(ticket)) }
            }
        }
    }

    fn table(&self, ticket: TicketId) -> Markup {
        html! {
            table .list {
                thead { tr { th scope="col" { "Subnet" } th scope="col" { "Range" } th scope="col" { "Addresses in use" } th scope="col" { "Instances" } } }
                tbody {
                    @for (subnet, used) in self.vpc.subnets.iter().zip(&self.used) {
                        tr #(row_of(subnet.id)) {
                            th scope="row" { a href=(page_of_subnet(ticket, subnet.id)) { (subnet.label.as_str()) } " " span .id { (subnet.id) } }
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
