//! The mark of a store whose restore has not finished: a table that exists only until the restore ends.
//!
//! A restore marks an empty database first and removes the mark last. No other command and no server opens a marked
//! store. A restore that starts again recognizes its own mark and clears the database.

use super::error::StoreError;
use super::sql::Sql;
use super::tables::{OTHER_TABLES, TABLES};
use super::tx::WriteTx;
use super::value::{Row, args};
use crate::model::time::Time;

/// The table with the identity of the archive.
pub const TABLE: &str = "unfinished_restore";

/// The content of a database that is the target of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetState {
    Empty,
    /// A restore of the archive with this identity has not finished.
    Unfinished(String),
    /// The database has other content, such as "3 accounts".
    InUse(String),
}

impl TargetState {
    /// Whether the database has to be cleared before the archive can be restored. Refuses all other content.
    pub fn check(self, archive: &str) -> Result<bool, StoreError> {
        match self {
            TargetState::Empty => Ok(false),
            TargetState::Unfinished(other) if other == archive => Ok(true),
            TargetState::Unfinished(other) => Err(StoreError::Schema(format!(
                "the target has an unfinished restore of the archive {other}: restore that archive again, or choose an \
                 empty target"
            ))),
            TargetState::InUse(content) => Err(StoreError::Schema(format!(
                "the target is not empty: it has {content}. Choose a new folder or an empty database"
            ))),
        }
    }
}

/// Refuses a store with these tables if its restore has not finished.
pub fn refuse(tables: &[String]) -> Result<(), StoreError> {
    match tables.iter().any(|table| table == TABLE) {
        false => Ok(()),
        true => Err(StoreError::UnfinishedRestore(
            "a restore into this store has not finished: run the same `garth restore` again".to_owned(),
        )),
    }
}

pub fn state(sql: &mut dyn Sql) -> Result<TargetState, StoreError> {
    let tables = sql.tables()?;
    let Some(first) = tables.first() else {
        return Ok(TargetState::Empty);
    };
    let exists = |name: &str| tables.iter().any(|table| table == name);
    if exists(TABLE) {
        let mut rows = sql.query(&format!("SELECT archive FROM {TABLE}"), args![])?;
        let archive = rows.first_mut().map_or(Ok(String::new()), Row::take)?;
        return Ok(TargetState::Unfinished(archive));
    }
    if !exists("migration") || !exists("account") {
        return Ok(TargetState::InUse(format!("the table {first}")));
    }
    let mut rows = sql.query("SELECT count(*) FROM account", args![])?;
    let accounts: i64 = rows.first_mut().map_or(Ok(0), Row::take)?;
    Ok(TargetState::InUse(format!(
        "a Garth store with {accounts} accounts"
    )))
}

/// Marks an empty database. The caller must commit.
pub fn mark(sql: &mut dyn Sql, archive: &str, now: Time) -> Result<(), StoreError> {
    let create = format!("CREATE TABLE {TABLE} (archive TEXT NOT NULL, begun BIGINT NOT NULL)");
    sql.execute(&create, args![])?;
    let insert = format!("INSERT INTO {TABLE} (archive, begun) VALUES ($1, $2)");
    sql.execute(&insert, args![archive, now])?;
    Ok(())
}

/// Drops the tables of an unfinished restore, and no others. The caller must commit.
pub fn drop_tables(sql: &mut dyn Sql) -> Result<(), StoreError> {
    let existing = sql.tables()?;
    // A table is dropped before the tables that it refers to.
    let archived = TABLES.iter().rev().map(|table| table.name);
    for name in OTHER_TABLES.into_iter().chain(archived).chain([TABLE]) {
        if existing.iter().any(|table| table == name) {
            sql.execute(&format!("DROP TABLE {name}"), args![])?;
        }
    }
    Ok(())
}

/// Removes the mark: from its commit on, the store can be used.
pub fn finish(tx: &mut WriteTx) -> Result<(), StoreError> {
    tx.execute(&format!("DROP TABLE {TABLE}"), args![]).map(drop)
}
