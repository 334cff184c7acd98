//! The `canned_reply` table.

use crate::model::canned_reply::{CannedLabel, CannedReply, Template};
use crate::model::change::ChangeKind;
use crate::model::id::CannedReplyId;
use crate::model::page::Paged;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "id, label, description, created, updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("canned_reply", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 4] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("label", Kind::Text, "label"),
    Field::new("created", Kind::Time, "created"),
    Field::new("updated", Kind::Time, "updated"),
];

pub fn list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<CannedReply>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "canned_reply",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, id: CannedReplyId) -> Result<Option<CannedReply>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM canned_reply WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

/// Whether a canned reply has this label. Ignores the canned reply `except`.
pub fn has_label(
    tx: &mut ReadTx,
    label: &CannedLabel,
    except: Option<CannedReplyId>,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM canned_reply WHERE lower(label) = lower($1) AND id IS DISTINCT FROM $2";
    Ok(tx.find(sql, args![label, except])?.is_some())
}

pub fn insert(
    tx: &mut WriteTx,
    label: &CannedLabel,
    description: &Template,
) -> Result<CannedReply, StoreError> {
    let now = tx.now();
    let sql = format!(
        "INSERT INTO canned_reply (label, description, created, updated) VALUES ($1, $2, $3, $3)
         RETURNING {COLUMNS}"
    );
    let reply = read(&mut tx.one(&sql, args![label, description, now])?)?;
    tx.changed(PROVIDER, ChangeKind::CannedReply, reply.id.0)?;
    Ok(reply)
}

pub fn update(tx: &mut WriteTx, reply: &CannedReply) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE canned_reply SET label = $2, description = $3, updated = $4 WHERE id = $1",
        args![reply.id, &reply.label, &reply.description, reply.updated],
    )?;
    tx.changed(PROVIDER, ChangeKind::CannedReply, reply.id.0)
}

pub fn delete(tx: &mut WriteTx, id: CannedReplyId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM canned_reply WHERE id = $1", args![id])?;
    tx.changed(PROVIDER, ChangeKind::CannedReply, id.0)
}

fn read(row: &mut Row) -> Result<CannedReply, StoreError> {
    Ok(CannedReply {
        id: row.take()?,
        label: row.take()?,
        description: row.take()?,
        created: row.take()?,
        updated: row.take()?,
    })
}
