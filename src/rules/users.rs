//! Users: making them.

use super::error::{Error, FieldError, Result};
use crate::model::reason::{Code, Reason};
use crate::model::user::{NewUser, User};
use crate::store::{self, ReadTx, WriteTx};

pub fn create(tx: &mut WriteTx, new: &NewUser) -> Result<User> {
    if let Some(account) = new.account {
        store::accounts::find(tx, account)?.ok_or(Error::NotFound)?;
        // Tenants know the staff by this name only, so none of them may bear it.
        let provider = &tx.policy().support.provider;
        if new.username.as_str().eq_ignore_ascii_case(provider) {
            return Err(taken());
        }
    }
    if store::users::exists(tx, &new.username)? {
        return Err(taken());
    }
    store::users::insert(tx, new)?;
    load(tx, new.username.as_str())
}

pub fn load(tx: &mut ReadTx, username: &str) -> Result<User> {
    store::users::find(tx, username)?.ok_or(Error::NotFound)
}

fn taken() -> Error {
    let reason = Reason::new(Code::UsernameTaken, "Username is taken");
    Error::Refused(vec![FieldError::on("username", reason)])
}
