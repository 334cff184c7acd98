//! The JSON view of the messages that arrived by mail, and of the queue of mails.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::mail_count::{MailStatus, QueueFigures};
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct MailStatusView<'a> {
    received: Vec<CountView<'a>>,
    queue: QueueView,
}

#[derive(Serialize)]
struct CountView<'a> {
    outcome: &'static str,
    reason: &'a str,
    messages: i64,
    #[serde(serialize_with = "answer::time")]
    last_received: Time,
}

#[derive(Serialize)]
pub struct QueueView {
    queued: i64,
    failed: i64,
    #[serde(serialize_with = "answer::optional_time")]
    oldest_queued: Option<Time>,
}

impl QueueView {
    pub fn new(queue: &QueueFigures) -> Self {
        Self {
            queued: queue.queued,
            failed: queue.failed,
            oldest_queued: queue.oldest_queued,
        }
    }
}

pub fn one(status: &MailStatus, _: &ViewContext) -> Response {
    let received = status.received.iter().map(|count| CountView {
        outcome: count.outcome.word(),
        reason: &count.reason,
        messages: count.messages,
        last_received: count.last_received,
    });
    let view = MailStatusView {
        received: received.collect(),
        queue: QueueView::new(&status.queue),
    };
    answer::one(status, &view)
}
