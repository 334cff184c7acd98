//! Single-use links with which users set their passwords. Only the hash of a link is stored.

use crate::model::id::UserId;
use crate::model::token::TokenText;
use crate::rules::error::Result;
use crate::store::{self, WriteTx};

/// The lifetime of a link for a new user, in seconds.
pub const INVITATION_TTL_SECONDS: i64 = 3 * 24 * 3600;
/// The lifetime of a link that a user has requested, in seconds.
pub const RESET_TTL_SECONDS: i64 = 3600;

/// Creates a link that expires after `seconds`.
pub fn create(tx: &mut WriteTx, user: UserId, seconds: i64) -> Result<TokenText> {
    let link = TokenText::from_bytes(tx.random());
    let expiry = tx.now().plus_seconds(seconds);
    store::logins::insert_link(tx, link.hash(), user, expiry)?;
    Ok(link)
}
