//! JSON views of replies.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::reply::Reply;
use crate::model::time::Time;
use crate::web::{WireNames, answer};

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
    /// The author's name, as newer clients show it.
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

/// The response has no entity tag, because replies never change.
pub fn one(reply: &Reply, context: &ViewContext) -> Response {
    answer::json(StatusCode::OK, &ReplyView::new(reply, context.names))
}

pub fn page(replies: &Paged<Reply>, context: &ViewContext) -> Response {
    answer::page(replies, |reply| ReplyView::new(reply, context.names))
}
