//! Users as rows.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{FromValue, Row, Value, args};
use super::{grants, tokens};
use crate::model::grant::Permission;
use crate::model::id::UserId;
use crate::model::user::{NewUser, User, Username};

const COLUMNS: &str = "id, account, username, email, restricted, account_access, created";

pub fn find(tx: &mut ReadTx, username: &str) -> Result<Option<User>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM app_user WHERE lower(username) = lower($1)");
    let Some(mut row) = tx.find(&sql, args![username])? else {
        return Ok(None);
    };
    let mut user = read(&mut row)?;
    user.globals = grants::globals(tx, user.id)?;
    Ok(Some(user))
}

pub fn exists(tx: &mut ReadTx, username: &Username) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM app_user WHERE lower(username) = lower($1)";
    Ok(tx.find(sql, args![username])?.is_some())
}

pub fn is_empty(tx: &mut ReadTx) -> Result<bool, StoreError> {
    Ok(tx.find("SELECT 1 FROM app_user LIMIT 1", args![])?.is_none())
}

pub fn insert(tx: &mut WriteTx, new: &NewUser) -> Result<UserId, StoreError> {
    let now = tx.now();
    let password = new.password.as_deref();
    let id = tx
        .one(
            "INSERT INTO app_user (account, username, email, restricted, password, created)
             VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
            args![
                new.account,
                &new.username,
                &new.email,
                new.restricted,
                password,
                now
            ],
        )?
        .take()?;
    tokens::forget_identities(tx)?;
    Ok(id)
}

fn read(row: &mut Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.take()?,
        account: row.take()?,
        username: row.take()?,
        email: row.take()?,
        restricted: row.take()?,
        account_access: row.take()?,
        globals: Vec::new(),
        created: row.take()?,
    })
}

impl FromValue for Permission {
    fn from_value(value: Value) -> Option<Self> {
        Permission::parse(&String::from_value(value)?).ok()
    }
}
