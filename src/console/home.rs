//! The first page for tenants: VPCs with their usage, instances by status, open tickets, and recent activity. Each
//! number leads to the list that it counts.

use axum::extract::State;
use maud::{Markup, html};

use super::account::events;
use super::error_page::PageResult;
use super::layout::{empty_state, number, time};
use super::status_bar::{Segment, status_bar};
use super::usage::used_meter;
use super::visit::Visit;
use super::{tickets, vpcs};
use crate::model::event::Event;
use crate::model::grant::Global;
use crate::model::instance::Status;
use crate::model::page::Paged;
use crate::model::ticket::{Side, Ticket};
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::events::Existing;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;

/// The number of VPCs, tickets of each side, and events on the page.
const MAX_LISTED: i64 = 5;
const MAX_EVENTS: i64 = 8;

struct Overview {
    vpcs: Paged<Vpc>,
    used: Vec<Usage>,
    /// Whether the user may create VPCs.
    may_add: bool,
    instances: Vec<(Status, i64)>,
    /// The open tickets that wait for the account, and those that wait for the provider.
    tickets: [Paged<Ticket>; 2],
    events: Vec<Event>,
    existing: Existing,
}

impl Overview {
    fn load(tx: &mut ReadTx, caller: &Caller) -> rules::Result<Self> {
        let recent = ListRequest::first(MAX_LISTED).sorted("updated", true);
        let vpcs = rules::vpcs::list(tx, caller, &recent)?;
        let used = addresses::used_in_vpcs(tx, &vpcs.items)?;
        let waiting_for =
            |tx: &mut ReadTx, side| rules::tickets::search_waiting_for(tx, caller, &recent, "", Some(side));
        let events = rules::events::list(tx, caller, &ListRequest::first(MAX_EVENTS))?.items;
        Ok(Self {
            used,
            may_add: caller.require_global_grant(Global::AddVpcs).is_ok(),
            instances: rules::instances::count_by_status(tx, caller)?,
            tickets: [waiting_for(tx, Side::Customer)?, waiting_for(tx, Side::Provider)?],
            existing: rules::events::existing(tx, caller, &events)?,
            events,
            vpcs,
        })
    }
}

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    let overview = app.read(caller, Overview::load).await?;
    let policy = app.store().policy();
    let provider = &policy.support.provider;
    let body = html! {
        h1 { "Home" }
        div #overview hx-get="/home" hx-trigger="garth:event from:body" hx-select="#overview" hx-swap="outerHTML" {
            div .two-columns {
                (vpc_section(&overview.vpcs, &overview.used, overview.may_add))
                (instance_section(&overview.instances))
                (ticket_section(&overview.tickets, provider))
                (event_section(&visit, &overview.events, &overview.existing))
            }
        }
    };
    Ok(visit.page("Home", &[], &body))
}

/// The heading of a section, with the number of its objects and a link to their list.
fn heading(id: &str, title: &str, count: i64, url: &str) -> Markup {
    html! { h2 #(id) { a href=(url) { (title) " " span .badge { (number(count.unsigned_abs())) } } } }
}

fn vpc_section(vpcs: &Paged<Vpc>, used: &[Usage], may_add: bool) -> Markup {
    html! {
        section aria-labelledby="vpcs" {
            (heading("vpcs", "VPCs", vpcs.results, vpcs::LIST.1))
            @if vpcs.items.is_empty() {
                p .quiet { "No VPCs." }
                @if may_add { p { a .button.main href="/vpcs/new" { "Create VPC" } } }
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Recently updated" } th scope="col" { "Addresses in use" } } }
                    tbody {
                        @for (vpc, used) in vpcs.items.iter().zip(used) {
                            tr {
                                th scope="row" { a href=(vpcs::url(vpc.id)) { (vpc.label.as_str()) } }
                                td data-label="In use" { (used_meter(*used)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn instance_section(counts: &[(Status, i64)]) -> Markup {
    let total = counts.iter().map(|(_, count)| count).sum();
    let segment = |(status, count): &(Status, i64)| Segment {
        label: status.word().replace('_', " "),
        url: format!("/instances?status={}", status.word()),
        count: *count,
        class: match status {
            Status::Running => "some",
            Status::Offline => "none",
            _ => "much",
        },
    };
    let segments: Vec<_> = counts.iter().map(segment).collect();
    html! {
        section aria-labelledby="instances" {
            (heading("instances", "Instances", total, "/instances"))
            @if total == 0 { p .quiet { "No instances." } } @else { (status_bar(&segments)) }
        }
    }
}

fn ticket_section([ours, theirs]: &[Paged<Ticket>; 2], provider: &str) -> Markup {
    html! {
        section aria-labelledby="tickets" {
            (heading("tickets", "Open tickets", ours.results + theirs.results, tickets::LIST.1))
            @if ours.results + theirs.results == 0 { p .quiet { "No open tickets." } }
            (waiting("Waiting for you", "us", ours))
            (waiting(&format!("Waiting for {provider}"), "provider", theirs))
        }
    }
}

fn waiting(title: &str, side: &str, tickets: &Paged<Ticket>) -> Markup {
    html! {
        @if tickets.results > 0 {
            h3 { a href=(format!("{}?waiting_for={side}", tickets::LIST.1)) { (title) " " span .badge { (number(tickets.results.unsigned_abs())) } } }
            ul .entries {
                @for ticket in &tickets.items {
                    li { a href=(tickets::url(ticket.id)) { (ticket.summary.as_str()) } " " (time(ticket.updated)) }
                }
            }
        }
    }
}

fn event_section(visit: &Visit, events: &[Event], existing: &Existing) -> Markup {
    html! {
        section aria-labelledby="activity" {
            h2 #activity { a href="/events" { "Recent activity" } }
            @if events.is_empty() { (empty_state("No activity yet", "Changes in your account appear here.", None)) }
            (events::days(visit, events, existing))
        }
    }
}
