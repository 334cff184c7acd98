//! The `ssh_key` table.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::id::{SshKeyId, UserId};
use crate::model::page::Paged;
use crate::model::ssh_key::{KeyLabel, PublicKey, SshKey};
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "id, app_user, label, public_key, created";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("ssh_key", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 3] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("label", Kind::Text, "label"),
    Field::new("created", Kind::Time, "created"),
];

/// The keys of a user.
pub fn list(tx: &mut ReadTx, user: UserId, query: &ListQuery) -> Result<Paged<SshKey>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "ssh_key",
        condition: "app_user = $1".to_owned(),
        args: args![user].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, user: UserId, id: SshKeyId) -> Result<Option<SshKey>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM ssh_key WHERE id = $1 AND app_user = $2");
    tx.find(&sql, args![id, user])?.as_mut().map(read).transpose()
}

pub fn count(tx: &mut ReadTx, user: UserId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM ssh_key WHERE app_user = $1";
    tx.one(sql, args![user])?.take()
}

/// The labels of each user's keys, ordered by creation.
pub fn labels(tx: &mut ReadTx, users: &[UserId]) -> Result<HashMap<UserId, Vec<String>>, StoreError> {
    let mut labels: HashMap<UserId, Vec<String>> = HashMap::new();
    if users.is_empty() {
        return Ok(labels);
    }
    let ids: Vec<i64> = users.iter().map(|user| user.0).collect();
    let (list, args) = id_list(&ids);
    let sql = format!("SELECT app_user, label FROM ssh_key WHERE app_user IN {list} ORDER BY id");
    for mut row in tx.all(&sql, &args)? {
        labels.entry(row.take()?).or_default().push(row.take()?);
    }
    Ok(labels)
}

pub fn insert(
    tx: &mut WriteTx,
    user: UserId,
    label: &KeyLabel,
    key: &PublicKey,
) -> Result<SshKeyId, StoreError> {
    let now = tx.now();
    let sql =
        "INSERT INTO ssh_key (app_user, label, public_key, created) VALUES ($1, $2, $3, $4) RETURNING id";
    let id: SshKeyId = tx.one(sql, args![user, label, key, now])?.take()?;
    report_change(tx, user, id)?;
    Ok(id)
}

pub fn set_label(tx: &mut WriteTx, key: &SshKey) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE ssh_key SET label = $2 WHERE id = $1",
        args![key.id, &key.label],
    )?;
    report_change(tx, key.user, key.id)
}

pub fn delete(tx: &mut WriteTx, key: &SshKey) -> Result<(), StoreError> {
    tx.execute("DELETE FROM ssh_key WHERE id = $1", args![key.id])?;
    report_change(tx, key.user, key.id)
}

/// Reports a change of a key and of its user, because the labels of the keys are part of the user.
fn report_change(tx: &mut WriteTx, user: UserId, id: SshKeyId) -> Result<(), StoreError> {
    tx.changed(Owner::User(user), ChangeKind::SshKey, id.0)?;
    tx.changed(Owner::User(user), ChangeKind::User, user.0)
}

fn read(row: &mut Row) -> Result<SshKey, StoreError> {
    Ok(SshKey {
        id: row.take()?,
        user: row.take()?,
        label: row.take()?,
        key: row.take()?,
        created: row.take()?,
    })
}
