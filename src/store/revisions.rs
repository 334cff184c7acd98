//! The revision of each account, and the log of what each of its commits has changed.
//!
//! Functions of the store that write a row report it (`WriteTx::changed`). What all the writes of one commit have
//! reported is folded (`changes.rs`) and written just before it: the revision of each account rises once, and the log gets one row for
//! each thing that was changed. A commit that changes nothing of an account, or is refused, leaves both as they are.
//! Readers: decision 0026.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{FromValue, Row, Value, args};
use crate::model::change::{Change, ChangeKind};
use crate::model::id::AccountId;

/// How many revisions of an account remain in the log when it is trimmed.
const KEPT_REVISIONS: i64 = 1000;
/// How many commits have changed something of an account.
pub fn current(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT revision FROM account_revision WHERE account = $1";
    let row = tx.find(sql, args![account])?;
    row.map_or(Ok(0), |mut row| row.take())
}

/// What was changed after a revision, in the order of the commits, at most so many rows; `None` if the log does not go
/// back so far, so that a reader has to start over.
pub fn since(
    tx: &mut ReadTx,
    account: AccountId,
    revision: i64,
    most: i64,
) -> Result<Option<Vec<Change>>, StoreError> {
    let sql = "SELECT log_start FROM account_revision WHERE account = $1";
    let start = tx.find(sql, args![account])?;
    let start: i64 = start.map_or(Ok(0), |mut row| row.take())?;
    if revision < start {
        return Ok(None);
    }
    let sql = "SELECT revision, kind, id FROM change_log WHERE account = $1 AND revision > $2
        ORDER BY revision, kind, id LIMIT $3";
    let read = |row: &mut Row| {
        Ok(Change {
            revision: row.take()?,
            kind: row.take()?,
            id: row.take()?,
        })
    };
    tx.read(sql, args![account, revision, most], read).map(Some)
}

/// Shortens the logs that have grown to twice what is kept, of a few accounts at a time; whether there may be more.
pub fn trim(tx: &mut WriteTx, most: i64) -> Result<bool, StoreError> {
    let sql = "SELECT account, revision FROM account_revision WHERE revision - log_start > $1 LIMIT $2";
    let long = tx.all(sql, args![2 * KEPT_REVISIONS, most])?;
    let accounts = long.len() as i64;
    for mut row in long {
        let (account, revision): (AccountId, i64) = (row.take()?, row.take()?);
        let start = revision - KEPT_REVISIONS;
        tx.execute(
            "DELETE FROM change_log WHERE account = $1 AND revision <= $2",
            args![account, start],
        )?;
        tx.execute(
            "UPDATE account_revision SET log_start = $2 WHERE account = $1",
            args![account, start],
        )?;
    }
    Ok(accounts == most)
}

impl FromValue for ChangeKind {
    fn from_value(value: Value) -> Option<Self> {
        let word = String::from_value(value)?;
        ChangeKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
