//! The revision of each account, and the log of what each of its commits has changed.
//!
//! Functions of the store that write a row report it (`WriteTx::changed`). What all the writes of one commit have
//! reported is folded and written just before it: the revision of each account rises once, and the log gets one row for
//! each thing that was changed. A commit that changes nothing of an account, or is refused, leaves both as they are.
//! Readers: decision 0026.

use std::collections::{BTreeMap, BTreeSet};

use super::error::StoreError;
use super::tx::{ReadTx, Sql, WriteTx};
use super::value::{FromValue, Row, Value, args};
use crate::model::change::{Change, ChangeKind};
use crate::model::id::{AccountId, ConfigId, EventId, InstanceId, InterfaceId, TicketId, TokenId, UserId};

/// The provider's own things have a revision too: its staff, what they do with tickets, canned replies.
pub const PROVIDER: AccountId = AccountId(0);
/// How many revisions of an account remain in the log when it is trimmed.
const KEPT_REVISIONS: i64 = 1000;
/// How many log rows one statement inserts at most.
const ROWS_AT_ONCE: usize = 16;

/// Whose revision a change raises, if the account itself is not at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    Account(AccountId),
    User(UserId),
    Token(TokenId),
    OauthGrant(i64),
    Instance(InstanceId),
    Config(ConfigId),
    Interface(InterfaceId),
    Ticket(TicketId),
    Event(EventId),
}

impl From<AccountId> for Owner {
    fn from(account: AccountId) -> Self {
        Owner::Account(account)
    }
}

/// The account of a user or a client; without one it is the provider's.
impl From<Option<AccountId>> for Owner {
    fn from(account: Option<AccountId>) -> Self {
        Owner::Account(account.unwrap_or(PROVIDER))
    }
}

/// The changes that are not in the log yet.
#[derive(Debug, Default)]
pub struct PendingChanges(BTreeMap<AccountId, BTreeSet<(ChangeKind, i64)>>);

impl PendingChanges {
    pub fn add(&mut self, account: AccountId, kind: ChangeKind, id: i64) {
        self.0.entry(account).or_default().insert((kind, id));
    }

    pub fn merge(&mut self, others: PendingChanges) {
        for (account, changes) in others.0 {
            self.0.entry(account).or_default().extend(changes);
        }
    }

    /// Raises the revisions and appends to the log, as the last thing before a commit.
    pub fn write(self, sql: &mut dyn Sql) -> Result<(), StoreError> {
        for (account, changes) in self.0 {
            sql.later(
                "INSERT INTO account_revision (account, revision, log_start, identity_version) VALUES ($1, 1, 0, 0)
                 ON CONFLICT (account) DO UPDATE SET revision = account_revision.revision + 1",
                args![account],
            )?;
            let changes: Vec<_> = changes.into_iter().collect();
            append(sql, account, &changes)?;
        }
        Ok(())
    }
}

/// In pieces of 16, 8, 4, 2 and 1 rows, so that few different statements are prepared.
fn append(
    sql: &mut dyn Sql,
    account: AccountId,
    mut changes: &[(ChangeKind, i64)],
) -> Result<(), StoreError> {
    while !changes.is_empty() {
        let most = ROWS_AT_ONCE.min(1 << changes.len().ilog2());
        let (some, rest) = changes.split_at(most);
        let mut args = vec![Value::Int(account.0)];
        for (kind, id) in some {
            args.push(kind.word().into());
            args.push(Value::Int(*id));
        }
        sql.later(statement(most), &args)?;
        changes = rest;
    }
    Ok(())
}

/// The statement that appends so many rows.
fn statement(rows: usize) -> &'static str {
    use std::sync::OnceLock;
    static STATEMENTS: OnceLock<[String; 5]> = OnceLock::new();
    let statements = STATEMENTS.get_or_init(|| [1, 2, 4, 8, ROWS_AT_ONCE].map(insert_rows));
    &statements[rows.ilog2() as usize]
}

fn insert_rows(rows: usize) -> String {
    let row = |at: usize| {
        let (kind, id) = (at * 2 + 2, at * 2 + 3);
        format!("($1, (SELECT revision FROM account_revision WHERE account = $1), ${kind}, ${id})")
    };
    let rows: Vec<_> = (0..rows).map(row).collect();
    format!(
        "INSERT INTO change_log (account, revision, kind, id) VALUES {}",
        rows.join(", ")
    )
}

/// The account that something belongs to; `None` if it is not there.
pub(super) fn account_of(tx: &mut ReadTx, owner: Owner) -> Result<Option<AccountId>, StoreError> {
    let (sql, id) = match owner {
        Owner::Account(account) => return Ok(Some(account)),
        Owner::User(id) => ("SELECT coalesce(account, 0) FROM app_user WHERE id = $1", id.0),
        Owner::Token(id) => (
            "SELECT coalesce(u.account, 0) FROM token t JOIN app_user u ON u.id = t.app_user WHERE t.id = $1",
            id.0,
        ),
        Owner::OauthGrant(id) => (
            "SELECT coalesce(u.account, 0) FROM oauth_grant g JOIN app_user u ON u.id = g.app_user WHERE g.id = $1",
            id,
        ),
        Owner::Instance(id) => ("SELECT account FROM instance WHERE id = $1", id.0),
        Owner::Config(id) => (
            "SELECT i.account FROM config c JOIN instance i ON i.id = c.instance WHERE c.id = $1",
            id.0,
        ),
        Owner::Interface(id) => (
            "SELECT i.account FROM interface f JOIN instance i ON i.id = f.instance WHERE f.id = $1",
            id.0,
        ),
        Owner::Ticket(id) => ("SELECT account FROM ticket WHERE id = $1", id.0),
        Owner::Event(id) => ("SELECT account FROM event WHERE id = $1", id.0),
    };
    let row = tx.find(sql, args![id])?;
    row.map(|mut row| row.take()).transpose()
}

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
