//! Attachment uploads and downloads.

use std::convert;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::attachment::Attachment;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::rules::Result;
use crate::rules::attachments::{self};
use crate::rules::caller::Caller;
use crate::web::extract::At;
use crate::web::{App, answer};
use crate::web::{downloads, upload};

#[derive(Serialize)]
pub struct AttachmentView<'a> {
    id: i64,
    name: &'a str,
    size: i64,
    sha256: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    created_by: &'a str,
}

impl<'a> AttachmentView<'a> {
    pub fn new(attachment: &'a Attachment) -> Self {
        Self {
            id: attachment.id.0,
            name: attachment.name.as_str(),
            size: attachment.size,
            sha256: &attachment.sha256,
            created: attachment.created,
            created_by: &attachment.created_by,
        }
    }
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    At(ticket): At<TicketId>,
    request: axum::extract::Request,
) -> Result<Response> {
    upload::receive_attachment(app, caller.into(), ticket, request, convert::identity).await?;
    Ok(answer::done())
}

pub async fn download(
    State(app): State<App>,
    caller: Caller,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
) -> Result<Response> {
    let attachment = app
        .read(caller, move |tx, caller| {
            attachments::view(tx, caller, ticket, id)
        })
        .await?;
    downloads::send(&app, &attachment).await
}

pub fn page(attachments: &Paged<Attachment>, _: &ViewContext) -> Response {
    answer::page(attachments, AttachmentView::new)
}
