//! Logging in: attempts, lock-out, and the sessions that come of it.
//!
//! An attempt is counted before the password is looked at and forgotten if it was right, so that
//! guesses at the same time cannot outrun the count.

use std::sync::Arc;

use super::error::{Error, Result};
use super::passwords::name_hash;
use crate::model::token::{TokenHash, TokenText};
use crate::model::user::User;
use crate::store::logins::Failures;
use crate::store::tokens::Identity;
use crate::store::{self, ReadTx, WriteTx};

/// How long a browser stays logged in, in seconds.
pub const LASTS: i64 = 12 * 3600;
/// So many wrong passwords cost nothing but themselves.
const FREE: i64 = 5;
/// How long the first lock-out is; each further failure doubles it.
const FIRST_WAIT: i64 = 30;
const LONGEST_WAIT: i64 = 15 * 60;
/// After this long nobody remembers wrong passwords.
const FORGOTTEN: i64 = 24 * 3600;

/// How an attempt to log in begins.
pub enum Attempt {
    /// Too many wrong passwords: try again after so many seconds.
    Locked { wait: i64 },
    /// Compare the password with this hash; there is none if there is no such user, or if it has none.
    Compare { hash: Option<String> },
}

/// Counts an attempt, if the name is not locked out.
pub fn begin(tx: &mut WriteTx, username: &str) -> Result<Attempt> {
    let name = name_hash(username);
    let wait = store::logins::failures(tx, name)?.map_or(0, |failures| still_locked(tx, failures));
    if wait > 0 {
        return Ok(Attempt::Locked { wait });
    }
    store::logins::add_failure(tx, name)?;
    let hash = match store::users::find(tx, username)? {
        Some(user) => store::logins::password(tx, user.id)?,
        None => None,
    };
    Ok(Attempt::Compare { hash })
}

/// Ends an attempt whose password was the right one for `hash`: with a new session in place of the
/// browser's old one. `None` if the password has changed meanwhile, or the user is gone.
pub fn succeed(
    tx: &mut WriteTx,
    username: &str,
    hash: &str,
    old: Option<TokenHash>,
) -> Result<Option<TokenText>> {
    let Some(user) = store::users::find(tx, username)? else {
        return Ok(None);
    };
    if store::logins::password(tx, user.id)?.as_deref() != Some(hash) {
        return Ok(None);
    }
    store::logins::forget_failures(tx, name_hash(username))?;
    store::logins::set_last(tx, user.id, "successful")?;
    if let Some(old) = old {
        store::sessions::delete(tx, old)?;
    }
    let session = TokenText::from_bytes(tx.random());
    let expiry = tx.now().plus_seconds(LASTS);
    store::sessions::insert(tx, session.hash(), user.id, expiry)?;
    Ok(Some(session))
}

/// Ends an attempt with a wrong password; the seconds to wait before the next, if any.
pub fn fail(tx: &mut WriteTx, username: &str) -> Result<i64> {
    if let Some(user) = store::users::find(tx, username)? {
        store::logins::set_last(tx, user.id, "failed")?;
    }
    let failures = store::logins::failures(tx, name_hash(username))?;
    Ok(failures.map_or(0, |failures| still_locked(tx, failures)))
}

/// Who is logged in.
pub fn who(tx: &mut ReadTx, session: TokenHash) -> Result<Option<User>> {
    match store::sessions::find(tx, session)? {
        Some(user) => Ok(store::users::find_by_id(tx, user)?),
        None => Ok(None),
    }
}

/// The identity behind a session: the user's own, for everything they may do.
pub fn identify(tx: &mut ReadTx, session: TokenHash) -> Result<Arc<Identity>> {
    let identity = store::sessions::identify(tx, session)?;
    identity.map(Arc::new).ok_or(Error::Unauthenticated)
}

pub fn end(tx: &mut WriteTx, session: TokenHash) -> Result<()> {
    Ok(store::sessions::delete(tx, session)?)
}

/// Removes what is over: sessions, links, and guesses nobody remembers.
pub fn sweep(tx: &mut WriteTx) -> Result<(), Error> {
    store::sessions::delete_expired(tx)?;
    store::logins::delete_expired_links(tx)?;
    let forgotten = tx.now().plus_seconds(-FORGOTTEN);
    Ok(store::logins::forget_failures_before(tx, forgotten)?)
}

/// For how many seconds more a name is locked out.
fn still_locked(tx: &ReadTx, failures: Failures) -> i64 {
    if failures.count < FREE {
        return 0;
    }
    let doubled = u32::try_from(failures.count - FREE).unwrap_or(u32::MAX).min(16);
    let wait = (FIRST_WAIT << doubled).min(LONGEST_WAIT);
    (failures.last.plus_seconds(wait).seconds() - tx.now().seconds()).max(0)
}
