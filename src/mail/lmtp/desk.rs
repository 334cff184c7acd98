//! The desk, as a connection uses it.

use super::reply::{self, Reply};
use super::session::RecipientVerdict;
use crate::mail::delivery::{self, Envelope};
use crate::rules::{Error, received_mails};
use crate::store::WriteTx;
use crate::uploads::Uploads;

/// Checks whether the desk has an address. An address with a wrong signature is unknown, and both are counted.
pub async fn check_recipient(uploads: &Uploads, recipient: String) -> RecipientVerdict {
    let refused = uploads
        .store
        .write(move |tx: &mut WriteTx| received_mails::refused_recipient(tx, &recipient))
        .await;
    let reason = match refused {
        Ok(None) => return RecipientVerdict::Accepted,
        Ok(Some(reason)) => reason,
        Err(cause) => {
            log_failure(&cause);
            return RecipientVerdict::Unavailable;
        }
    };
    delivery::count(&uploads.store, delivery::Delivery::Refused(reason)).await;
    RecipientVerdict::Unknown
}

/// Delivers a message. Returns the replies, one for each recipient.
pub async fn deliver(uploads: &Uploads, envelope: Envelope) -> Vec<Reply> {
    let recipients = envelope.recipients.len();
    let Some(policy) = uploads.store.policy().mail.clone() else {
        return vec![reply::UNAVAILABLE; recipients];
    };
    let deliveries = delivery::deliver(uploads, &policy.authserv_id, envelope).await;
    let replies = deliveries.into_iter().map(|delivered| match delivered {
        Ok(delivery) => Reply::to(delivery),
        Err(cause) => {
            log_failure(&cause);
            reply::UNAVAILABLE
        }
    });
    replies.collect()
}

/// The mail server tries again. The error has no part of the message.
fn log_failure(cause: &Error) {
    tracing::warn!(error = ?cause, "message not delivered");
}
