//! What logging in needs: passwords as hashes, links to set them, and how often somebody guessed.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::args;
use crate::model::id::UserId;
use crate::model::time::Time;
use crate::model::token::TokenHash;

/// The hash of a user's password, if it has one.
pub fn password(tx: &mut ReadTx, user: UserId) -> Result<Option<String>, StoreError> {
    tx.one("SELECT password FROM app_user WHERE id = $1", args![user])?
        .take()
}

pub fn set_password(tx: &mut WriteTx, user: UserId, hash: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE app_user SET password = $2, password_created = $3 WHERE id = $1";
    tx.execute(sql, args![user, hash, now])?;
    Ok(())
}

/// Keeps when somebody last tried to log in as a user, and how that went.
pub fn set_last(tx: &mut WriteTx, user: UserId, status: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE app_user SET last_login = $2, last_login_status = $3 WHERE id = $1";
    tx.execute(sql, args![user, now, status])?;
    Ok(())
}

/// How often in a row it was tried in vain with a name, and when last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    pub count: i64,
    pub last: Time,
}

/// Names are kept as hashes only: now and then somebody types a password where the name belongs.
pub fn failures(tx: &mut ReadTx, name: TokenHash) -> Result<Option<Failures>, StoreError> {
    let sql = "SELECT failures, last FROM login_failure WHERE username = $1";
    let row = tx.find(sql, args![name.hex()])?;
    row.map(|mut row| {
        Ok(Failures {
            count: row.take()?,
            last: row.take()?,
        })
    })
    .transpose()
}

pub fn add_failure(tx: &mut WriteTx, name: TokenHash) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO login_failure (username, failures, last) VALUES ($1, 1, $2)
         ON CONFLICT (username) DO UPDATE SET failures = login_failure.failures + 1, last = excluded.last",
        args![name.hex(), now],
    )?;
    Ok(())
}

pub fn forget_failures(tx: &mut WriteTx, name: TokenHash) -> Result<(), StoreError> {
    tx.execute("DELETE FROM login_failure WHERE username = $1", args![name.hex()])?;
    Ok(())
}

pub fn forget_failures_before(tx: &mut WriteTx, time: Time) -> Result<(), StoreError> {
    tx.execute("DELETE FROM login_failure WHERE last < $1", args![time])?;
    Ok(())
}

pub fn insert_link(tx: &mut WriteTx, hash: TokenHash, user: UserId, expiry: Time) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO password_link (hash, app_user, expiry) VALUES ($1, $2, $3)",
        args![hash.hex(), user, expiry],
    )?;
    Ok(())
}

/// Whose link it is, if it is still good.
pub fn find_link(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<UserId>, StoreError> {
    let now = tx.now();
    let sql = "SELECT app_user FROM password_link WHERE hash = $1 AND expiry > $2";
    let row = tx.find(sql, args![hash.hex(), now])?;
    row.map(|mut row| row.take()).transpose()
}

pub fn delete_links_of(tx: &mut WriteTx, user: UserId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM password_link WHERE app_user = $1", args![user])?;
    Ok(())
}

pub fn delete_expired_links(tx: &mut WriteTx) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute("DELETE FROM password_link WHERE expiry <= $1", args![now])?;
    Ok(())
}
