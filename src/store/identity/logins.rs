//! The password hash, the password links and the last log-in attempt of each user.

use crate::model::change::ChangeKind;
use crate::model::id::UserId;
use crate::model::time::Time;
use crate::model::token::TokenHash;
use crate::model::user::Username;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// The user with this name and the hash of the user's password. The query is the same for all valid names, so that its
/// duration does not reveal whether the user exists.
pub fn credentials(tx: &mut ReadTx, username: &str) -> Result<Option<Credentials>, StoreError> {
    // PostgreSQL refuses a text with a NUL character.
    if Username::parse(username).is_err() {
        return Ok(None);
    }
    let sql = "SELECT id, password FROM app_user WHERE lower(username) = lower($1)";
    let row = tx.find(sql, args![username])?;
    row.map(|mut row| {
        Ok(Credentials {
            user: row.take()?,
            password: row.take()?,
        })
    })
    .transpose()
}

#[derive(Clone, Debug)]
pub struct Credentials {
    pub user: UserId,
    /// `None` for a user without a password, who cannot log in.
    pub password: Option<String>,
}

/// The hash of a user's password, if the user exists and has a password.
pub fn find_password(tx: &mut ReadTx, user: UserId) -> Result<Option<String>, StoreError> {
    let row = tx.find("SELECT password FROM app_user WHERE id = $1", args![user])?;
    row.map_or(Ok(None), |mut row| row.take())
}

pub fn set_password(tx: &mut WriteTx, user: UserId, hash: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE app_user SET password = $2, password_created = $3 WHERE id = $1";
    tx.execute(sql, args![user, hash, now])?;
    tx.changed(Owner::User(user), ChangeKind::User, user.0)
}

/// Records the time and result of the last log-in attempt. Does not raise the revision, so that password guessing
/// does not fill the change log.
pub fn set_last(tx: &mut WriteTx, user: UserId, status: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE app_user SET last_login = $2, last_login_status = $3 WHERE id = $1";
    tx.execute(sql, args![user, now, status])?;
    Ok(())
}

pub fn insert_link(tx: &mut WriteTx, hash: TokenHash, user: UserId, expiry: Time) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO password_link (hash, app_user, expiry) VALUES ($1, $2, $3)",
        args![hash.hex(), user, expiry],
    )?;
    Ok(())
}

/// The user of a password link that has not expired.
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
