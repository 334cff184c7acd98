//! JSON views of canned replies.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::canned_reply::CannedReply;
use crate::model::id::CannedReplyId;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
struct CannedReplyView<'a> {
    id: i64,
    label: &'a str,
    description: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

impl<'a> CannedReplyView<'a> {
    fn new(reply: &'a CannedReply) -> Self {
        Self {
            id: reply.id.0,
            label: reply.label.as_str(),
            description: reply.description.as_str(),
            created: reply.created,
            updated: reply.updated,
        }
    }
}

pub fn one(reply: &CannedReply, _: &ViewContext) -> Response {
    answer::one(reply, &CannedReplyView::new(reply))
}

pub fn page(replies: &Paged<CannedReply>, _: &ViewContext) -> Response {
    answer::page(replies, CannedReplyView::new)
}

/// Fills in a canned reply for a ticket. It changes nothing, although the method is POST.
pub async fn preview(
    State(app): State<App>,
    staff: Staff,
    At(id): At<CannedReplyId>,
    request: Request,
) -> Result<Response> {
    #[derive(Serialize)]
    struct Preview {
        description: String,
    }
    app.read(staff, move |tx, staff| {
        let description = rules::canned_replies::preview(tx, &staff.agent, id, &request)?;
        Ok(answer::json(StatusCode::OK, &Preview { description }))
    })
    .await
}
