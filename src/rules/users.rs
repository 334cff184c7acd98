//! Users: making them.

use super::error::{Error, FieldError, Result};
use crate::model::reason::{Code, Reason};
use crate::model::user::{NewUser, User};
use crate::store::{self, ReadTx, WriteTx};

pub fn create(tx: &mut WriteTx, new: &NewUser) -> Result<User> {
    if let Some(account) = new.account {
        store::accounts::find(tx, account)?.ok_or(Error::NotFound)?;
    }
    if store::users::exists(tx, &new.username)? {
        let reason = Reason::new(Code::UsernameTaken, "Username is taken");
        return Err(Error::Refused(vec![FieldError::on("username", reason)]));
    }
    store::users::insert(tx, new)?;
    load(tx, new.username.as_str())
}

pub fn load(tx: &mut ReadTx, username: &str) -> Result<User> {
    store::users::find(tx, username)?.ok_or(Error::NotFound)
}
