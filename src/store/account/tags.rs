//! The `tag` table, and `instance_tag`, which has the tags of instances.
//!
//! A tag that a user has created is permanent: it remains until a user deletes it. Any other tag exists only while an
//! instance has it.

use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, InstanceId};
use crate::model::instance::InstanceLabel;
use crate::model::object_tag::{ObjectTag, TagLabel};
use crate::model::page::Paged;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, Value, args};

const COLUMNS: &str = "t.id, t.label";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("tag t", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 1] = [Field::new("label", Kind::Text, "t.label")];

pub fn list(tx: &mut ReadTx, account: AccountId, query: &ListQuery) -> Result<Paged<ObjectTag>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "tag t",
        condition: "t.account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["t.label"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, account: AccountId, label: &str) -> Result<Option<ObjectTag>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tag t WHERE t.account = $1 AND t.label = $2");
    tx.find(&sql, args![account, label])?
        .as_mut()
        .map(read)
        .transpose()
}

/// The number of tags that users of the account have created.
pub fn count_permanent(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM tag WHERE account = $1 AND is_permanent = 1";
    tx.one(sql, args![account])?.take()
}

pub fn is_permanent(tx: &mut ReadTx, account: AccountId, label: &TagLabel) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM tag WHERE account = $1 AND label = $2 AND is_permanent = 1";
    Ok(tx.find(sql, args![account, label])?.is_some())
}

/// Creates a permanent tag, or makes an existing tag permanent.
pub fn keep(tx: &mut WriteTx, account: AccountId, label: &TagLabel) -> Result<(), StoreError> {
    let sql = "INSERT INTO tag (account, label, is_permanent) VALUES ($1, $2, 1)
        ON CONFLICT (account, label) DO UPDATE SET is_permanent = 1 RETURNING id";
    let id: i64 = tx.one(sql, args![account, label])?.take()?;
    tx.changed(account, ChangeKind::Tag, id)
}

/// The elements of `ids` that are not IDs of instances of the account.
pub fn unknown_instances(
    tx: &mut ReadTx,
    account: AccountId,
    ids: &[i64],
) -> Result<std::collections::HashSet<i64>, StoreError> {
    let mut unknown = ids.iter().copied().collect();
    if ids.is_empty() {
        return Ok(unknown);
    }
    let (list, mut args) = id_list(ids);
    args.push(account.into());
    let sql = format!(
        "SELECT id FROM instance WHERE id IN {list} AND account = ${}",
        args.len()
    );
    for mut row in tx.all(&sql, &args)? {
        unknown.remove(&row.take()?);
    }
    Ok(unknown)
}

/// The instances in `ids` that have at least `limit` tags, but do not have this tag.
pub fn full_instances(
    tx: &mut ReadTx,
    ids: &[i64],
    label: &TagLabel,
    limit: i64,
) -> Result<Vec<i64>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (list, mut args) = id_list(ids);
    args.extend([Value::from(label.as_str()), Value::from(limit)]);
    let (label, limit) = (args.len() - 1, args.len());
    let sql = format!(
        "SELECT instance FROM instance_tag WHERE instance IN {list}
         GROUP BY instance
         HAVING count(*) >= ${limit} AND sum(CASE WHEN label = ${label} THEN 1 ELSE 0 END) = 0"
    );
    tx.read(&sql, &args, |row| row.take())
}

/// Adds a tag to these instances of the account. Skips instances that already have the tag. Returns the changed
/// instances by ID.
pub fn add_to_instances(
    tx: &mut WriteTx,
    account: AccountId,
    label: &TagLabel,
    ids: &[i64],
) -> Result<Vec<(InstanceId, InstanceLabel)>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let now = tx.now();
    let (list, mut args) = id_list(ids);
    args.extend([
        Value::from(account),
        Value::from(label.as_str()),
        Value::from(now),
    ]);
    let [account_at, label_at, now_at] = [2, 1, 0].map(|back| args.len() - back);
    let sql = format!(
        "UPDATE instance SET tags = CASE WHEN tags = '' THEN '' ELSE tags || '\n' END || CAST(${label_at} AS TEXT),
             updated = CASE WHEN updated < ${now_at} THEN ${now_at} ELSE updated END
         WHERE id IN {list} AND account = ${account_at} AND NOT EXISTS (SELECT 1 FROM instance_tag t
             WHERE t.account = ${account_at} AND t.label = ${label_at} AND t.instance = instance.id)
         RETURNING id, label"
    );
    let tagged = report_changed(tx, account, &sql, &args)?;
    for (instance, _) in &tagged {
        link(tx, account, label.as_str(), *instance)?;
    }
    Ok(tagged)
}

/// Updates `tag` and `instance_tag` after the tags in `instance.tags` have changed.
pub fn replace(
    tx: &mut WriteTx,
    account: AccountId,
    instance: InstanceId,
    (old, new): (&[String], &[String]),
) -> Result<(), StoreError> {
    for label in new.iter().filter(|label| !old.contains(label)) {
        let sql = "INSERT INTO tag (account, label, is_permanent) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING RETURNING id";
        if let Some(mut row) = tx.find(sql, args![account, label.as_str()])? {
            let id = row.take()?;
            tx.changed(account, ChangeKind::Tag, id)?;
        }
        link(tx, account, label, instance)?;
    }
    for label in old.iter().filter(|label| !new.contains(label)) {
        let sql = "DELETE FROM instance_tag WHERE account = $1 AND label = $2 AND instance = $3";
        tx.execute(sql, args![account, label.as_str(), instance])?;
        let sql = "DELETE FROM tag WHERE account = $1 AND label = $2 AND is_permanent = 0 AND NOT EXISTS
            (SELECT 1 FROM instance_tag WHERE account = $1 AND label = $2) RETURNING id";
        if let Some(mut row) = tx.find(sql, args![account, label.as_str()])? {
            let id = row.take()?;
            tx.changed(account, ChangeKind::Tag, id)?;
        }
    }
    Ok(())
}

fn link(tx: &mut WriteTx, account: AccountId, label: &str, instance: InstanceId) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO instance_tag (account, label, instance) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    tx.execute(sql, args![account, label, instance])?;
    Ok(())
}

/// Deletes a tag, and removes it from all instances. Returns the changed instances by ID.
pub fn delete(
    tx: &mut WriteTx,
    account: AccountId,
    tag: &ObjectTag,
) -> Result<Vec<(InstanceId, InstanceLabel)>, StoreError> {
    let now = tx.now();
    let untagged = report_changed(
        tx,
        account,
        "UPDATE instance SET
             tags = trim(replace('\n' || tags || '\n', '\n' || CAST($2 AS TEXT) || '\n', '\n'), '\n'),
             updated = CASE WHEN updated < $3 THEN $3 ELSE updated END
         WHERE id IN (SELECT t.instance FROM instance_tag t WHERE t.account = $1 AND t.label = $2)
         RETURNING id, label",
        args![account, &tag.label, now],
    )?;
    let sql = "DELETE FROM instance_tag WHERE account = $1 AND label = $2";
    tx.execute(sql, args![account, &tag.label])?;
    tx.execute("DELETE FROM tag WHERE id = $1", args![tag.id])?;
    tx.changed(account, ChangeKind::Tag, tag.id)?;
    Ok(untagged)
}

/// Runs an update that returns the ID and label of each instance, and reports the changes.
fn report_changed(
    tx: &mut WriteTx,
    account: AccountId,
    sql: &str,
    args: &[Value],
) -> Result<Vec<(InstanceId, InstanceLabel)>, StoreError> {
    let mut changed: Vec<(InstanceId, InstanceLabel)> =
        tx.read(sql, args, |row| Ok((row.take()?, row.take()?)))?;
    changed.sort_unstable_by_key(|(id, _)| id.0);
    for (instance, _) in &changed {
        tx.changed(account, ChangeKind::Instance, instance.0)?;
    }
    Ok(changed)
}

fn read(row: &mut Row) -> Result<ObjectTag, StoreError> {
    Ok(ObjectTag {
        id: row.take()?,
        label: row.take()?,
    })
}
