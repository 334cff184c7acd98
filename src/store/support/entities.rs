//! The `entity` table: objects of other services that tickets can refer to.

use crate::model::change::ChangeKind;
use crate::model::entity::Entry;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::subject::{SubjectKind, VlanLabel};
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "account, kind, id, label";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("entity", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 4] = [
    Field::new("account_id", Kind::Integer, "account"),
    Field::new("type", Kind::Text, "kind"),
    Field::new("id", Kind::Integer, "id"),
    Field::new("label", Kind::Text, "label"),
];

pub fn list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<Entry>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "entity",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["account", "kind", "id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(
    tx: &mut ReadTx,
    account: AccountId,
    kind: SubjectKind,
    id: i64,
) -> Result<Option<Entry>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM entity WHERE account = $1 AND kind = $2 AND id = $3");
    let row = tx.find(&sql, args![account, kind.word(), id])?;
    row.map(|mut row| read(&mut row)).transpose()
}

/// Inserts an entry, or updates its label.
pub fn set(tx: &mut WriteTx, entry: &Entry) -> Result<(), StoreError> {
    let changed = tx.execute(
        "INSERT INTO entity (account, kind, id, label) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account, kind, id) DO UPDATE SET label = excluded.label WHERE entity.label <> excluded.label",
        args![entry.account, entry.kind.word(), entry.id, entry.label.as_str()],
    )?;
    match changed {
        0 => Ok(()),
        _ => tx.changed(entry.account, ChangeKind::Entity, entry.id),
    }
}

pub fn delete(tx: &mut WriteTx, entry: &Entry) -> Result<(), StoreError> {
    let sql = "DELETE FROM entity WHERE account = $1 AND kind = $2 AND id = $3";
    tx.execute(sql, args![entry.account, entry.kind.word(), entry.id])?;
    tx.changed(entry.account, ChangeKind::Entity, entry.id)
}

/// The stable ID of a VLAN. Creates the ID if it does not exist.
pub fn vlan(
    tx: &mut WriteTx,
    account: AccountId,
    region: &str,
    label: &VlanLabel,
) -> Result<i64, StoreError> {
    let sql = "SELECT id FROM vlan WHERE account = $1 AND region = $2 AND label = $3";
    if let Some(mut known) = tx.find(sql, args![account, region, label])? {
        return known.take();
    }
    let sql = "INSERT INTO vlan (account, region, label) VALUES ($1, $2, $3) RETURNING id";
    let id = tx.one(sql, args![account, region, label])?.take()?;
    tx.changed(account, ChangeKind::Vlan, id)?;
    Ok(id)
}

fn read(row: &mut Row) -> Result<Entry, StoreError> {
    Ok(Entry {
        account: row.take()?,
        kind: row.take()?,
        id: row.take()?,
        label: row.take()?,
    })
}

impl FromValue for SubjectKind {
    fn from_value(value: Value) -> Option<Self> {
        SubjectKind::with_word(value.as_text()?)
    }
}
