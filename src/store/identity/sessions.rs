//! The `session` table: the sessions of logged-in users in browsers.

use crate::model::id::UserId;
use crate::model::proof::{Identity, Proof};
use crate::model::scope::Scopes;
use crate::model::time::Time;
use crate::model::token::TokenHash;
use crate::store::error::StoreError;
use crate::store::tokens::{IDENTITY_COLUMNS, IDENTITY_TABLES, read_identity};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

pub fn insert(tx: &mut WriteTx, hash: TokenHash, user: UserId, expiry: Time) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO session (hash, app_user, created, expiry) VALUES ($1, $2, $3, $4)",
        args![hash.hex(), user, now, expiry],
    )?;
    Ok(())
}

/// The user of a session that has not expired.
pub fn find(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<UserId>, StoreError> {
    let now = tx.now();
    let sql = "SELECT app_user FROM session WHERE hash = $1 AND expiry > $2";
    let row = tx.find(sql, args![hash.hex(), now])?;
    row.map(|mut row| row.take()).transpose()
}

/// The identity of a session that has not expired. The identity has all scopes.
pub fn identify(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<Identity>, StoreError> {
    let now = tx.now();
    let sql = format!(
        "SELECT s.expiry, {IDENTITY_COLUMNS}
         FROM session s, {IDENTITY_TABLES}
         WHERE u.id = s.app_user AND s.hash = $1 AND s.expiry > $2"
    );
    let row = tx.find(&sql, args![hash.hex(), now])?;
    let read = |row| read_identity(tx, hash, Proof::Session, Scopes::Everything, row);
    row.map(read).transpose()
}

pub fn delete(tx: &mut WriteTx, hash: TokenHash) -> Result<(), StoreError> {
    tx.execute("DELETE FROM session WHERE hash = $1", args![hash.hex()])?;
    Ok(())
}

pub fn delete_of(tx: &mut WriteTx, user: UserId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM session WHERE app_user = $1", args![user])?;
    Ok(())
}

pub fn delete_expired(tx: &mut WriteTx) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute("DELETE FROM session WHERE expiry <= $1", args![now])?;
    Ok(())
}
