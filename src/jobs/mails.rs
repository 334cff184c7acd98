//! Sends a mail: marks it, sends it, and returns the result, which `rules::jobs::run_mail` records.

use crate::mail::outbound::message;
use crate::mail::outbound::server::SmtpServer;
use crate::mail::outbound::smtp::{self, Delivery};
use crate::model::job::Job;
use crate::model::outgoing_mail::SendResult;
use crate::rules::{self, outgoing_mails};
use crate::store::Store;

/// Makes one attempt to send the mail of a job.
pub async fn send(store: &Store, server: &SmtpServer, job: &Job) -> rules::Result<SendResult> {
    let begun = job.clone();
    let Some(draft) = store.write(move |tx| outgoing_mails::begin(tx, &begun)).await? else {
        return Ok(SendResult::Skipped);
    };
    let Some(content) = message::build(&draft) else {
        return Ok(SendResult::Refused {
            status: "address_not_supported".to_owned(),
        });
    };
    let delivery = Delivery {
        sender: &draft.envelope_sender,
        recipient: &draft.recipient,
        content: &content,
    };
    let result = match smtp::deliver(server, &delivery, &mut |_| {}).await {
        Ok(()) => SendResult::Sent,
        Err(failure) => failure.into_result(),
    };
    match &result {
        SendResult::Sent | SendResult::Skipped => {}
        SendResult::Retry { status, .. } | SendResult::Refused { status } => {
            tracing::warn!(mail = job.subject, status, "mail not sent");
        }
    }
    Ok(result)
}
