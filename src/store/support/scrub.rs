//! When the bytes of attachments were last compared with their hashes, as rows.

use crate::model::attachment::Attachment;
use crate::model::id::AttachmentId;
use crate::model::time::Time;
use crate::store::attachments::{COLUMNS, read};
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// Which attachments are to be read again.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// Those that were verified before this time.
    pub verified_before: Time,
    /// The same for those that were found damaged.
    pub damaged_before: Time,
    pub limit: i64,
}

/// The attachments that are due and that no node reads now, the longest unverified first.
pub fn due(tx: &mut ReadTx, due: Due) -> Result<Vec<Attachment>, StoreError> {
    let now = tx.now();
    let sql = format!(
        "SELECT {COLUMNS} FROM attachment JOIN attachment_check ON attachment_check.attachment = attachment.id
         WHERE leased_until <= $3 AND (verified < $1 OR (damaged = 1 AND verified < $2))
         ORDER BY verified, id LIMIT $4"
    );
    let args = args![due.verified_before, due.damaged_before, now, due.limit];
    tx.read(&sql, args, read)
}

/// Keeps other nodes from reading an attachment until a time.
pub fn lease(tx: &mut WriteTx, id: AttachmentId, until: Time) -> Result<(), StoreError> {
    let sql = "UPDATE attachment_check SET leased_until = $2 WHERE attachment = $1";
    tx.execute(sql, args![id, until])?;
    Ok(())
}

/// Adds an attachment whose bytes were hashed while they were received.
pub fn insert(tx: &mut WriteTx, id: AttachmentId) -> Result<(), StoreError> {
    let now = tx.now();
    let sql =
        "INSERT INTO attachment_check (attachment, verified, leased_until, damaged) VALUES ($1, $2, 0, 0)";
    tx.execute_deferred(sql, args![id, now])
}

/// Records that an attachment was read now, and whether its bytes were missing or different.
pub fn record(tx: &mut WriteTx, id: AttachmentId, damaged: bool) -> Result<(), StoreError> {
    let now = tx.now();
    let sql =
        "UPDATE attachment_check SET verified = $2, leased_until = 0, damaged = $3 WHERE attachment = $1";
    tx.execute(sql, args![id, now, i64::from(damaged)])?;
    Ok(())
}

/// How many attachments were missing or different when they were last read.
pub fn count_damaged(tx: &mut ReadTx) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM attachment_check WHERE damaged = 1";
    tx.one(sql, args![])?.take()
}
