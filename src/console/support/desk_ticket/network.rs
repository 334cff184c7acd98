//! The VPCs that a ticket is about, for staff. Staff cannot open the pages of an account, so all links lead
//! to pages of the desk.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::address_map::{self, Block, MAX_MAPPED_SUBNETS};
use crate::console::desk::{QUEUE, url};
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::layout::{number, pagination, time};
use crate::console::query::Query;
use crate::console::subnets;
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::id::{SubnetId, TicketId};
use crate::model::interface::{Interface, write_address};
use crate::model::page::{Page, Paged};
use crate::model::subnet::Subnet;
use crate::model::ticket::Ticket;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::agent::Staff;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

/// A VPC, the usage of its subnets, and the interfaces that attach the ticket's instance to it.
struct Network {
    vpc: Vpc,
    used: Vec<Usage>,
    interfaces: Vec<Interface>,
}

/// The VPCs that the pages of a ticket show, and the number of VPCs that they omit.
pub struct Networks {
    shown: Vec<Network>,
    omitted: usize,
}

pub fn load(tx: &mut ReadTx, ticket: &Ticket) -> rules::Result<Networks> {
    let interfaces = rules::ticket_network::interfaces(tx, ticket)?;
    let mut shown = Vec::new();
    let (vpcs, omitted) = rules::ticket_network::vpcs(tx, ticket)?;
    for vpc in vpcs {
        let used = addresses::used_in_subnets(tx, &vpc.subnets)?;
        let is_in_vpc = |interface: &&Interface| {
            interface
                .vpc
                .as_ref()
                .is_some_and(|attached| attached.vpc == vpc.id)
        };
        let interfaces = interfaces.iter().filter(is_in_vpc).cloned().collect();
        shown.push(Network {
            vpc,
            used,
            interfaces,
        });
    }
    Ok(Networks { shown, omitted })
}

fn vpc_url(ticket: TicketId) -> String {
    format!("{}/vpc", url(ticket))
}

fn subnet_url(ticket: TicketId, subnet: SubnetId) -> String {
    format!("{}/subnets/{subnet}", vpc_url(ticket))
}

fn row_id(subnet: SubnetId) -> String {
    format!("subnet-{subnet}")
}

/// The page with the VPCs of a ticket. Of a VPC with many subnets, it shows one page of them.
pub async fn page(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> PageResult {
    let networks = app
        .read(staff, move |tx, _| {
            let ticket = rules::desk::view(tx, id)?.ticket;
            load(tx, &ticket)
        })
        .await?;
    let title = match &networks.shown[..] {
        [] => return Err(ErrorPage::not_found()),
        [network] => network.vpc.label.as_str(),
        _ => "VPCs of the instance",
    };
    let policy = app.store().policy();
    let forbidden = &policy.forbidden_ranges;
    let ticket = format!("Ticket {id}");
    let breadcrumbs = [QUEUE, (ticket.as_str(), &url(id))];
    let body = html! {
        @for network in &networks.shown { (network.details(id, forbidden, query.page("page"))) }
        (networks.omission())
    };
    Ok(visit.page(title, &breadcrumbs, &body))
}

/// The page of a subnet in one of the ticket's VPCs.
pub async fn subnet(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At((ticket, id)): At<(TicketId, SubnetId)>,
    query: Query,
) -> PageResult {
    let windows = subnets::windows(&query)?;
    let (map, usage) = app
        .read(staff, move |tx, _| {
            let subject = rules::desk::view(tx, ticket)?.ticket;
            let map = rules::address_map::view_for_staff(tx, &subject, id, windows)?;
            let usage = addresses::used_in_subnets(tx, std::slice::from_ref(&map.subnet))?;
            Ok((map, usage[0]))
        })
        .await?;
    let (label, vpc) = (format!("Ticket {ticket}"), map.vpc.label.as_str());
    let breadcrumbs = [QUEUE, (label.as_str(), &url(ticket)), (vpc, &vpc_url(ticket))];
    let body = subnets::render(&map, usage, &subnet_url(ticket, id), None);
    Ok(visit.page(map.subnet.label.as_str(), &breadcrumbs, &body))
}

impl Networks {
    /// The summaries in the sidebar of the ticket.
    pub fn summary(&self, ticket: TicketId, forbidden: &[Cidr]) -> Markup {
        html! {
            @for network in &self.shown { (network.summary(ticket, forbidden)) }
            (self.omission())
        }
    }

    fn omission(&self) -> Markup {
        html! { @if self.omitted > 0 { p .hint { "Older VPCs of the instance, not shown: " (self.omitted) } } }
    }
}

impl Network {
    /// The summary in the sidebar of the ticket.
    fn summary(&self, ticket: TicketId, forbidden: &[Cidr]) -> Markup {
        let details_url = vpc_url(ticket);
        html! {
            @for interface in &self.interfaces { (self.interface_address(interface, ticket)) }
            details {
                summary { "Addresses in VPC " (self.vpc.label.as_str()) }
                @match self.blocks(ticket) {
                    Some(blocks) => (address_map::compact(&blocks, forbidden)),
                    None => (address_map::dense(&self.ranges(), forbidden, None)),
                }
            }
            p { a href=(details_url) { "View subnets and instances" } }
        }
    }

    /// The blocks of the map. `None` for a VPC with many subnets.
    fn blocks(&self, ticket: TicketId) -> Option<Vec<Block<'_>>> {
        if self.vpc.subnets.len() as i64 > MAX_MAPPED_SUBNETS {
            return None;
        }
        let subnets = self.vpc.subnets.iter().zip(self.used.iter().copied());
        Some(address_map::blocks(subnets, |subnet| {
            subnet_url(ticket, subnet.id)
        }))
    }

    /// The addresses of an interface.
    fn interface_address(&self, interface: &Interface, ticket: TicketId) -> Markup {
        let attachment = interface.vpc.as_ref();
        let subnet = attachment.and_then(|attachment| {
            let mut subnets = self.vpc.subnets.iter();
            subnets.find(|subnet| subnet.id == attachment.subnet)
        });
        html! {
            @if let (Some(attachment), Some(subnet)) = (attachment, subnet) {
                @let url = subnets::interface_url_at(&subnet_url(ticket, subnet.id), subnet, interface.id);
                p .small {
                    a href=(url) { code { (write_address(attachment.address)) } } " in subnet " (subnet.label.as_str()) " " code { (subnet.ipv4) }
                    @for range in &attachment.ranges { ", routed " code { (range) } }
                    @if let Some(public) = attachment.nat_1_1 { ", 1:1 NAT " code { (write_address(public)) } }
                    @if !interface.active { " " span .quiet { "(inactive)" } }
                }
            }
        }
    }

    fn details(&self, ticket: TicketId, forbidden: &[Cidr], page: Page) -> Markup {
        let vpc = &self.vpc;
        let subnets = Paged::select(vpc.subnets.iter().zip(self.used.iter().copied()).collect(), page);
        html! {
            h1 { (vpc.label.as_str()) " " span .id { (vpc.id) } }
            dl .facts {
                div { dt { "Region" } dd { (vpc.region.0) } }
                div { dt { "Subnets" } dd { (vpc.subnets.len()) } }
                div { dt { "Created" } dd { (time(vpc.created)) } }
                div { dt { "Updated" } dd { (time(vpc.updated)) } }
            }
            @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
            @if vpc.subnets.is_empty() { p .quiet { "No subnets yet" } } @else {
                section aria-label="Address map" { @match self.blocks(ticket) {
                    Some(blocks) => (address_map::vpc(&blocks, forbidden, None)),
                    None => (address_map::dense(&self.ranges(), forbidden, None)),
                } }
                section aria-labelledby=(format!("subnets-{}", vpc.id)) {
                    h2 #(format!("subnets-{}", vpc.id)) { "Subnets" }
                    (table(&subnets, ticket))
                    (pagination(&subnets, &vpc_url(ticket)))
                }
            }
        }
    }

    fn ranges(&self) -> Vec<Cidr> {
        self.vpc.subnets.iter().map(|subnet| subnet.ipv4).collect()
    }
}

fn table(subnets: &Paged<(&Subnet, Usage)>, ticket: TicketId) -> Markup {
    html! {
        table .list {
            thead { tr { th scope="col" { "Subnet" } th scope="col" { "Range" } th scope="col" { "Addresses in use" } th scope="col" { "Instances" } } }
            tbody {
                @for (subnet, used) in &subnets.items {
                    tr #(row_id(subnet.id)) {
                        th scope="row" { a href=(subnet_url(ticket, subnet.id)) { (subnet.label.as_str()) } " " span .id { (subnet.id) } }
                        td data-label="Range" { code { (subnet.ipv4) } }
                        td data-label="In use" { (used_meter(*used)) }
                        td data-label="Instances" { (instances(subnet)) }
                    }
                }
            }
        }
    }
}

/// The instances of a subnet. Of many, the first ones; the page of the subnet shows all.
fn instances(subnet: &Subnet) -> Markup {
    const MAX_SHOWN: usize = 20;
    html! {
        span {
            @if subnet.uses.is_empty() { span .quiet { "–" } }
            @for (at, subnet_use) in subnet.uses.iter().take(MAX_SHOWN).enumerate() {
                @if at > 0 { ", " }
                (subnet_use.instance_label) " " span .id { (subnet_use.instance) } @if !subnet_use.active { " " span .quiet { "(inactive interface)" } }
            }
            @if subnet.uses.len() > MAX_SHOWN { " and " (number((subnet.uses.len() - MAX_SHOWN) as u64)) " more" }
        }
    }
}
