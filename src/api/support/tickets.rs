//! Tickets on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::attachment::EXTENSIONS;
use crate::model::event::Entity;
use crate::model::id::TicketId;
use crate::model::policy::Support;
use crate::model::reply::ReplyText;
use crate::model::ticket::{Summary, Ticket, TicketText};
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
pub struct TicketView<'a> {
    id: i64,
    summary: &'a str,
    description: &'a str,
    status: &'static str,
    closable: bool,
    #[serde(serialize_with = "answer::maybe_time")]
    closed: Option<Time>,
    #[serde(serialize_with = "answer::time")]
    opened: Time,
    opened_by: &'a str,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
    updated_by: Option<&'a str>,
    gravatar_id: &'a str,
    attachments: &'a [String],
    entity: Option<EntityView<'a>>,
}

#[derive(Serialize)]
struct EntityView<'a> {
    id: i64,
    label: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    url: &'a str,
}

impl<'a> TicketView<'a> {
    pub fn new(ticket: &'a Ticket) -> Self {
        Self {
            id: ticket.id.0,
            summary: ticket.summary.as_str(),
            description: ticket.description.as_str(),
            status: ticket.status.word(),
            closable: ticket.closable(),
            closed: ticket.closed,
            opened: ticket.opened,
            opened_by: &ticket.opened_by,
            updated: ticket.updated,
            updated_by: ticket.updated_by.as_deref(),
            gravatar_id: &ticket.gravatar_id,
            attachments: &ticket.attachments,
            entity: ticket.entity.as_ref().map(EntityView::new),
        }
    }
}

impl<'a> EntityView<'a> {
    fn new(entity: &'a Entity) -> Self {
        Self {
            id: entity.id,
            label: &entity.label,
            kind: &entity.kind,
            url: &entity.url,
        }
    }
}

pub async fn list(State(app): State<App>, caller: Caller, list: ListRequest) -> Result<Response> {
    let tickets = app
        .read(caller, move |tx, caller| rules::tickets::list(tx, caller, &list))
        .await?;
    Ok(answer::page(&tickets, TicketView::new))
}

pub async fn create(State(app): State<App>, caller: Caller, request: Request) -> Result<Response> {
    let ticket = app
        .write(caller, move |tx, caller| {
            rules::tickets::create(tx, caller, &request)
        })
        .await?;
    Ok(answer::one(&ticket, &TicketView::new(&ticket)))
}

pub async fn view(State(app): State<App>, caller: Caller, At(id): At<TicketId>) -> Result<Response> {
    let ticket = app
        .read(caller, move |tx, caller| rules::tickets::view(tx, caller, id))
        .await?;
    Ok(answer::one(&ticket, &TicketView::new(&ticket)))
}

pub async fn close(
    State(app): State<App>,
    caller: Caller,
    At(id): At<TicketId>,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::tickets::close(tx, caller, id, &request)
    })
    .await?;
    Ok(answer::done())
}

#[derive(Hash, Serialize)]
struct LimitsView {
    summary_max: usize,
    description_max: usize,
    reply_max: usize,
    attachment_max_bytes: i64,
    attachments_per_ticket: i64,
    attachment_extensions: [&'static str; EXTENSIONS.len()],
    reopen_days: Option<i64>,
}

pub async fn limits(State(app): State<App>, caller: Caller) -> Result<Response> {
    app.read(caller, |_, _| Ok(())).await?;
    let support: &Support = &app.store().world().policy.support;
    let limits = LimitsView {
        summary_max: Summary::MAX,
        description_max: TicketText::MAX,
        reply_max: ReplyText::MAX,
        attachment_max_bytes: support.attachment_max_bytes,
        attachments_per_ticket: support.attachments_per_ticket,
        attachment_extensions: EXTENSIONS,
        reopen_days: support.reopen_days,
    };
    Ok(answer::one(&limits, &limits))
}
