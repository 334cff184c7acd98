//! Tokens as rows, and the identity each of them proves.

use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, TokenId, UserId};
use crate::model::page::Paged;
use crate::model::proof::{Identity, Proof};
use crate::model::scope::Scopes;
use crate::model::token::{NewToken, Token, TokenHash, TokenText};
use crate::store::bell::Topic;
use crate::store::changes::{Owner, PROVIDER};
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::grants;
use crate::store::list::{Collection, Wanted};
use crate::store::tx::{Asked, ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, app_user, label, prefix, scopes, created, expiry";
/// A token without an end is shown with one (`model::token::NO_EXPIRY`), and found by it.
const EXPIRY: &str = "coalesce(expiry, 32501970000000000)";
const USABLE: &str = "kind = 'personal' AND revoked IS NULL AND (expiry IS NULL OR expiry > $2)";

/// Grows whenever a user, a grant or a token of the account changes. The staff have a version of their own.
pub fn identity_version(tx: &mut ReadTx, account: Option<AccountId>) -> Result<i64, StoreError> {
    let asked = ask_version(tx, account);
    hear_version(tx, asked)
}

/// The same in two steps, for those who have something else to ask as well.
pub fn ask_version(tx: &mut ReadTx, account: Option<AccountId>) -> Asked<i64> {
    let sql = "SELECT identity_version FROM account_revision WHERE account = $1";
    tx.ask(sql, args![account.unwrap_or(PROVIDER)], |row| row.take())
}

pub fn hear_version(tx: &mut ReadTx, asked: Asked<i64>) -> Result<i64, StoreError> {
    // An account whose first row is not committed yet has none.
    Ok(tx.hear(asked)?.pop().unwrap_or(0))
}

/// Makes every remembered identity of an account be read again, on every node, from this commit on.
pub(in crate::store) fn forget_identities(
    tx: &mut WriteTx,
    owner: impl Into<Owner>,
) -> Result<(), StoreError> {
    let Some(account) = tx.account_of(owner)? else {
        return Ok(());
    };
    // At once, not with the commit: what is run behind it in the same transaction sees it too.
    tx.execute(
        "INSERT INTO account_revision (account, revision, log_start, identity_version) VALUES ($1, 0, 0, 1)
         ON CONFLICT (account) DO UPDATE SET identity_version = account_revision.identity_version + 1",
        args![account],
    )?;
    tx.touch(Topic::Everyone);
    Ok(())
}

/// The identity behind a token that has not been revoked; it may have expired.
pub fn identify(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<Identity>, StoreError> {
    let row = tx.find(
        "SELECT t.id, t.scopes, t.expiry,
             u.id, u.account, u.username, u.email, u.restricted, u.account_access, r.identity_version
         FROM token t JOIN app_user u ON u.id = t.app_user
         LEFT JOIN account_revision r ON r.account = coalesce(u.account, 0)
         WHERE t.hash = $1 AND t.revoked IS NULL",
        args![hash.hex()],
    )?;
    let Some(mut row) = row else { return Ok(None) };
    let (proof, scopes) = (Proof::Token(row.take()?), row.take()?);
    read_identity(tx, hash, proof, scopes, row).map(Some)
}

/// The identity that somebody has proved, from when that ends, the user's columns and the version.
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
        // An account whose first row is not committed yet has none.
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

/// A page of the personal tokens of a user that can be used.
pub fn page(tx: &mut ReadTx, user: UserId, wanted: &Wanted) -> Result<Paged<Token>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "token",
        condition: format!("app_user = $1 AND {USABLE}"),
        args: args![user, tx.now()].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, wanted, read)
}

/// A personal token of a user that can be used.
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

/// The tokens of a user that were not revoked, by id.
pub fn list(tx: &mut ReadTx, user: UserId) -> Result<Vec<Token>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM token WHERE app_user = $1 AND revoked IS NULL ORDER BY id");
    tx.read(&sql, args![user], read)
}

pub fn insert(tx: &mut WriteTx, new: &NewToken, text: &TokenText) -> Result<TokenId, StoreError> {
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
    forget_identities(tx, Owner::User(new.user))?;
    Ok(id)
}

/// The id of a user's newest token; zero if there is none.
pub fn newest(tx: &mut ReadTx, user: UserId) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(max(id), 0) FROM token WHERE app_user = $1";
    tx.one(sql, args![user])?.take()
}

/// Whether such a token was made after one, even if it has been revoked since.
pub fn has_same(tx: &mut ReadTx, new: &NewToken, after: i64) -> Result<bool, StoreError> {
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

/// True if there was such a token to revoke.
pub fn revoke(tx: &mut WriteTx, id: TokenId) -> Result<bool, StoreError> {
    let now = tx.now();
    let sql = "UPDATE token SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
    let revoked = tx.execute(sql, args![id, now])? > 0;
    if revoked {
        tx.changed(Owner::Token(id), ChangeKind::Token, id.0)?;
        forget_identities(tx, Owner::Token(id))?;
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
