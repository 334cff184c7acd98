//! Tokens as rows, and the identity each of them proves.

use crate::model::id::{TokenId, UserId};
use crate::model::page::Paged;
use crate::model::proof::{Identity, Proof};
use crate::model::scope::Scopes;
use crate::model::token::{NewToken, Token, TokenHash, TokenText};
use crate::store::bell::Topic;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::grants;
use crate::store::list::{Collection, Wanted};
use crate::store::tx::{Asked, ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, app_user, label, prefix, scopes, created, expiry";
/// A token without an end is shown with one (`model::token::NEVER`), and found by it.
const EXPIRY: &str = "coalesce(expiry, 32501970000000000)";
const USABLE: &str = "kind = 'personal' AND revoked IS NULL AND (expiry IS NULL OR expiry > $2)";

/// Grows whenever a user, a grant or a token changes.
pub fn identity_version(tx: &mut ReadTx) -> Result<i64, StoreError> {
    let asked = ask_version(tx);
    hear_version(tx, asked)
}

/// The same in two steps, for those who have something else to ask as well.
pub fn ask_version(tx: &mut ReadTx) -> Asked<i64> {
    tx.ask("SELECT version FROM identity_version", args![], |row| row.take())
}

pub fn hear_version(tx: &mut ReadTx, asked: Asked<i64>) -> Result<i64, StoreError> {
    tx.hear_one(asked)
}

/// Makes every remembered identity be read again, on every node, from this commit on.
pub(in crate::store) fn forget_identities(tx: &mut WriteTx) -> Result<(), StoreError> {
    tx.execute("UPDATE identity_version SET version = version + 1", args![])?;
    tx.touch(Topic::Everyone);
    Ok(())
}

/// The identity behind a token that has not been revoked; it may have expired.
pub fn identify(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<Identity>, StoreError> {
    let version = identity_version(tx)?;
    let row = tx.find(
        "SELECT t.id, t.scopes, t.expiry, u.id, u.account, u.username, u.email, u.restricted, u.account_access
         FROM token t JOIN app_user u ON u.id = t.app_user WHERE t.hash = $1 AND t.revoked IS NULL",
        args![hash.hex()],
    )?;
    let Some(mut row) = row else { return Ok(None) };
    let (proof, scopes) = (Proof::Token(row.take()?), row.take()?);
    read_identity(tx, version, hash, proof, scopes, row).map(Some)
}

/// The identity that somebody has proved, from when that ends and the user's columns.
pub(in crate::store) fn read_identity(
    tx: &mut ReadTx,
    version: i64,
    hash: TokenHash,
    proof: Proof,
    scopes: Scopes,
    mut row: Row,
) -> Result<Identity, StoreError> {
    let mut identity = Identity {
        version,
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
    tx.execute("UPDATE token SET label = $2 WHERE id = $1", args![id, label])?;
    Ok(())
}

/// The tokens of a user that were not revoked, by id.
pub fn list(tx: &mut ReadTx, user: UserId) -> Result<Vec<Token>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM token WHERE app_user = $1 AND revoked IS NULL ORDER BY id");
    tx.read(&sql, args![user], read)
}

pub fn insert(tx: &mut WriteTx, new: &NewToken, text: &TokenText) -> Result<TokenId, StoreError> {
    let now = tx.now();
    let id = tx
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
    forget_identities(tx)?;
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
    forget_identities(tx)?;
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
