//! Passwords: stored as argon2id hashes, set by the provider or with a single-use link.

use std::sync::{Mutex, PoisonError};

use argon2::password_hash::{generate_salt, phc};
use argon2::{Argon2, Block, Params};

use crate::model::client::Client;
use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::outgoing_mail::NoticeKind;
use crate::model::proof::Identity;
use crate::model::reason::{Code, Reason};
use crate::model::token::{Secret, TokenHash, TokenText};
use crate::model::user::User;
use crate::rules::agent::Staff;
use crate::rules::caller::{Caller, Principal};
use crate::rules::error::{Error, FieldError, Result};
use crate::rules::password_links::{self, INVITATION_TTL_SECONDS};
use crate::rules::{account_mails, event_changes, events, sessions, users};
use crate::store::{self, ReadTx, WriteTx};

const MIN_PASSWORD_CHARS: usize = 11;
/// A hash that no password matches, with the same parameters as real hashes.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes a password. This is slow on purpose: never call it inside a transaction.
pub fn hash(password: &Secret) -> Result<String> {
    if password.reveal().chars().count() < MIN_PASSWORD_CHARS {
        let text = format!("Must have at least {MIN_PASSWORD_CHARS} characters");
        let reason = Reason::new(Code::PasswordTooShort, text);
        return Err(Error::on("password", reason));
    }
    let mut chars = password.reveal().chars();
    let first = chars.next();
    if chars.all(|c| Some(c) == first) || password.reveal().trim().is_empty() {
        let reason = Reason::new(
            Code::PasswordTooSimple,
            "Must not be blank or one repeated character",
        );
        return Err(Error::on("password", reason));
    }
    let mut stored = phc::PasswordHash::new(DUMMY_HASH).expect("the dummy hash is valid");
    let salt = phc::Salt::new(&generate_salt()).expect("a salt of the usual length");
    let output = compute_output(password, &salt, Params::DEFAULT);
    stored.hash = Some(output.expect("argon2 hashes any password of moderate length"));
    stored.salt = Some(salt);
    Ok(stored.to_string())
}

/// Whether a password matches a hash. Without a hash, the check takes the same time, so that the duration
/// does not reveal which users have a password. Never call this function inside a transaction.
pub fn is_correct(password: &Secret, hash: Option<&str>) -> bool {
    let Ok(stored) = phc::PasswordHash::new(hash.unwrap_or(DUMMY_HASH)) else {
        return false;
    };
    let (Ok(params), Some(salt)) = (Params::try_from(&stored), &stored.salt) else {
        return false;
    };
    // Outputs are compared in constant time.
    let correct = compute_output(password, salt, params).is_some_and(|output| Some(output) == stored.hash);
    correct && hash.is_some()
}

/// A cache of buffers for hashing, 19 MiB each. Without the cache, each thread would allocate its own
/// buffers, and the allocator would not return their memory to the system.
static BUFFERS: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());
const MAX_CACHED_BUFFERS: usize = 2;

fn compute_output(password: &Secret, salt: &phc::Salt, params: Params) -> Option<phc::Output> {
    let lock = || BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut memory = lock().pop().unwrap_or_default();
    memory.resize(params.block_count(), Block::new());
    let mut out = [0; Params::DEFAULT_OUTPUT_LEN];
    let argon2 = Argon2::from(params);
    let result =
        argon2.hash_password_into_with_memory(password.reveal().as_bytes(), salt, &mut out, &mut memory);
    let mut cached = lock();
    if cached.len() < MAX_CACHED_BUFFERS {
        cached.push(memory);
    }
    result.ok().and_then(|()| phc::Output::new(&out).ok())
}

/// Sets a user's password. All sessions, password links and OAuth authorizations of the user end; personal
/// tokens remain.
pub fn set(tx: &mut WriteTx, username: &str, hash: &str) -> Result<User> {
    let user = users::load(tx, username)?;
    store::logins::set_password(tx, user.id, hash)?;
    store::logins::delete_links_of(tx, user.id)?;
    store::sessions::delete_of(tx, user.id)?;
    store::oauth_grants::revoke_of_user(tx, user.id)?;
    users::load(tx, username)
}

/// The result of a password change.
pub enum Change {
    /// The password was changed. Contains the token of the new session.
    Done(TokenText),
    /// The error, and the seconds to wait before the next attempt.
    Refused { wrong: FieldError, wait: u64 },
}

/// The hashes of the current and of the new password.
pub struct Hashes {
    pub old: String,
    pub new: String,
}

/// Changes the caller's own password. The current password must have been compared with the old hash before. Ends all
/// sessions of the caller, starts a new session, and sends a notice.
pub fn change(tx: &mut WriteTx, caller: &Caller, hashes: &Hashes, client: &Client) -> Result<Change> {
    let changed = change_own(tx, caller.identity(), hashes, client)?;
    if let Change::Done(_) = changed {
        events::record_account(tx, caller, Action::ProfileUpdate, None)?;
    }
    Ok(changed)
}

/// Like `change`, for a member of staff, who has no account and therefore no events.
pub fn change_of_staff(tx: &mut WriteTx, staff: &Staff, hashes: &Hashes, client: &Client) -> Result<Change> {
    change_own(tx, staff.identity(), hashes, client)
}

fn change_own(tx: &mut WriteTx, identity: &Identity, hashes: &Hashes, client: &Client) -> Result<Change> {
    let Hashes { old, new } = hashes;
    if store::logins::find_password(tx, identity.user)?.as_ref() != Some(old) {
        let reason = Reason::new(
            Code::ChoiceInvalid,
            "Another request has changed your password; enter the current one",
        );
        let wrong = FieldError::on("old_password", reason);
        return Ok(Change::Refused { wrong, wait: 0 });
    }
    set(tx, identity.username.as_str(), new)?;
    let session = sessions::create_session(tx, identity.user, new, None)?.ok_or(Error::Unauthenticated)?;
    account_mails::notify(
        tx,
        identity.user,
        NoticeKind::PasswordChanged,
        &client.description(),
    )?;
    Ok(Change::Done(session))
}

/// Creates a password link for another user of the caller's account who has no password yet. A user with a
/// password cannot be invited.
pub fn invite(tx: &mut WriteTx, caller: &Caller, username: &str) -> Result<TokenText> {
    let user = users::view(tx, caller, username)?;
    if user.password_created.is_some() {
        let text = "This user already has a password; only the provider can create a link to reset it";
        let reason = Reason::new(Code::ChoiceInvalid, text);
        return Err(Error::whole(reason));
    }
    let changes = event_changes::of_field("password link", "", "created");
    let entity = Entity::user(&user);
    events::record_account_update(tx, caller, Action::UserUpdate, Some(&entity), &changes)?;
    make_link(tx, user.username.as_str(), INVITATION_TTL_SECONDS)
}

/// Creates a single-use link for setting a password. The link expires after `seconds`.
pub fn make_link(tx: &mut WriteTx, username: &str, seconds: i64) -> Result<TokenText> {
    let user = users::load(tx, username)?;
    password_links::create(tx, user.id, seconds)
}

/// The owner of a link.
pub fn link_owner(tx: &mut ReadTx, link: TokenHash) -> Result<User> {
    let user = store::logins::find_link(tx, link)?.ok_or(Error::NotFound)?;
    store::users::find_by_id(tx, user)?.ok_or(Error::NotFound)
}

/// Sets the password of a link's owner, deletes all links of that user, and sends a notice.
pub fn set_by_link(tx: &mut WriteTx, link: TokenHash, hash: &str, client: &Client) -> Result<User> {
    let user = link_owner(tx, link)?;
    let user = set(tx, user.username.as_str(), hash)?;
    account_mails::notify(tx, user.id, NoticeKind::PasswordSetByLink, &client.description())?;
    Ok(user)
}

/// The principal's own password hash.
pub fn own_hash(tx: &mut ReadTx, principal: &impl Principal) -> Result<Option<String>> {
    Ok(store::logins::find_password(tx, principal.identity().user)?)
}

/// The hash of a username, as the key for counting log-in attempts. The username itself is not stored,
/// because users sometimes enter their password as the username.
pub fn name_hash(username: &str) -> TokenHash {
    TokenHash::of(&username.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_correct_password_matches_and_a_missing_hash_costs_the_same() {
        let secret = |text: &str| Secret::new(text.to_owned());
        let stored = hash(&secret("correct horse")).expect("it is long enough");
        assert!(is_correct(&secret("correct horse"), Some(&stored)));
        assert!(!is_correct(&secret("correct hors"), Some(&stored)));
        assert!(!is_correct(&secret("correct horse"), None));
        assert!(!is_correct(&secret(""), Some(DUMMY_HASH)));
        for bad in [
            "too short!",
            "aaaaaaaaaaaaaaaa",
            "            ",
            " \t \t \t \t \t \t ",
        ] {
            assert!(hash(&secret(bad)).is_err(), "{bad:?}");
        }
        // The check takes the same work for a user without a password.
        let costs = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(costs(&stored), costs(DUMMY_HASH));
        assert_eq!(stored.len(), DUMMY_HASH.len());
    }
}
