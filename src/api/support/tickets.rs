//! JSON views of tickets.

use axum::response::Response;
use serde::Serialize;

use crate::api::entity_urls;
use crate::api::handlers::ViewContext;
use crate::model::attachment::EXTENSIONS;
use crate::model::entity::Entity;
use crate::model::page::Paged;
use crate::model::reply::ReplyText;
use crate::model::ticket::{Summary, Ticket, TicketText};
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
pub struct TicketView<'a> {
    id: i64,
    summary: &'a str,
    description: &'a str,
    status: &'static str,
    closable: bool,
    #[serde(serialize_with = "answer::optional_time")]
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
    url: String,
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
            kind: entity.kind.word(),
            url: entity_urls::of(entity),
        }
    }
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

pub fn one(ticket: &Ticket, _: &ViewContext) -> Response {
    answer::one(ticket, &TicketView::new(ticket))
}

pub fn page(tickets: &Paged<Ticket>, _: &ViewContext) -> Response {
    answer::page(tickets, TicketView::new)
}

/// The support settings that clients need.
pub fn limits(_: &(), context: &ViewContext) -> Response {
    let support = &context.policy.support;
    let limits = LimitsView {
        summary_max: Summary::MAX,
        description_max: TicketText::MAX,
        reply_max: ReplyText::MAX,
        attachment_max_bytes: support.attachment_max_bytes,
        attachments_per_ticket: support.attachments_per_ticket,
        attachment_extensions: EXTENSIONS,
        reopen_days: support.reopen_days,
    };
    answer::one(&limits, &limits)
}
