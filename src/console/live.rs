//! Telling open pages that something has happened, as server-sent events.
//!
//! A notice says only what has changed; the page then asks for that part of itself again, so what
//! somebody may see is decided where it always is. A notice comes with a mark of how far the page has been
//! told, which the browser sends along when it comes back: what happened meanwhile is told then.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse;

use super::error_page::Answer;
use super::query::Query;
use crate::model::event::Event;
use crate::model::id::{EventId, TicketId};
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::desk::DeskVersion;
use crate::rules::events::Position;
use crate::rules::{self, Result};
use crate::store::bell::Topic;
use crate::web::App;
use crate::web::event_stream::{Source, Subscription, follow};

/// After how long a browser comes back that has lost its connection.
const COME_BACK: Duration = Duration::from_secs(2);
/// How many events are looked for at once.
const MANY: i64 = 100;

/// Where a tenant's page hears of events after this one.
pub fn address(last: EventId) -> String {
    format!("/live?after={last}")
}

/// Where a page of the desk hears of what happens after this.
pub fn desk_address(mark: &DeskVersion, watched: Option<TicketId>) -> String {
    let after = written(mark);
    match watched {
        None => format!("/desk/live?after={after}"),
        Some(ticket) => format!("/desk/live?after={after}&ticket={ticket}"),
    }
}

/// Events of the account, as the kind and id of what each is about.
pub async fn events(State(app): State<App>, caller: Caller, query: Query, headers: HeaderMap) -> Answer {
    // Listening begins before looking, so that nothing falls between the two.
    let subscription = Subscription::new(&app, Topic::Account(caller.account));
    let last = match after(&headers, &query).parse() {
        Ok(last) => EventId(last),
        Err(_) => app.read(caller.clone(), rules::events::end).await?,
    };
    Ok(follow(
        subscription,
        Events {
            caller,
            position: Position::after(last),
        },
        Some(beginning()),
    ))
}

/// What happens to any ticket; with `?ticket=` also to that one, whose colleagues see that one is there.
pub async fn desk(State(app): State<App>, staff: Staff, query: Query, headers: HeaderMap) -> Answer {
    let subscription = Subscription::new(&app, Topic::Desk);
    let watched = query.text("ticket").parse().ok().map(TicketId);
    let tab = match watched {
        None => None,
        Some(ticket) => {
            let arrived = app.write(staff.clone(), move |tx, staff| {
                rules::viewers::register(tx, &staff.agent, ticket)
            });
            let name = arrived.await?;
            Some(Tab { app, ticket, name })
        }
    };
    let told = read(&after(&headers, &query));
    Ok(follow(subscription, Desk { staff, told, tab }, Some(beginning())))
}

/// How far a page was told: what the browser got last, or what its address says.
fn after(headers: &HeaderMap, query: &Query) -> String {
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok());
    last.unwrap_or(query.text("after")).to_owned()
}

/// Tells the browser when to come back if its connection is lost.
fn beginning() -> sse::Event {
    sse::Event::default().retry(COME_BACK).comment("here")
}

/// A tenant's page.
struct Events {
    caller: Caller,
    position: Position,
}

impl Source for Events {
    async fn next(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        let position = self.position;
        let (more, position) = app
            .read(self.caller.clone(), move |tx, caller| {
                rules::events::next(tx, caller, position, MANY)
            })
            .await?;
        self.position = position;
        Ok((more.iter().map(notice).collect(), more.len() as i64 == MANY))
    }
}

fn notice(event: &Event) -> sse::Event {
    let about = event.entity.as_ref();
    let data = about.map_or("account 0".to_owned(), |entity| {
        format!("{} {}", entity.kind.word(), entity.id)
    });
    sse::Event::default()
        .event("change")
        .id(event.id.to_string())
        .data(data)
}

/// A page of the desk.
struct Desk {
    staff: Staff,
    told: DeskVersion,
    tab: Option<Tab>,
}

impl Source for Desk {
    async fn next(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        let watched = self.tab.as_ref().map(|tab| tab.ticket);
        let now = app
            .read(self.staff.clone(), move |tx, staff| {
                rules::desk::version(tx, &staff.agent, watched)
            })
            .await?;
        let mut changed = Vec::new();
        if let Some(ticket) = watched.filter(|_| now.ticket != self.told.ticket) {
            changed.push(format!("ticket {ticket}"));
        }
        if now.queue != self.told.queue {
            changed.push("queue 0".to_owned());
        }
        self.told = now;
        if changed.is_empty() {
            return Ok((Vec::new(), false));
        }
        // One notice for both, because both are in its mark.
        let notice = sse::Event::default().event("change").id(written(&self.told));
        Ok((vec![notice.data(changed.join("\n"))], false))
    }

    async fn heartbeat(&self, app: &App) -> Result<()> {
        let Some(tab) = &self.tab else { return Ok(()) };
        let (ticket, name) = (tab.ticket, tab.name.clone());
        app.write(self.staff.clone(), move |tx, staff| {
            rules::viewers::renew(tx, &staff.agent, ticket, &name)
        })
        .await
    }
}

/// An open page with a ticket on it. Its colleagues are told when it closes.
struct Tab {
    app: App,
    ticket: TicketId,
    name: String,
}

impl Drop for Tab {
    fn drop(&mut self) {
        let (app, ticket, name) = (self.app.clone(), self.ticket, std::mem::take(&mut self.name));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        // If it cannot be said, the row counts for nothing in a minute.
        runtime.spawn(async move {
            let left = app
                .store()
                .write(move |tx| rules::viewers::remove(tx, ticket, &name))
                .await;
            if let Err(cause) = left {
                tracing::debug!(?cause, "could not say that somebody has left a ticket");
            }
        });
    }
}

fn written(mark: &DeskVersion) -> String {
    format!("{}-{}", mark.queue, mark.ticket)
}

fn read(written: &str) -> DeskVersion {
    let (queue, ticket) = written.split_once('-').unwrap_or((written, ""));
    DeskVersion {
        queue: queue.to_owned(),
        ticket: ticket.to_owned(),
    }
}
