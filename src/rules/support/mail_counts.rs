//! Counts the messages that arrive by mail, by outcome and reason.
//!
//! The counts are in the store, because `garth mail receive` is another process than the server.

use crate::model::mail_count::{MailCount, MailOutcome};
use crate::rules::error::Result;
use crate::store::{self, ReadTx, WriteTx};

pub fn count(tx: &mut WriteTx, outcome: MailOutcome, reason: &str) -> Result<()> {
    Ok(store::mail_counts::add(tx, outcome, reason)?)
}

/// All counts, by outcome and reason.
pub fn list(tx: &mut ReadTx) -> Result<Vec<MailCount>> {
    Ok(store::mail_counts::list(tx)?)
}
