//! Periodic verification of attachments: claims attachments that are due, and records the results.

use crate::model::attachment::Attachment;
use crate::model::id::AttachmentId;
use crate::rules::error::Result;
use crate::store::attachment_checks::DueBefore;
use crate::store::{self, ReadTx, WriteTx};

/// The number of attachments that a node claims together.
const BATCH_ATTACHMENTS: i64 = 16;
/// The time in which a node must read its claimed attachments. After that, another node can claim them.
const LEASE_SECONDS: i64 = 3600;
/// The interval for verifying damaged files again, because an operator can restore them.
const RECHECK_SECONDS: i64 = 24 * 3600;
const DAY_SECONDS: i64 = 24 * 3600;

/// Claims attachments to verify, so that each attachment is read once in `days` days.
pub fn claim(tx: &mut WriteTx, days: i64) -> Result<Vec<Attachment>> {
    let now = tx.now();
    let due = DueBefore {
        // An attachment is due after nine tenths of the period, which leaves one tenth for reading all due
        // attachments.
        verified_before: now.plus_seconds(-days * DAY_SECONDS * 9 / 10),
        damaged_before: now.plus_seconds(-RECHECK_SECONDS),
        limit: BATCH_ATTACHMENTS,
    };
    let found = store::attachment_checks::due(tx, due)?;
    for attachment in &found {
        store::attachment_checks::lease(tx, attachment.id, now.plus_seconds(LEASE_SECONDS))?;
    }
    Ok(found)
}

/// Records the result of verifying an attachment.
pub fn record(tx: &mut WriteTx, id: AttachmentId, damaged: bool) -> Result<()> {
    Ok(store::attachment_checks::record(tx, id, damaged)?)
}

/// The number of attachments that are missing or differ from the uploaded file.
pub fn count_damaged(tx: &mut ReadTx) -> Result<i64> {
    Ok(store::attachment_checks::count_damaged(tx)?)
}
