//! Sessions of logged-in users.
//!
//! `web/login/login_throttle.rs` limits password attempts, separately on each node.

use std::sync::Arc;

use crate::model::client::Client;
use crate::model::id::UserId;
use crate::model::login_record::LoginStatus;
use crate::model::outgoing_mail::NoticeKind;
use crate::model::proof::Identity;
use crate::model::token::{TokenHash, TokenText};
use crate::model::user::User;
use crate::rules::account_mails;
use crate::rules::error::{Error, Result};
use crate::store::logins::Credentials;
use crate::store::{self, ReadTx, WriteTx};

/// The lifetime of a session, in seconds.
pub const SESSION_TTL_SECONDS: i64 = 12 * 3600;
/// The maximum number of stored log-in attempts of a user with the same status. Each status has its own
/// limit, so that failed attempts do not displace successful ones.
const MAX_RECORDS_PER_USER: i64 = 100;

/// The password hash of a user; `None` if there is no such user.
pub fn credentials(tx: &mut ReadTx, username: &str) -> Result<Option<Credentials>> {
    Ok(store::logins::credentials(tx, username)?)
}

/// Creates a session after the password matched `hash`, and deletes the browser's previous session. Returns
/// `None` if the password was changed or the user was deleted in the meantime.
pub fn create_session(
    tx: &mut WriteTx,
    user: UserId,
    hash: &str,
    previous: Option<TokenHash>,
) -> Result<Option<TokenText>> {
    if store::logins::find_password(tx, user)?.as_deref() != Some(hash) {
        return Ok(None);
    }
    store::logins::set_last(tx, user, LoginStatus::Successful.word())?;
    if let Some(previous) = previous {
        store::sessions::delete(tx, previous)?;
    }
    let session = TokenText::from_bytes(tx.random());
    let expiry = tx.now().plus_seconds(SESSION_TTL_SECONDS);
    store::sessions::insert(tx, session.hash(), user, expiry)?;
    Ok(Some(session))
}

/// Where a user logs in.
#[derive(Clone, Debug)]
pub struct LoginPlace {
    pub client: Client,
    /// Whether the user has logged in there before.
    pub is_known: bool,
}

/// Creates a session, and records the log-in with the client's address. The user gets a notice about a new device,
/// except for the first log-in.
pub fn log_in(
    tx: &mut WriteTx,
    user: UserId,
    hash: &str,
    previous: Option<TokenHash>,
    place: &LoginPlace,
) -> Result<Option<TokenText>> {
    let is_first = is_first_attempt(tx, user)?;
    let session = create_session(tx, user, hash, previous)?;
    if session.is_some() {
        record(tx, user, &place.client.address, LoginStatus::Successful)?;
        if !place.is_known && !is_first {
            let client = place.client.description();
            account_mails::notify(tx, user, NoticeKind::NewDevice, &client)?;
        }
    }
    Ok(session)
}

/// Whether a user has never tried to log in. A failed attempt counts, so that an attacker cannot pretend that a log-in
/// is the first one.
fn is_first_attempt(tx: &mut ReadTx, user: UserId) -> Result<bool> {
    let user = store::users::find_by_id(tx, user)?;
    Ok(user.is_none_or(|user| user.last_login.is_none()))
}

/// Records a log-in attempt with a wrong password.
pub fn record_failure(tx: &mut WriteTx, user: UserId, ip: &str) -> Result<()> {
    store::logins::set_last(tx, user, LoginStatus::Failed.word())?;
    record(tx, user, ip, LoginStatus::Failed)
}

/// Records an attempt to log in. `ip` is empty if the provider does not record addresses.
pub fn record(tx: &mut WriteTx, user: UserId, ip: &str, status: LoginStatus) -> Result<()> {
    Ok(store::login_records::insert(
        tx,
        user,
        ip,
        status,
        MAX_RECORDS_PER_USER,
    )?)
}

/// The user of a session.
pub fn user_of(tx: &mut ReadTx, session: TokenHash) -> Result<Option<User>> {
    match store::sessions::find(tx, session)? {
        Some(user) => Ok(store::users::find_by_id(tx, user)?),
        None => Ok(None),
    }
}

/// The identity of a session. A session has all scopes.
pub fn identify(tx: &mut ReadTx, session: TokenHash) -> Result<Arc<Identity>> {
    let identity = store::sessions::identify(tx, session)?;
    identity.map(Arc::new).ok_or(Error::Unauthenticated)
}

pub fn end(tx: &mut WriteTx, session: TokenHash) -> Result<()> {
    Ok(store::sessions::delete(tx, session)?)
}

/// Deletes expired sessions and links.
pub fn sweep(tx: &mut WriteTx) -> Result<(), Error> {
    store::sessions::delete_expired(tx)?;
    Ok(store::logins::delete_expired_links(tx)?)
}
