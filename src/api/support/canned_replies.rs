//! Canned replies on the wire.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::model::canned_reply::CannedReply;
use crate::model::id::CannedReplyId;
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
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

pub async fn list(State(app): State<App>, staff: Staff, list: ListRequest) -> Result<Response> {
    let replies = app
        .read(staff, move |tx, _| rules::canned_replies::list(tx, &list))
        .await?;
    Ok(answer::page(&replies, CannedReplyView::new))
}

pub async fn create(State(app): State<App>, staff: Staff, request: Request) -> Result<Response> {
    let reply = app
        .write(staff, move |tx, _| rules::canned_replies::create(tx, &request))
        .await?;
    Ok(answer::one(&reply, &CannedReplyView::new(&reply)))
}

pub async fn view(State(app): State<App>, staff: Staff, At(id): At<CannedReplyId>) -> Result<Response> {
    let reply = app
        .read(staff, move |tx, _| rules::canned_replies::view(tx, id))
        .await?;
    Ok(answer::one(&reply, &CannedReplyView::new(&reply)))
}

pub async fn update(
    State(app): State<App>,
    staff: Staff,
    At(id): At<CannedReplyId>,
    request: Request,
) -> Result<Response> {
    let reply = app
        .write(staff, move |tx, _| {
            rules::canned_replies::update(tx, id, &request)
        })
        .await?;
    Ok(answer::one(&reply, &CannedReplyView::new(&reply)))
}

pub async fn delete(
    State(app): State<App>,
    staff: Staff,
    At(id): At<CannedReplyId>,
    request: Request,
) -> Result<Response> {
    app.write(staff, move |tx, _| {
        rules::canned_replies::delete(tx, id, &request)
    })
    .await?;
    Ok(answer::done())
}

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
    let description = app
        .read(staff, move |tx, staff| {
            rules::canned_replies::preview(tx, &staff.agent, id, &request)
        })
        .await?;
    Ok(answer::json(StatusCode::OK, &Preview { description }))
}
