//! Reading every attachment now and then: which are due, and what was found.

use crate::model::attachment::Attachment;
use crate::model::id::AttachmentId;
use crate::rules::error::Result;
use crate::store::scrub::Due;
use crate::store::{self, ReadTx, WriteTx};

/// How many attachments a node takes at once.
const BATCH: i64 = 16;
/// How long a node may take to read them; then another may.
const LEASE_SECONDS: i64 = 3600;
/// A damaged file is read again after this time, because it may have been restored.
const RECHECK_SECONDS: i64 = 24 * 3600;
const DAY_SECONDS: i64 = 24 * 3600;

/// Takes some attachments to read, so that each is read once in so many days.
pub fn claim(tx: &mut WriteTx, days: i64) -> Result<Vec<Attachment>> {
    let now = tx.now();
    let due = Due {
        // A tenth of the period is left for reading all that is due.
        verified_before: now.plus_seconds(-days * DAY_SECONDS * 9 / 10),
        damaged_before: now.plus_seconds(-RECHECK_SECONDS),
        limit: BATCH,
    };
    let found = store::scrub::due(tx, due)?;
    for attachment in &found {
        store::scrub::lease(tx, attachment.id, now.plus_seconds(LEASE_SECONDS))?;
    }
    Ok(found)
}

/// Records what reading an attachment has shown.
pub fn record(tx: &mut WriteTx, id: AttachmentId, damaged: bool) -> Result<()> {
    Ok(store::scrub::record(tx, id, damaged)?)
}

/// How many attachments are known to be missing or different from what was uploaded.
pub fn count_damaged(tx: &mut ReadTx) -> Result<i64> {
    Ok(store::scrub::count_damaged(tx)?)
}
