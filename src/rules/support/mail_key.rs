//! The key that signs addresses and links in mails.

use crate::model::reply_address::ReplyKey;
use crate::model::token::TokenText;
use crate::rules::error::Result;
use crate::store::{self, StoreError, WriteTx};

/// The key, created on first use and shared by all nodes.
pub fn load(tx: &mut WriteTx) -> Result<ReplyKey> {
    let secret = store::server_secrets::find_or_insert(tx, "reply_address")?;
    let damaged = || StoreError::Unexpected("the stored key of reply addresses is invalid".to_owned());
    let key = TokenText::parse(secret.reveal()).ok_or_else(damaged)?;
    Ok(ReplyKey::new(key))
}
