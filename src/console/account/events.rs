//! The activity page: the events of the account by day, with a filter.

use axum::extract::State;
use maud::{Markup, html};

use super::event_changes;
use super::event_filter::{EVENTS_URL, EventFilter};
use super::event_sentence::sentence;
use crate::console::error_page::PageResult;
use crate::console::forms::FormData;
use crate::console::layout::{clock, empty_state, page_url, pagination, pluralize, redirect_with_notice};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::event::Event;
use crate::model::id::EventId;
use crate::model::page::Paged;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::events::Existing;
use crate::web::App;

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let filter = EventFilter::read(&query);
    let list_request = filter.list_request();
    let (events, existing) = app
        .read(caller, move |tx, caller| {
            let events = rules::events::list(tx, caller, &list_request)?;
            let existing = rules::events::existing(tx, caller, &events.items)?;
            Ok((events, existing))
        })
        .await?;
    // With a filter, the first event is not the newest one.
    let newest = events
        .items
        .first()
        .filter(|event| !event.seen && events.page.number == 1 && filter.is_empty());
    let body = html! {
        div .title {
            h1 { "Activity" }
            @if let Some(newest) = newest {
                form method="post" novalidate action=(EVENTS_URL) {
                    (visit.form_token())
                    input type="hidden" name="id" value=(newest.id);
                    button type="submit" { "Mark all as seen" }
                }
            }
        }
        @if events.results > 0 || !filter.is_empty() { (filter.form(&events.items)) }
        (event_list(&visit, &events, &existing, &filter))
    };
    Ok(visit.page("Activity", &[], &body))
}

pub async fn mark_seen(State(app): State<App>, caller: Caller, data: FormData) -> PageResult {
    let id = EventId(data.text("id").parse().unwrap_or(0));
    let request = data.request(Vec::new());
    app.write(caller, move |tx, caller| {
        rules::events::mark_seen(tx, caller, id, &request)
    })
    .await?;
    Ok(redirect_with_notice(EVENTS_URL, "events-seen"))
}

fn event_list(visit: &Visit, events: &Paged<Event>, existing: &Existing, filter: &EventFilter) -> Markup {
    let list_url = filter.url();
    let reload_url = page_url(&list_url, events.page.number);
    html! {
        div #list hx-get=(reload_url) hx-trigger="garth:event from:body" hx-select="#list" hx-swap="outerHTML" {
            @if events.items.is_empty() && events.results > 0 {
                (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &list_url))))
            } @else if events.items.is_empty() && filter.is_empty() {
                (empty_state("No activity yet", "Changes by the users of your account and replies from your provider appear here.", None))
            } @else if events.items.is_empty() {
                (empty_state("No results", "No events match the filter.", Some(("Clear filter", EVENTS_URL))))
            } @else {
                p .count role="status" { (pluralize(events.results as usize, "event", "events")) }
                (days(visit, &events.items, existing))
                (pagination(events, &list_url))
            }
        }
    }
}

/// The events by day, each day with a heading. Days and times are in UTC. The console's script converts both. Unseen
/// events of other users are marked, as in the number of the bell.
pub fn days(visit: &Visit, events: &[Event], existing: &Existing) -> Markup {
    let is_new = |event: &Event| !event.seen && event.username.as_ref() != Some(&visit.username);
    days_with(events, |event| sentence(event, existing), is_new)
}

/// The events by day, with a sentence for each event.
pub fn days_with(
    events: &[Event],
    sentence: impl Fn(&Event) -> Markup,
    is_new: impl Fn(&Event) -> bool,
) -> Markup {
    html! {
        @for day in events.chunk_by(|earlier, later| earlier.created.date() == later.created.date()) {
            section .day {
                @if let Some(first) = day.first() { h2 { (first.created.long_date()) } }
                ol .events {
                    @for event in day {
                        li .unread[is_new(event)] {
                            span { (sentence(event)) @if is_new(event) { " " span .tag.on { "new" } } }
                            (clock(event.created))
                            (event_changes::list(&event.changes))
                        }
                    }
                }
            }
        }
    }
}
