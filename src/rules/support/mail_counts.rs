//! Counts the messages that arrive by mail, by outcome and reason.
//!
//! The counts are in the store, because `garth mail receive` is another process than the server.

use crate::model::mail_count::{MailCount, MailOutcome, MailStatus};
use crate::rules::error::Result;
use crate::store::{self, ReadTx, WriteTx};

pub fn count(tx: &mut WriteTx, outcome: MailOutcome, reason: &str) -> Result<()> {
    Ok(store::mail_counts::add(tx, outcome, reason)?)
}

/// The counts, and the queue of mails to send.
pub fn status(tx: &mut ReadTx) -> Result<MailStatus> {
    Ok(MailStatus {
        received: list(tx)?,
        queue: store::outgoing_mails::queue_figures(tx)?,
    })
}

/// All counts, by outcome and reason.
pub fn list(tx: &mut ReadTx) -> Result<Vec<MailCount>> {
    Ok(store::mail_counts::list(tx)?)
}
