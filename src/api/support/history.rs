//! JSON views of the history of a ticket.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::history::History;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
pub struct HistoryView<'a> {
    id: i64,
    action: &'static str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    created_by: &'a str,
    from_staff: bool,
    status: &'static str,
    before: Option<&'a str>,
    after: Option<&'a str>,
    description: Option<&'a str>,
    reply_id: Option<i64>,
    note_id: Option<i64>,
    attachment_id: Option<i64>,
}

impl<'a> HistoryView<'a> {
    pub fn new(entry: &'a History) -> Self {
        Self {
            id: entry.id.0,
            action: entry.step.word(),
            created: entry.created,
            created_by: &entry.created_by,
            from_staff: entry.from_staff,
            status: entry.status.word(),
            before: entry.before.as_deref(),
            after: entry.after.as_deref(),
            description: entry.description.as_deref(),
            reply_id: entry.reply.map(|id| id.0),
            note_id: entry.note.map(|id| id.0),
            attachment_id: entry.attachment.map(|id| id.0),
        }
    }
}

pub fn page(history: &Paged<History>, _: &ViewContext) -> Response {
    answer::page(history, HistoryView::new)
}
