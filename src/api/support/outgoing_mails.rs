//! JSON views of mails about tickets. They have no content.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::outgoing_mail::OutgoingMail;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
pub struct MailView<'a> {
    id: i64,
    kind: &'static str,
    address: &'a str,
    state: &'static str,
    maybe_repeated: bool,
    attempts: i64,
    #[serde(serialize_with = "answer::time")]
    queued: Time,
    #[serde(serialize_with = "answer::optional_time")]
    last_attempt: Option<Time>,
    #[serde(serialize_with = "answer::optional_time")]
    sent: Option<Time>,
    error: Option<&'a str>,
}

impl<'a> MailView<'a> {
    pub fn new(mail: &'a OutgoingMail) -> Self {
        Self {
            id: mail.id.0,
            kind: mail.kind.word(),
            address: mail.address.as_str(),
            state: mail.state.word(),
            maybe_repeated: mail.maybe_repeated,
            attempts: mail.attempts,
            queued: mail.queued,
            last_attempt: mail.last_attempt,
            sent: mail.sent,
            error: mail.error.as_deref(),
        }
    }
}

pub fn page(mails: &Paged<OutgoingMail>, _: &ViewContext) -> Response {
    answer::page(mails, MailView::new)
}
