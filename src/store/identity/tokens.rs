//! The `token` table, and the identities that tokens authenticate.

use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, TokenId, UserId};
use crate::model::page::Paged;
use crate::model::proof::{Identity, Proof};
use crate::model::scope::Scopes;
use crate::model::token::{NewToken, Token, TokenHash, TokenText};
use crate::store::changes::{Owner, PROVIDER};
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::grants;
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::notifier::Topic;
use crate::store::tx::{PendingQuery, ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, app_user, label, prefix, scopes, created, expiry";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("token", COLUMNS, |row| read(row).map(drop));
/// The expiry for filters. A token that does not expire has the expiry `model::token::NO_EXPIRY` in responses and filters.
const EXPIRY: &str = "coalesce(expiry, 32501970000000000)";
/// The condition that a personal token is neither revoked nor expired. `$2` is the current time.
const USABLE: &str = "kind = 'personal' AND revoked IS NULL AND (expiry IS NULL OR expiry > $2)";

/// The columns of a user that `read_identity` reads. The tables are those of `IDENTITY_TABLES`.
pub(in crate::store) const IDENTITY_COLUMNS: &str = "u.id, u.account, u.username, u.email, u.restricted,
    u.account_access, u.staff_role, u.disabled, a.status, r.identity_version";
pub(in crate::store) const IDENTITY_TABLES: &str = "app_user u LEFT JOIN account a ON a.id = u.account
    LEFT JOIN account_revision r ON r.account = coalesce(u.account, 0)";

/// The identity version of an account, or of the staff.
pub fn identity_version(tx: &mut ReadTx, account: Option<AccountId>) -> Result<i64, StoreError> {
    let pending = send_version_query(tx, account);
    receive_version(tx, pending)
}

/// Sends the query for the identity version without waiting for its result. `receive_version` returns the result.
pub fn send_version_query(tx: &mut ReadTx, account: Option<AccountId>) -> PendingQuery<i64> {
    let sql = "SELECT identity_version FROM account_revision WHERE account = $1";
    tx.send(sql, args![account.unwrap_or(PROVIDER)], |row| row.take())
}

pub fn receive_version(tx: &mut ReadTx, pending: PendingQuery<i64>) -> Result<i64, StoreError> {
    // An account without a row in `account_revision` has version 0.
    Ok(tx.receive(pending)?.pop().unwrap_or(0))
}

/// Invalidates the cached identities of an account on all nodes, from this commit on.
pub(in crate::store) fn invalidate_identities(
    tx: &mut WriteTx,
    owner: impl Into<Owner>,
) -> Result<(), StoreError> {
    let Some(account) = tx.account_of(owner)? else {
        return Ok(());
    };
    // Not deferred to the commit, so that later jobs in the same transaction also see the new version.
    tx.execute(
        "INSERT INTO account_revision (account, revision, log_start, identity_version) VALUES ($1, 0, 0, 1)
         ON CONFLICT (account) DO UPDATE SET identity_version = account_revision.identity_version + 1",
        args![account],
    )?;
    tx.notify_on_commit(Topic::Everyone);
    Ok(())
}

/// The identity of a token that is not revoked. The token may have expired.
pub fn identify(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<Identity>, StoreError> {
    let sql = format!(
        "SELECT t.id, t.scopes, t.expiry, {IDENTITY_COLUMNS}
         FROM token t, {IDENTITY_TABLES}
         WHERE u.id = t.app_user AND t.hash = $1 AND t.revoked IS NULL"
    );
    let row = tx.find(&sql, args![hash.hex()])?;
    let Some(mut row) = row else { return Ok(None) };
    let (proof, scopes) = (Proof::Token(row.take()?), row.take()?);
    read_identity(tx, hash, proof, scopes, row).map(Some)
}

/// The identity of a user whose message the mail server has verified. It has all scopes.
pub fn identity_of_sender(tx: &mut ReadTx, user: UserId) -> Result<Option<Identity>, StoreError> {
    let sql =
        format!("SELECT CAST(NULL AS BIGINT), {IDENTITY_COLUMNS} FROM {IDENTITY_TABLES} WHERE u.id = $1");
    let row = tx.find(&sql, args![user])?;
    // No token has this hash: it is the hash of a text that is not a token.
    let read = |row| read_identity(tx, TokenHash::of("mail"), Proof::Mail, Scopes::Everything, row);
    row.map(read).transpose()
}

/// Reads an identity from a row with the expiry, the columns of the user and the identity version.
pub(in crate::store) fn read_identity(
    tx: &mut ReadTx,
    hash: TokenHash,
    proof: Proof,
    scopes: Scopes,
    mut row: Row,
) -> Result<Identity, StoreError> {
    let mut identity = Identity {
        hash,
        proof,
        scopes,
        expiry: row.take()?,
        user: row.take()?,
        account: row.take()?,
        username: row.take()?,
        email: row.take()?,
        restricted: row.take()?,
        account_access: row.take()?,
        role: row.take()?,
        disabled: row.take()?,
        account_status: row.take()?,
        // An account without a row in `account_revision` has version 0.
        version: row.take::<Option<i64>>()?.unwrap_or(0),
        globals: Vec::new(),
    };
    identity.globals = grants::globals(tx, identity.user)?;
    Ok(identity)
}

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("label", Kind::Text, "label"),
    Field::new("scopes", Kind::Text, "scopes"),
    Field::new("created", Kind::Time, "created"),
    Field::new("expiry", Kind::Time, EXPIRY),
];

/// A page of a user's personal tokens that are neither revoked nor expired.
pub fn page(tx: &mut ReadTx, user: UserId, query: &ListQuery) -> Result<Paged<Token>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "token",
        condition: format!("app_user = $1 AND {USABLE}"),
        args: args![user, tx.now()].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// A personal token of a user, if the token is neither revoked nor expired.
pub fn find(tx: &mut ReadTx, user: UserId, id: TokenId) -> Result<Option<Token>, StoreError> {
    let now = tx.now();
    let sql = format!("SELECT {COLUMNS} FROM token WHERE app_user = $1 AND {USABLE} AND id = $3");
    tx.find(&sql, args![user, now, id])?
        .as_mut()
        .map(read)
        .transpose()
}

pub fn set_label(tx: &mut WriteTx, id: TokenId, label: &str) -> Result<(), StoreError> {
    let sql = "UPDATE token SET label = $2 WHERE id = $1 AND label <> $2";
    match tx.execute(sql, args![id, label])? {
        0 => Ok(()),
        _ => tx.changed(Owner::Token(id), ChangeKind::Token, id.0),
    }
}

/// The user's tokens that are not revoked, ordered by ID.
pub fn list(tx: &mut ReadTx, user: UserId) -> Result<Vec<Token>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM token WHERE app_user = $1 AND revoked IS NULL ORDER BY id");
    tx.read(&sql, args![user], read)
}

pub fn insert(tx: &mut WriteTx, new: &NewToken, text: &TokenText) -> Result<Token, StoreError> {
    let now = tx.now();
    let id: TokenId = tx
        .one(
            "INSERT INTO token (app_user, kind, label, hash, prefix, scopes, created, expiry)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
            args![
                new.user,
                new.kind.word(),
                new.label.as_str(),
                text.hash().hex(),
                text.prefix(),
                new.scopes.to_string(),
                now,
                new.expiry,
            ],
        )?
        .take()?;
    tx.changed(Owner::User(new.user), ChangeKind::Token, id.0)?;
    invalidate_identities(tx, Owner::User(new.user))?;
    Ok(Token {
        id,
        user: new.user,
        label: new.label.clone(),
        prefix: text.prefix().to_owned(),
        scopes: new.scopes.clone(),
        created: now,
        expiry: new.expiry,
    })
}

/// The ID of a user's newest token; zero if there is none.
pub fn newest(tx: &mut ReadTx, user: UserId) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(max(id), 0) FROM token WHERE app_user = $1";
    tx.one(sql, args![user])?.take()
}

/// Whether the user has created a token with the same kind, label and scopes after the token `after`. Revoked
/// tokens count, too.
pub fn has_duplicate(tx: &mut ReadTx, new: &NewToken, after: i64) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM token WHERE app_user = $1 AND id > $2 AND kind = $3 AND label = $4 AND scopes = $5 LIMIT 1",
        args![
            new.user,
            after,
            new.kind.word(),
            new.label.as_str(),
            new.scopes.to_string()
        ],
    )?;
    Ok(row.is_some())
}

/// Revokes a token. Returns false if the token was already revoked.
pub fn revoke(tx: &mut WriteTx, id: TokenId) -> Result<bool, StoreError> {
    let now = tx.now();
    let sql = "UPDATE token SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
    let revoked = tx.execute(sql, args![id, now])? > 0;
    if revoked {
        tx.changed(Owner::Token(id), ChangeKind::Token, id.0)?;
        invalidate_identities(tx, Owner::Token(id))?;
    }
    Ok(revoked)
}

fn read(row: &mut Row) -> Result<Token, StoreError> {
    Ok(Token {
        id: row.take()?,
        user: row.take()?,
        label: row.take()?,
        prefix: row.take()?,
        scopes: row.take()?,
        created: row.take()?,
        expiry: row.take()?,
    })
}

impl FromValue for Scopes {
    fn from_value(value: Value) -> Option<Self> {
        Scopes::parse(value.as_text()?).ok()
    }
}
