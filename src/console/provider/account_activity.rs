//! The activity of an account for staff, as its users see it, but with the members of staff who made a change.

use std::collections::HashSet;

use axum::extract::State;
use maud::{Markup, html};

use super::account_networks::{entity_url, vpc_url};
use super::account_summary::{LIST, name, url};
use crate::console::account::event_filter::EventFilter;
use crate::console::account::event_sentence::sentence_with;
use crate::console::account::events::days_with;
use crate::console::desk;
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, pagination, pluralize};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::entity::{Entity, EntityKind};
use crate::model::event::Event;
use crate::model::id::{AccountId, EventId, TicketId};
use crate::model::page::Paged;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::events::Existing;
use crate::web::App;
use crate::web::extract::At;

pub fn activity_url(account: AccountId) -> String {
    format!("{}/activity", url(account))
}

pub async fn list(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<AccountId>,
    query: Query,
) -> PageResult {
    let filter = EventFilter::at(&activity_url(id), &query);
    let list_request = filter.list_request();
    let (account, found, existing) = app
        .read(staff, move |tx, _| {
            let account = rules::accounts::load(tx, id)?;
            let found = rules::account_events::list(tx, id, &list_request)?;
            let existing = rules::events::existing_in(tx, id, &found.events.items)?;
            Ok((account, found, existing))
        })
        .await?;
    let events = &found.events;
    let body = html! {
        h1 { "Activity of " (name(&account)) }
        @if events.results > 0 || !filter.is_empty() { (filter.form(&events.items)) }
        div #list { (event_list(id, events, &found.by_staff, &existing, &filter)) }
    };
    let breadcrumbs = [LIST, (name(&account), &url(id))];
    Ok(visit.page("Activity", &breadcrumbs, &body))
}

fn event_list(
    account: AccountId,
    events: &Paged<Event>,
    by_staff: &HashSet<EventId>,
    existing: &Existing,
    filter: &EventFilter,
) -> Markup {
    let list_url = filter.url();
    let link = |entity: &Entity| page_url(account, entity).filter(|_| existing.has(entity));
    let sentence = |event: &Event| sentence_with(event, link, by_staff.contains(&event.id));
    html! {
        @if events.items.is_empty() && events.results > 0 {
            (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &list_url))))
        } @else if events.items.is_empty() && filter.is_empty() {
            (empty_state("No activity yet", "Changes by the users of the account, by staff and by the server appear here.", None))
        } @else if events.items.is_empty() {
            (empty_state("No results", "No events match the filter.", Some(("Clear filter", &activity_url(account)))))
        } @else {
            p .count role="status" { (pluralize(events.results as usize, "event", "events")) }
            (days_with(&events.items, sentence, |_| false))
            (pagination(events, &list_url))
        }
    }
}

/// The page of an object that staff can open. The page of a subnet is the page of its VPC.
fn page_url(account: AccountId, entity: &Entity) -> Option<String> {
    match entity.kind {
        EntityKind::Subnet(vpc) => Some(vpc_url(account, vpc)),
        EntityKind::Ticket => Some(desk::url(TicketId(entity.id))),
        _ => entity_url(account, entity),
    }
}
