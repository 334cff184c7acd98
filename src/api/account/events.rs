//! Events on the wire: pages of them, and a stream.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{self, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::watch;

use crate::api::entity_urls;
use crate::api::handlers::Wire;
use crate::model::event::{Entity, Event};
use crate::model::id::EventId;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Result};
use crate::store::ReadTx;
use crate::store::bell::Topic;
use crate::web::{App, answer};

#[derive(Serialize)]
struct EventView<'a> {
    id: i64,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    seen: bool,
    read: bool,
    percent_complete: Option<i64>,
    time_remaining: Option<i64>,
    rate: Option<&'a str>,
    duration: Option<f64>,
    action: &'a str,
    username: Option<&'a str>,
    entity: Option<EntityView<'a>>,
    status: &'a str,
    secondary_entity: Option<EntityView<'a>>,
    message: &'a str,
}

#[derive(Serialize)]
struct EntityView<'a> {
    label: &'a str,
    id: i64,
    #[serde(rename = "type")]
    kind: &'a str,
    url: String,
}

impl<'a> EventView<'a> {
    fn new(event: &'a Event) -> Self {
        Self {
            id: event.id.0,
            created: event.created,
            seen: event.seen,
            read: event.read,
            percent_complete: event.percent,
            time_remaining: None,
            rate: None,
            duration: event.duration.map(|micros| micros as f64 / 1e6),
            action: &event.action,
            username: event.username.as_deref(),
            entity: event.entity.as_ref().map(EntityView::new),
            status: &event.status,
            secondary_entity: event.secondary.as_ref().map(EntityView::new),
            message: "",
        }
    }
}

impl<'a> EntityView<'a> {
    fn new(entity: &'a Entity) -> Self {
        Self {
            label: &entity.label,
            id: entity.id,
            kind: entity.kind.word(),
            url: entity_urls::of(entity),
        }
    }
}

/// Events as they happen, as server-sent events. A reader that comes back with the id of the last
/// one it got (`Last-Event-ID`, or `after` in the query) misses none.
pub async fn stream(
    State(app): State<App>,
    caller: Caller,
    mut list: ListRequest,
    headers: HeaderMap,
) -> Result<Response> {
    // Last-Event-ID goes first, but an `after` that is wrong is wrong beside it too.
    list.after()?;
    if let Some(last) = headers.get("last-event-id") {
        list.after = Some((
            "Last-Event-ID",
            last.to_str().unwrap_or("not a number").to_owned(),
        ));
    }
    // Listening begins before looking, so that nothing falls between the two.
    let bell = app.store().bell().listen(Topic::Account(caller.account));
    let begin = move |tx: &mut ReadTx, caller: &Caller| match list.after()? {
        Some(after) => Ok(after),
        None => rules::events::end(tx, caller),
    };
    let last = app.read(caller.clone(), begin).await?;
    let following = Following {
        stopping: app.stopping(),
        bell,
        app,
        caller,
        last,
        waiting: VecDeque::new(),
        look: true,
    };
    let events = stream::unfold(following, |mut following| async move {
        let event = following.next().await?;
        Some((Ok::<_, Infallible>(event), following))
    });
    Ok(Sse::new(events).into_response())
}

/// A reader of the stream, and how far it got.
struct Following {
    app: App,
    caller: Caller,
    last: EventId,
    waiting: VecDeque<Event>,
    bell: watch::Receiver<()>,
    stopping: watch::Receiver<bool>,
    /// Whether there may be events that were not looked for yet.
    look: bool,
}

impl Following {
    const MANY: i64 = 100;

    /// The next thing to send; `None` ends the stream.
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.last = event.id;
                let data = serde_json::to_string(&EventView::new(&event)).ok()?;
                return Some(sse::Event::default().id(event.id.to_string()).data(data));
            }
            if self.look {
                // A token that was revoked meanwhile ends the stream here.
                self.look_for_more().await.ok()?;
                continue;
            }
            let rest = tokio::time::sleep(self.app.options().heartbeat);
            tokio::select! {
                rung = self.bell.changed() => {
                    rung.ok()?;
                    self.look = true;
                }
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
                () = rest => {
                    self.look = true;
                    return Some(sse::Event::default().comment("still here"));
                }
            }
        }
    }

    async fn look_for_more(&mut self) -> Result<()> {
        let last = self.last;
        let more = move |tx: &mut ReadTx, caller: &Caller| rules::events::next(tx, caller, last, Self::MANY);
        let found = self.app.read(self.caller.clone(), more).await?;
        self.look = found.len() as i64 == Self::MANY;
        self.waiting.extend(found);
        Ok(())
    }
}

pub fn one(event: &Event, _: &Wire) -> Response {
    answer::one(event, &EventView::new(event))
}

pub fn page(events: &Paged<Event>, _: &Wire) -> Response {
    answer::page(events, EventView::new)
}
