//! Replies on the wire.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::model::id::TicketId;
use crate::model::reply::Reply;
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, WireNames, answer};

#[derive(Serialize)]
pub struct ReplyView<'a> {
    id: i64,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    created_by: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_linode: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_compute: Option<bool>,
    /// What newer clients print as the author.
    friendly_name: &'a str,
    gravatar_id: &'a str,
}

impl<'a> ReplyView<'a> {
    pub fn new(reply: &'a Reply, names: WireNames) -> Self {
        Self {
            id: reply.id.0,
            created: reply.created,
            created_by: &reply.created_by,
            description: reply.description.as_str(),
            from_linode: names.linode(reply.from_staff),
            from_compute: names.compute(reply.from_staff),
            friendly_name: &reply.created_by,
            gravatar_id: &reply.gravatar_id,
        }
    }
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    At(ticket): At<TicketId>,
    list: ListRequest,
) -> Result<Response> {
    let replies = app
        .read(caller, move |tx, caller| {
            rules::replies::list(tx, caller, ticket, &list)
        })
        .await?;
    Ok(answer::page(&replies, |reply| ReplyView::new(reply, app.names())))
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    At(ticket): At<TicketId>,
    request: Request,
) -> Result<Response> {
    let reply = app
        .write(caller, move |tx, caller| {
            rules::replies::create(tx, caller, ticket, &request)
        })
        .await?;
    Ok(answer::json(StatusCode::OK, &ReplyView::new(&reply, app.names())))
}
