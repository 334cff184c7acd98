//! The revision of each account, and the log of the objects that each revision changed.
//!
//! Functions of the store that write a row report the change with `WriteTx::changed`. Just before a commit,
//! the store merges the changes of all writes in the commit (`changes.rs`), raises the revision of each
//! changed account by one, and appends one row to the log for each changed object. A write that is rolled
//! back changes neither the revision nor the log. Decision 0026 describes how clients read the log.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{FromValue, Row, Value, args};
use crate::model::change::{Change, ChangeKind};
use crate::model::id::AccountId;

/// The minimum number of revisions that remain in the log of an account after trimming.
const RETAINED_REVISIONS: i64 = 1000;

/// The current revision of an account: the number of commits that have changed it.
pub fn current(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT revision FROM account_revision WHERE account = $1";
    let row = tx.find(sql, args![account])?;
    row.map_or(Ok(0), |mut row| row.take())
}

/// Up to `limit` changes after a revision, in the order of the commits. `None` if the log starts after this revision.
/// The reader must then read all objects again.
pub fn since(
    tx: &mut ReadTx,
    account: AccountId,
    revision: i64,
    limit: i64,
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
    tx.read(sql, args![account, revision, limit], read).map(Some)
}

/// Trims the logs of at most `max_accounts` accounts. A log is trimmed if it has more than 2 ×
/// `RETAINED_REVISIONS` revisions. Stops after the revision with the row `max_rows`, so that a transaction is short even
/// if a log is long. Returns whether there may be more logs to trim.
pub fn trim(tx: &mut WriteTx, max_accounts: i64, max_rows: i64) -> Result<bool, StoreError> {
    let sql = "SELECT account, revision FROM account_revision WHERE revision - log_start > $1 LIMIT $2";
    let long_logs = tx.all(sql, args![2 * RETAINED_REVISIONS, max_accounts])?;
    let accounts = long_logs.len() as i64;
    let mut remaining_rows = max_rows;
    for mut row in long_logs {
        let (account, revision): (AccountId, i64) = (row.take()?, row.take()?);
        // The revision of the last row that fits, or `None` if all rows fit.
        let last: Option<i64> = tx
            .find(
                "SELECT revision FROM change_log WHERE account = $1 AND revision <= $2
                 ORDER BY revision LIMIT 1 OFFSET $3",
                args![account, revision - RETAINED_REVISIONS, remaining_rows - 1],
            )?
            .map(|mut row| row.take())
            .transpose()?;
        let start = last.unwrap_or(revision - RETAINED_REVISIONS);
        let deleted = tx.execute(
            "DELETE FROM change_log WHERE account = $1 AND revision <= $2",
            args![account, start],
        )?;
        tx.execute(
            "UPDATE account_revision SET log_start = $2 WHERE account = $1",
            args![account, start],
        )?;
        remaining_rows -= i64::try_from(deleted).unwrap_or(i64::MAX);
        if remaining_rows <= 0 {
            return Ok(true);
        }
    }
    Ok(accounts == max_accounts)
}

impl FromValue for ChangeKind {
    fn from_value(value: Value) -> Option<Self> {
        let word = String::from_value(value)?;
        ChangeKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
