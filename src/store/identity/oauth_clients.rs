//! The `oauth_client` table.

use crate::model::change::ChangeKind;
use crate::model::id::AccountId;
use crate::model::oauth::{ClientLabel, OauthClient, RedirectUri};
use crate::model::page::Paged;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, account, label, redirect_uri, secret, is_public, status, created";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("oauth_client", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 4] = [
    Field::new("id", Kind::Text, "id"),
    Field::new("label", Kind::Text, "label"),
    Field::new("public", Kind::Boolean, "is_public"),
    Field::new("status", Kind::Text, "status"),
];

pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    query: &ListQuery,
) -> Result<Paged<OauthClient>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "oauth_client",
        condition: "account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["number"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// All clients of all accounts and of the provider, ordered by creation.
pub fn list_all(tx: &mut ReadTx) -> Result<Vec<OauthClient>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM oauth_client ORDER BY number");
    tx.read(&sql, args![], read)
}

pub fn find(tx: &mut ReadTx, id: &str) -> Result<Option<OauthClient>, StoreError> {
    // PostgreSQL refuses a text with a NUL character.
    if !OauthClient::is_id(id) {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM oauth_client WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

pub fn insert(tx: &mut WriteTx, client: &OauthClient) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO oauth_client (id, number, account, label, redirect_uri, secret, is_public, status, created)
         SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM oauth_client",
        args![
            client.id.as_str(),
            client.account,
            &client.label,
            &client.redirect_uri,
            client.secret.as_str(),
            client.public,
            client.status.as_str(),
            client.created,
        ],
    )?;
    report_change(tx, &client.id)
}

/// The `number` of an account's newest client; zero if there is none.
pub fn newest(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(max(number), 0) FROM oauth_client WHERE account = $1";
    tx.one(sql, args![account])?.take()
}

/// Whether the account has a client with these values that was created after the client with the number
/// `after`.
pub fn has_duplicate(
    tx: &mut ReadTx,
    account: AccountId,
    (label, redirect_uri, public): (&ClientLabel, &RedirectUri, bool),
    after: i64,
) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM oauth_client WHERE account = $1 AND number > $2 AND label = $3 AND redirect_uri = $4
             AND is_public = $5 LIMIT 1",
        args![account, after, label, redirect_uri, public],
    )?;
    Ok(row.is_some())
}

pub fn update(tx: &mut WriteTx, client: &OauthClient) -> Result<(), StoreError> {
    let rows = tx.execute(
        "UPDATE oauth_client SET label = $2, redirect_uri = $3, secret = $4
         WHERE id = $1 AND (label <> $2 OR redirect_uri <> $3 OR secret <> $4)",
        args![
            client.id.as_str(),
            &client.label,
            &client.redirect_uri,
            client.secret.as_str()
        ],
    )?;
    match rows {
        0 => Ok(()),
        _ => report_change(tx, &client.id),
    }
}

/// Deletes a client and its authorizations.
pub fn delete(tx: &mut WriteTx, id: &str) -> Result<(), StoreError> {
    report_change(tx, id)?;
    tx.execute("DELETE FROM oauth_client WHERE id = $1", args![id])?;
    Ok(())
}

/// Reports a change of a client. The change log identifies a client by its number.
fn report_change(tx: &mut WriteTx, id: &str) -> Result<(), StoreError> {
    let sql = "SELECT account, number FROM oauth_client WHERE id = $1";
    let Some(mut row) = tx.find(sql, args![id])? else {
        return Ok(());
    };
    let (account, number): (Option<AccountId>, i64) = (row.take()?, row.take()?);
    tx.changed(account, ChangeKind::OauthClient, number)
}

fn read(row: &mut Row) -> Result<OauthClient, StoreError> {
    Ok(OauthClient {
        id: row.take()?,
        account: row.take()?,
        label: row.take()?,
        redirect_uri: row.take()?,
        secret: row.take()?,
        public: row.take()?,
        status: row.take()?,
        created: row.take()?,
    })
}

impl<'a> From<&'a ClientLabel> for Value<'a> {
    fn from(label: &'a ClientLabel) -> Self {
        Value::from(label.as_str())
    }
}

impl FromValue for ClientLabel {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}

impl<'a> From<&'a RedirectUri> for Value<'a> {
    fn from(uri: &'a RedirectUri) -> Self {
        Value::from(uri.as_str())
    }
}

impl FromValue for RedirectUri {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}
