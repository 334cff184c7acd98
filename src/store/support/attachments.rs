//! The tables `attachment` and `upload`. An upload is a stored file that is not an attachment yet.

use crate::model::attachment::{Attachment, NewAttachment, is_storage_key};
use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tallies::{self, Tally};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

pub(in crate::store) const COLUMNS: &str =
    "id, ticket, name, size, sha256, file_key, created, created_by, from_staff";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("attachment", COLUMNS, |row| validate_key(&read(row)?));

pub static FIELDS: [Field; 6] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("name", Kind::Text, "name"),
    Field::new("size", Kind::Integer, "size"),
    Field::new("sha256", Kind::Text, "sha256"),
    Field::new("created", Kind::Time, "created"),
    Field::new("created_by", Kind::Text, "created_by"),
];

pub fn list(tx: &mut ReadTx, ticket: TicketId, query: &ListQuery) -> Result<Paged<Attachment>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "attachment",
        condition: "ticket = $1".to_owned(),
        args: args![ticket].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, ticket: TicketId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM attachment WHERE id = $1 AND ticket = $2");
    tx.find(&sql, args![id, ticket])?.as_mut().map(read).transpose()
}

/// All attachments of all accounts.
pub fn all(tx: &mut ReadTx) -> Result<Vec<Attachment>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM attachment");
    tx.read(&sql, args![], read)
}

/// The attachments of all accounts that were created after another one.
pub fn after(tx: &mut ReadTx, last: i64) -> Result<Vec<Attachment>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM attachment WHERE id > $1 ORDER BY id");
    tx.read(&sql, args![last], read)
}

/// The keys of the files of all attachments and uploads.
pub fn file_keys(tx: &mut ReadTx) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT file_key FROM attachment UNION ALL SELECT file_key FROM upload";
    tx.read(sql, args![], |row| row.take())
}

/// The keys of all uploads.
pub fn uploads(tx: &mut ReadTx) -> Result<Vec<String>, StoreError> {
    tx.read("SELECT file_key FROM upload", args![], |row| row.take())
}

/// The number of attachments of a ticket by users of the account, or by staff.
pub fn count(tx: &mut ReadTx, ticket: TicketId, from_staff: bool) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM attachment WHERE ticket = $1 AND from_staff = $2";
    tx.one(sql, args![ticket, from_staff])?.take()
}

/// The total size of the attachments by users of the account, in bytes.
pub fn bytes_of(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    tallies::count(tx, &bytes_tally(account))
}

fn bytes_tally(account: AccountId) -> Tally {
    Tally::of("attachment_bytes", account.0)
}

/// Inserts an attachment of a ticket.
pub fn insert(
    tx: &mut WriteTx,
    account: AccountId,
    ticket: TicketId,
    (created_by, from_staff): (&str, bool),
    new: &NewAttachment,
) -> Result<Attachment, StoreError> {
    let now = tx.now();
    let sql = format!(
        "INSERT INTO attachment (ticket, name, size, sha256, file_key, created, created_by, from_staff)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING {COLUMNS}"
    );
    let args = args![
        ticket,
        &new.name,
        new.size,
        new.sha256.as_str(),
        new.key.as_str(),
        now,
        created_by,
        from_staff
    ];
    let attachment = read(&mut tx.one(&sql, args)?)?;
    if !from_staff {
        tx.tally(bytes_tally(account), attachment.id.0, attachment.size);
    }
    tx.changed(account, ChangeKind::Attachment, attachment.id.0)?;
    Ok(attachment)
}

/// Records that a file is about to be stored under a key.
pub fn begin_upload(tx: &mut WriteTx, key: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO upload (file_key, begun) VALUES ($1, $2)";
    tx.execute(sql, args![key, now])?;
    Ok(())
}

/// Deletes an upload. Returns false if it does not exist.
pub fn delete_upload(tx: &mut WriteTx, key: &str) -> Result<bool, StoreError> {
    Ok(tx.execute("DELETE FROM upload WHERE file_key = $1", args![key])? > 0)
}

/// Marks all uploads as stale, so that `stale_uploads` returns them.
pub fn expire_uploads(tx: &mut WriteTx) -> Result<(), StoreError> {
    tx.execute("UPDATE upload SET begun = 0", args![])?;
    Ok(())
}

/// The keys of up to `limit` uploads that began before a time.
pub fn stale_uploads(tx: &mut ReadTx, before: Time, limit: i64) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT file_key FROM upload WHERE begun < $1 ORDER BY begun LIMIT $2";
    let rows = tx.all(sql, args![before, limit])?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Refuses a storage key that could name another folder.
fn validate_key(attachment: &Attachment) -> Result<(), StoreError> {
    match is_storage_key(&attachment.key) {
        true => Ok(()),
        false => Err(StoreError::Unexpected(format!(
            "attachment {} has the invalid storage key {:?}",
            attachment.id.0, attachment.key
        ))),
    }
}

pub(in crate::store) fn read(row: &mut Row) -> Result<Attachment, StoreError> {
    Ok(Attachment {
        id: row.take()?,
        ticket: row.take()?,
        name: row.take()?,
        size: row.take()?,
        sha256: row.take()?,
        key: row.take()?,
        created: row.take()?,
        created_by: row.take()?,
        from_staff: row.take()?,
    })
}
