//! The `saved_view` table.

use crate::model::change::ChangeKind;
use crate::model::id::{SavedViewId, UserId};
use crate::model::page::Paged;
use crate::model::saved_view::{QueueFilters, SavedView, ViewLabel};
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "id, owner, created_by, label, is_shared, filters, created";
/// The condition that the user `$1` sees a view.
const VISIBLE: &str = "(owner = $1 OR is_shared = 1)";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("saved_view", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("label", Kind::Text, "label"),
    Field::new("shared", Kind::Boolean, "is_shared"),
    Field::new("created", Kind::Time, "created"),
    Field::new("created_by", Kind::Text, "created_by"),
];

/// The views of a user, and the shared views, by label.
pub fn list(tx: &mut ReadTx, user: UserId, query: &ListQuery) -> Result<Paged<SavedView>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "saved_view",
        condition: VISIBLE.to_owned(),
        args: args![user].to_vec(),
        key: &["id"],
        order: Some("lower(label), id"),
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, user: UserId, id: SavedViewId) -> Result<Option<SavedView>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM saved_view WHERE {VISIBLE} AND id = $2");
    tx.find(&sql, args![user, id])?.as_mut().map(read).transpose()
}

/// Whether the user sees a view with this label.
pub fn has_label(tx: &mut ReadTx, user: UserId, label: &ViewLabel) -> Result<bool, StoreError> {
    let sql = format!("SELECT 1 FROM saved_view WHERE {VISIBLE} AND lower(label) = lower($2)");
    Ok(tx.find(&sql, args![user, label])?.is_some())
}

pub fn count(tx: &mut ReadTx, owner: UserId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM saved_view WHERE owner = $1";
    tx.one(sql, args![owner])?.take()
}

pub fn insert(
    tx: &mut WriteTx,
    (owner, created_by): (UserId, &str),
    (label, is_shared): (&ViewLabel, bool),
    filters: &QueueFilters,
) -> Result<SavedView, StoreError> {
    let now = tx.now();
    let sql = format!(
        "INSERT INTO saved_view (owner, created_by, label, is_shared, filters, created)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING {COLUMNS}"
    );
    let args = args![owner, created_by, label, is_shared, filters.to_lines(), now];
    let saved = read(&mut tx.one(&sql, args)?)?;
    tx.changed(PROVIDER, ChangeKind::SavedView, saved.id.0)?;
    Ok(saved)
}

pub fn delete(tx: &mut WriteTx, id: SavedViewId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM saved_view WHERE id = $1", args![id])?;
    tx.changed(PROVIDER, ChangeKind::SavedView, id.0)
}

/// Deletes the views that only this user sees, before the user is deleted.
pub fn delete_private(tx: &mut WriteTx, owner: UserId) -> Result<(), StoreError> {
    let sql = "DELETE FROM saved_view WHERE owner = $1 AND is_shared = 0 RETURNING id";
    for id in tx.read(sql, args![owner], |row| row.take::<i64>())? {
        tx.changed(PROVIDER, ChangeKind::SavedView, id)?;
    }
    Ok(())
}

fn read(row: &mut Row) -> Result<SavedView, StoreError> {
    Ok(SavedView {
        id: row.take()?,
        owner: row.take()?,
        created_by: row.take()?,
        label: row.take()?,
        is_shared: row.take()?,
        filters: QueueFilters::from_lines(&row.take::<String>()?),
        created: row.take()?,
    })
}
