//! JSON views of events, and the event stream.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse;
use serde::Serialize;

use crate::api::entity_urls;
use crate::api::handlers::ViewContext;
use crate::model::entity::{Entity, EntityKind};
use crate::model::event::Event;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::events::Position;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Result};
use crate::store::notifier::Topic;
use crate::store::{ReadTx, StoreError};
use crate::web::event_stream::{Source, Subscription, follow};
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
    id: EntityId<'a>,
    #[serde(rename = "type")]
    kind: &'a str,
    url: String,
}

/// The ID of an entity. The ID of a tag is its label.
#[derive(Serialize)]
#[serde(untagged)]
enum EntityId<'a> {
    Number(i64),
    Label(&'a str),
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
            message: event.message(),
        }
    }
}

impl<'a> EntityView<'a> {
    fn new(entity: &'a Entity) -> Self {
        Self {
            label: &entity.label,
            id: match entity.kind {
                EntityKind::Tag => EntityId::Label(&entity.label),
                _ => EntityId::Number(entity.id),
            },
            kind: entity.kind.word(),
            url: entity_urls::of(entity),
        }
    }
}

/// Server-sent events. A client that reconnects with the ID of its last event (`Last-Event-ID`, or `after` in
/// the query) misses no events.
pub async fn stream(
    State(app): State<App>,
    caller: Caller,
    mut list: ListRequest,
    headers: HeaderMap,
) -> Result<Response> {
    // Last-Event-ID has precedence, but an invalid `after` is still an error.
    list.after()?;
    if let Some(last) = headers.get("last-event-id") {
        list.after = Some((
            "Last-Event-ID",
            last.to_str().unwrap_or("not a number").to_owned(),
        ));
    }
    // Subscribe before the first query, so that no event is missed.
    let subscription = Subscription::new(&app, Topic::Account(caller.account));
    let load_position = move |tx: &mut ReadTx, caller: &Caller| match list.after()? {
        Some(after) => Ok(after),
        None => rules::events::newest_id(tx, caller),
    };
    let last = app.read(caller.clone(), load_position).await?;
    let position = Position::after(last);
    Ok(follow(subscription, AccountEvents { caller, position }, None))
}

/// Reads the events of one stream: those that the caller can see, after a position.
struct AccountEvents {
    caller: Caller,
    position: Position,
}

impl Source for AccountEvents {
    async fn next(&mut self, app: &App) -> Result<(Vec<sse::Event>, bool)> {
        const EVENTS_PER_READ: i64 = 100;
        let position = self.position;
        let load_events = move |tx: &mut ReadTx, caller: &Caller| {
            rules::events::next(tx, caller, position, EVENTS_PER_READ)
        };
        let (found, position) = app.read(self.caller.clone(), load_events).await?;
        self.position = position;
        let events = found.iter().map(to_sse).collect::<Result<_>>()?;
        Ok((events, found.len() as i64 == EVENTS_PER_READ))
    }
}

fn to_sse(event: &Event) -> Result<sse::Event> {
    let data = serde_json::to_string(&EventView::new(event));
    let data = data.map_err(|cause| StoreError::Unexpected(cause.to_string()))?;
    Ok(sse::Event::default().id(event.id.to_string()).data(data))
}

pub fn one(event: &Event, _: &ViewContext) -> Response {
    answer::one(event, &EventView::new(event))
}

pub fn page(events: &Paged<Event>, _: &ViewContext) -> Response {
    answer::page(events, EventView::new)
}
