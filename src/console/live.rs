//! Telling open pages that something has happened, as server-sent events.
//!
//! A notice says only what has changed; the page then asks for that part of itself again, so what
//! somebody may see is decided where it always is. A notice comes with a mark of how far the page has been
//! told, which the browser sends along when it comes back: what happened meanwhile is told then.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{self, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;

use super::error_page::Answer;
use super::query::Query;
use crate::model::event::Event;
use crate::model::id::{EventId, TicketId};
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::desk::Mark;
use crate::rules::{self, Result};
use crate::store::bell::Topic;
use crate::web::App;

/// After how long a browser comes back that has lost its connection.
const COME_BACK: Duration = Duration::from_secs(2);
/// How many events are looked for at once.
const MANY: i64 = 100;

/// Where a tenant's page hears of events after this one.
pub fn address(last: EventId) -> String {
    format!("/live?after={last}")
}

/// Where a page of the desk hears of what happens after this.
pub fn desk_address(mark: &Mark, watched: Option<TicketId>) -> String {
    let after = written(mark);
    match watched {
        None => format!("/desk/live?after={after}"),
        Some(ticket) => format!("/desk/live?after={after}&ticket={ticket}"),
    }
}

/// Events of the account, as the kind and id of what each is about.
pub async fn events(State(app): State<App>, caller: Caller, query: Query, headers: HeaderMap) -> Answer {
    // Listening begins before looking, so that nothing falls between the two.
    let waking = Waking::new(&app, Topic::Account(caller.account));
    let last = match after(&headers, &query).parse() {
        Ok(last) => EventId(last),
        Err(_) => app.read(caller.clone(), rules::events::end).await?,
    };
    Ok(follow(waking, Events { caller, last }))
}

/// What happens to any ticket; with `?ticket=` also to that one, whose colleagues see that one is there.
pub async fn desk(State(app): State<App>, staff: Staff, query: Query, headers: HeaderMap) -> Answer {
    let waking = Waking::new(&app, Topic::Desk);
    let watched = query.text("ticket").parse().ok().map(TicketId);
    let tab = match watched {
        None => None,
        Some(ticket) => {
            let arrived = app.write(staff.clone(), move |tx, staff| {
                rules::viewers::arrive(tx, &staff.agent, ticket)
            });
            let name = arrived.await?;
            Some(Tab { app, ticket, name })
        }
    };
    let told = read(&after(&headers, &query));
    Ok(follow(waking, Desk { staff, told, tab }))
}

/// How far a page was told: what the browser got last, or what its address says.
fn after(headers: &HeaderMap, query: &Query) -> String {
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok());
    last.unwrap_or(query.text("after")).to_owned()
}

/// What wakes a stream: a commit, or a while without one.
struct Waking {
    app: App,
    bell: watch::Receiver<()>,
    stopping: watch::Receiver<bool>,
    /// Whether something may have happened that was not looked for yet.
    look: bool,
}

impl Waking {
    fn new(app: &App, topic: Topic) -> Self {
        Self {
            bell: app.store().bell().listen(topic),
            stopping: app.stopping(),
            app: app.clone(),
            look: true,
        }
    }

    /// Waits until there may be something; true if that took a whole heartbeat, and `None` when the
    /// server is about to stop.
    async fn wait(&mut self) -> Option<bool> {
        let rest = tokio::time::sleep(self.app.options().heartbeat);
        let rested = tokio::select! {
            rung = self.bell.changed() => rung.ok().map(|()| false),
            _ = self.stopping.wait_for(|stopping| *stopping) => None,
            () = rest => Some(true),
        };
        self.look = true;
        rested
    }
}

/// A page that is told of what happens, and how far it was told.
trait Listener: Send + 'static {
    /// What there is to tell now, and whether there is more.
    fn look(&mut self, app: &App) -> impl Future<Output = Result<(Vec<sse::Event>, bool)>> + Send;

    /// Says again that one is there.
    fn stay(&self, _: &App) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

/// Tells a page, for as long as it listens and may know.
fn follow(waking: Waking, listener: impl Listener) -> Response {
    let beginning = sse::Event::default().retry(COME_BACK).comment("here");
    let ready = VecDeque::from([beginning]);
    let notices = stream::unfold((waking, listener, ready), |mut at| async move {
        let (waking, listener, ready) = &mut at;
        let notice = next(waking, listener, ready).await?;
        Some((Ok::<_, Infallible>(notice), at))
    });
    Sse::new(notices).into_response()
}

/// The next thing to send; `None` ends the stream.
async fn next(
    waking: &mut Waking,
    listener: &mut impl Listener,
    ready: &mut VecDeque<sse::Event>,
) -> Option<sse::Event> {
    loop {
        if let Some(notice) = ready.pop_front() {
            return Some(notice);
        }
        if waking.look {
            // A session that is over ends the stream here.
            let (found, more) = listener.look(&waking.app).await.ok()?;
            ready.extend(found);
            waking.look = more;
        } else if waking.wait().await? {
            listener.stay(&waking.app).await.ok()?;
            return Some(sse::Event::default().comment("still here"));
        }
    }
}

/// A tenant's page.
struct Events {
    caller: Caller,
    last: EventId,
}

impl Listener for Events {
    async fn look(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        let last = self.last;
        let more = app
            .read(self.caller.clone(), move |tx, caller| {
                rules::events::next(tx, caller, last, MANY)
            })
            .await?;
        self.last = more.last().map_or(last, |event| event.id);
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
    told: Mark,
    tab: Option<Tab>,
}

impl Listener for Desk {
    async fn look(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        let watched = self.tab.as_ref().map(|tab| tab.ticket);
        let now = app
            .read(self.staff.clone(), move |tx, staff| {
                rules::desk::mark(tx, &staff.agent, watched)
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

    async fn stay(&self, app: &App) -> Result<()> {
        let Some(tab) = &self.tab else { return Ok(()) };
        let (ticket, name) = (tab.ticket, tab.name.clone());
        app.write(self.staff.clone(), move |tx, staff| {
            rules::viewers::stay(tx, &staff.agent, ticket, &name)
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
                .write(move |tx| rules::viewers::leave(tx, ticket, &name))
                .await;
            if let Err(cause) = left {
                tracing::debug!(?cause, "could not say that somebody has left a ticket");
            }
        });
    }
}

fn written(mark: &Mark) -> String {
    format!("{}-{}", mark.queue, mark.ticket)
}

fn read(written: &str) -> Mark {
    let (queue, ticket) = written.split_once('-').unwrap_or((written, ""));
    Mark {
        queue: queue.to_owned(),
        ticket: ticket.to_owned(),
    }
}
