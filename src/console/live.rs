//! Server-sent events that notify open pages of changes.
//!
//! A message names only the changed resource. The page then reloads the affected part, so the usual
//! permission checks apply. The ID of a message is its position in the stream. A browser that reconnects
//! sends the last ID and receives the messages that it missed.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse;

use super::error_page::PageResult;
use super::query::Query;
use crate::model::event::Event;
use crate::model::id::{EventId, TicketId};
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::desk_version::DeskVersion;
use crate::rules::events::Position;
use crate::rules::{self, Result};
use crate::store::notifier::Topic;
use crate::web::App;
use crate::web::event_stream::{Source, Subscription, follow};

/// The delay after which a browser reconnects.
const RECONNECT_DELAY: Duration = Duration::from_secs(2);
/// The number of events per read.
const EVENTS_PER_READ: i64 = 100;

/// The URL of a tenant's event stream, which starts after the event `last`.
pub fn events_url(last: EventId) -> String {
    format!("/live?after={last}")
}

/// The URL of the desk's change stream, which starts after `version`. If a ticket is watched, the stream
/// includes the changes to that ticket.
pub fn desk_url(version: &DeskVersion, watched: Option<TicketId>) -> String {
    let after = format_version(version);
    match watched {
        None => format!("/desk/live?after={after}"),
        Some(ticket) => format!("/desk/live?after={after}&ticket={ticket}"),
    }
}

/// The stream of the account's events. A message has the kind and the ID of the event's entity.
pub async fn events(State(app): State<App>, caller: Caller, query: Query, headers: HeaderMap) -> PageResult {
    // Subscribe before reading, so that no event is missed.
    let subscription = Subscription::new(&app, Topic::Account(caller.account));
    let last = match last_message_id(&headers, &query).parse() {
        Ok(last) => EventId(last),
        Err(_) => app.read(caller.clone(), rules::events::newest_id).await?,
    };
    let source = AccountEvents {
        caller,
        position: Position::after(last),
    };
    Ok(follow(subscription, source, Some(first_message())))
}

/// The stream of changes to the queue. With `?ticket=`, it includes changes to that ticket, and the user is
/// registered as a viewer of the ticket.
pub async fn desk(State(app): State<App>, staff: Staff, query: Query, headers: HeaderMap) -> PageResult {
    let subscription = Subscription::new(&app, Topic::Desk);
    let watched = query.text("ticket").parse().ok().map(TicketId);
    let viewer = match watched {
        None => None,
        Some(ticket) => {
            let registration = app.write(staff.clone(), move |tx, staff| {
                rules::viewers::register(tx, &staff.agent, ticket)
            });
            let tab = registration.await?;
            Some(Viewer { app, ticket, tab })
        }
    };
    let version = parse_version(&last_message_id(&headers, &query));
    let source = DeskSource {
        staff,
        version,
        viewer,
    };
    Ok(follow(subscription, source, Some(first_message())))
}

/// The ID of the last message that the browser has received, or the position in the URL.
fn last_message_id(headers: &HeaderMap, query: &Query) -> String {
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok());
    last.unwrap_or(query.text("after")).to_owned()
}

/// The first message, which sets the browser's reconnect delay.
fn first_message() -> sse::Event {
    sse::Event::default().retry(RECONNECT_DELAY).comment("here")
}

/// Reads the events of an account for one open page, after a position.
struct AccountEvents {
    caller: Caller,
    position: Position,
}

impl Source for AccountEvents {
    async fn next(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        let position = self.position;
        let (events, position) = app
            .read(self.caller.clone(), move |tx, caller| {
                rules::events::next(tx, caller, position, EVENTS_PER_READ)
            })
            .await?;
        self.position = position;
        Ok((
            events.iter().map(change_message).collect(),
            events.len() as i64 == EVENTS_PER_READ,
        ))
    }
}

fn change_message(event: &Event) -> sse::Event {
    let entity = event.entity.as_ref();
    let data = entity.map_or("account 0".to_owned(), |entity| {
        format!("{} {}", entity.kind.word(), entity.id)
    });
    sse::Event::default()
        .event("change")
        .id(event.id.to_string())
        .data(data)
}

/// The changes at the desk since a version.
struct DeskSource {
    staff: Staff,
    version: DeskVersion,
    viewer: Option<Viewer>,
}

impl Source for DeskSource {
    async fn next(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        let watched = self.viewer.as_ref().map(|viewer| viewer.ticket);
        let current = app
            .read(self.staff.clone(), move |tx, staff| {
                rules::desk_version::current(tx, &staff.agent, watched)
            })
            .await?;
        let mut changed = Vec::new();
        if let Some(ticket) = watched.filter(|_| current.ticket != self.version.ticket) {
            changed.push(format!("ticket {ticket}"));
        }
        if current.queue != self.version.queue {
            changed.push("queue 0".to_owned());
        }
        self.version = current;
        if changed.is_empty() {
            return Ok((Vec::new(), false));
        }
        // Both changes are in one message, because the ID of a message contains both versions.
        let message = sse::Event::default()
            .event("change")
            .id(format_version(&self.version));
        Ok((vec![message.data(changed.join("\n"))], false))
    }

    async fn heartbeat(&self, app: &App) -> Result<()> {
        let Some(viewer) = &self.viewer else {
            return Ok(());
        };
        let (ticket, tab) = (viewer.ticket, viewer.tab.clone());
        app.write(self.staff.clone(), move |tx, staff| {
            rules::viewers::renew(tx, &staff.agent, ticket, &tab)
        })
        .await
    }
}

/// A browser tab that shows a ticket. Dropping this value removes the tab from the viewers of the ticket.
struct Viewer {
    app: App,
    ticket: TicketId,
    /// The ID of the tab.
    tab: String,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let (app, ticket, tab) = (self.app.clone(), self.ticket, std::mem::take(&mut self.tab));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        // If the write fails, the row expires within a minute.
        runtime.spawn(async move {
            let removed = app
                .store()
                .write(move |tx| rules::viewers::remove(tx, ticket, &tab))
                .await;
            if let Err(cause) = removed {
                tracing::debug!(error = ?cause, "ticket viewer not removed");
            }
        });
    }
}

fn format_version(version: &DeskVersion) -> String {
    format!("{}-{}", version.queue, version.ticket)
}

fn parse_version(text: &str) -> DeskVersion {
    let (queue, ticket) = text.split_once('-').unwrap_or((text, ""));
    DeskVersion {
        queue: queue.to_owned(),
        ticket: ticket.to_owned(),
    }
}
