//! The `login_record` table: the latest log-in attempts of each tenant. Staff have no records.

use crate::model::id::{AccountId, LoginRecordId, UserId};
use crate::model::login_record::{LoginRecord, LoginStatus};
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, created, ip, username, restricted, status";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("login_record", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 6] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("datetime", Kind::Time, "created").increasing(),
    Field::new("ip", Kind::Text, "ip"),
    Field::new("username", Kind::Text, "username"),
    Field::new("restricted", Kind::Boolean, "restricted"),
    Field::new("status", Kind::Text, "status"),
];

/// The users whose attempts are listed.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    Account(AccountId),
    User(UserId),
}

impl Scope {
    /// The condition, which uses `$1`, and its argument.
    fn condition(self) -> (&'static str, Value<'static>) {
        match self {
            Scope::Account(account) => ("account = $1", account.into()),
            Scope::User(user) => ("app_user = $1", user.into()),
        }
    }
}

pub fn list(tx: &mut ReadTx, scope: Scope, query: &ListQuery) -> Result<Paged<LoginRecord>, StoreError> {
    let (condition, arg) = scope.condition();
    let collection = Collection {
        columns: COLUMNS,
        from: "login_record",
        condition: condition.to_owned(),
        args: vec![arg],
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, scope: Scope, id: LoginRecordId) -> Result<Option<LoginRecord>, StoreError> {
    let (condition, arg) = scope.condition();
    let sql = format!("SELECT {COLUMNS} FROM login_record WHERE {condition} AND id = $2");
    tx.find(&sql, &[arg, id.into()])?.as_mut().map(read).transpose()
}

/// Records a log-in attempt of a tenant. Does nothing for a staff user. If the tenant has more than `limit`
/// attempts with the same result, the oldest of them are deleted. Does not raise the revision, so that
/// password guessing does not fill the change log.
pub fn insert(
    tx: &mut WriteTx,
    user: UserId,
    ip: &str,
    status: LoginStatus,
    limit: i64,
) -> Result<(), StoreError> {
    let now = tx.now();
    let inserted = tx.execute(
        "INSERT INTO login_record (app_user, account, username, restricted, created, ip, status)
         SELECT id, account, username, restricted, $2, $3, $4 FROM app_user WHERE id = $1 AND account IS NOT NULL",
        args![user, now, ip, status.word()],
    )?;
    if inserted == 0 {
        return Ok(());
    }
    tx.execute(
        "DELETE FROM login_record WHERE app_user = $1 AND status = $2 AND id <=
             (SELECT r.id FROM login_record r WHERE r.app_user = $1 AND r.status = $2
              ORDER BY r.id DESC LIMIT 1 OFFSET $3)",
        args![user, status.word(), limit],
    )?;
    Ok(())
}

/// Deletes up to `limit` attempts that were made before a time. Returns the number of deleted attempts.
pub fn delete_before(tx: &mut WriteTx, before: Time, limit: i64) -> Result<u64, StoreError> {
    let sql =
        "DELETE FROM login_record WHERE id IN (SELECT id FROM login_record WHERE created < $1 LIMIT $2)";
    tx.execute(sql, args![before, limit])
}

fn read(row: &mut Row) -> Result<LoginRecord, StoreError> {
    Ok(LoginRecord {
        id: row.take()?,
        created: row.take()?,
        ip: row.take()?,
        username: row.take()?,
        restricted: row.take()?,
        status: row.take()?,
    })
}

impl FromValue for LoginStatus {
    fn from_value(value: Value) -> Option<Self> {
        let word = value.as_text()?;
        [LoginStatus::Successful, LoginStatus::Failed]
            .into_iter()
            .find(|status| status.word() == word)
    }
}
