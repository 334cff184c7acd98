//! The `attachment_check` table: for each attachment, the time when its file was last compared with its hash.

use crate::model::attachment::Attachment;
use crate::model::id::AttachmentId;
use crate::model::time::Time;
use crate::store::attachments::{COLUMNS, read};
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// Selects the attachments to verify again.
#[derive(Clone, Copy, Debug)]
pub struct DueBefore {
    /// Attachments that were last verified before this time are due.
    pub verified_before: Time,
    /// Damaged attachments that were last verified before this time are due.
    pub damaged_before: Time,
    pub limit: i64,
}

/// The attachments that are due and not leased, least recently verified first.
pub fn due(tx: &mut ReadTx, due: DueBefore) -> Result<Vec<Attachment>, StoreError> {
    let now = tx.now();
    let sql = format!(
        "SELECT {COLUMNS} FROM attachment JOIN attachment_check ON attachment_check.attachment = attachment.id
         WHERE leased_until <= $3 AND (verified < $1 OR (damaged = 1 AND verified < $2))
         ORDER BY verified, id LIMIT $4"
    );
    let args = args![due.verified_before, due.damaged_before, now, due.limit];
    tx.read(&sql, args, read)
}

/// Leases an attachment until a time, so that other nodes do not verify it.
pub fn lease(tx: &mut WriteTx, id: AttachmentId, until: Time) -> Result<(), StoreError> {
    let sql = "UPDATE attachment_check SET leased_until = $2 WHERE attachment = $1";
    tx.execute(sql, args![id, until])?;
    Ok(())
}

/// Inserts a new attachment as verified, because its bytes were hashed during the upload.
pub fn insert(tx: &mut WriteTx, id: AttachmentId) -> Result<(), StoreError> {
    let now = tx.now();
    let sql =
        "INSERT INTO attachment_check (attachment, verified, leased_until, damaged) VALUES ($1, $2, 0, 0)";
    tx.execute_deferred(sql, args![id, now])
}

/// Records the result of a verification. A file is damaged if it is missing or if its content differs from
/// the upload.
pub fn record(tx: &mut WriteTx, id: AttachmentId, damaged: bool) -> Result<(), StoreError> {
    let now = tx.now();
    let sql =
        "UPDATE attachment_check SET verified = $2, leased_until = 0, damaged = $3 WHERE attachment = $1";
    tx.execute(sql, args![id, now, i64::from(damaged)])?;
    Ok(())
}

/// The number of damaged attachments.
pub fn count_damaged(tx: &mut ReadTx) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM attachment_check WHERE damaged = 1";
    tx.one(sql, args![])?.take()
}
