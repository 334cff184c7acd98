//! The changes of one commit. The commit raises the revision of each changed account by one, and adds a row to the
//! change log for each changed object (decision 0026).

use std::collections::{BTreeMap, BTreeSet};

use super::error::StoreError;
use super::sql::Sql;
use super::value::{Value, args};
use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, ConfigId, EventId, InstanceId, InterfaceId, TicketId, TokenId, UserId};

/// The pseudo-account whose revision covers the provider's objects: staff users, their work on tickets, canned replies.
pub const PROVIDER: AccountId = AccountId(0);
const MAX_ROWS_PER_INSERT: usize = 16;

/// Identifies the account whose revision a change raises: by its ID, or by an object that belongs to the
/// account.
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

/// If a user or an OAuth client has no account, the owner is the provider.
impl From<Option<AccountId>> for Owner {
    fn from(account: Option<AccountId>) -> Self {
        Owner::Account(account.unwrap_or(PROVIDER))
    }
}

/// The changes that are not written to the change log yet.
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

    /// Raises the revisions and appends to the change log. Must run just before the commit.
    // Not inlined, because `bench/run instructions` counts the instructions of this function.
    #[inline(never)]
    pub fn write(self, sql: &mut dyn Sql) -> Result<(), StoreError> {
        for (account, changes) in self.0 {
            sql.execute_deferred(
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

/// Inserts the changes in chunks of 16, 8, 4, 2 and 1 rows, so that five prepared statements are enough for
/// any number of rows.
fn append(
    sql: &mut dyn Sql,
    account: AccountId,
    mut changes: &[(ChangeKind, i64)],
) -> Result<(), StoreError> {
    while !changes.is_empty() {
        let size = MAX_ROWS_PER_INSERT.min(1 << changes.len().ilog2());
        let (chunk, rest) = changes.split_at(size);
        let mut args = vec![Value::Int(account.0)];
        for (kind, id) in chunk {
            args.push(kind.word().into());
            args.push(Value::Int(*id));
        }
        sql.execute_deferred(insert_statement(size), &args)?;
        changes = rest;
    }
    Ok(())
}

/// The cached statement that inserts this number of rows.
fn insert_statement(rows: usize) -> &'static str {
    use std::sync::OnceLock;
    static STATEMENTS: OnceLock<[String; 5]> = OnceLock::new();
    let statements = STATEMENTS.get_or_init(|| [1, 2, 4, 8, MAX_ROWS_PER_INSERT].map(insert_sql));
    &statements[rows.ilog2() as usize]
}

fn insert_sql(rows: usize) -> String {
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

impl Owner {
    /// The account, if the owner is an account. Otherwise `Err` has the query that finds the account, and the
    /// argument of the query.
    pub fn account(self) -> Result<AccountId, (&'static str, i64)> {
        Err(match self {
            Owner::Account(account) => return Ok(account),
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
        })
    }
}
