//! Tokens: making, listing and revoking them.

use super::error::{Error, Result};
use super::users;
use crate::model::id::TokenId;
use crate::model::token::{NewToken, Token, TokenText};
use crate::store::{self, ReadTx, WriteTx};

/// Makes a token. Its text is given out here and never again.
pub fn create(tx: &mut WriteTx, new: &NewToken, given: Option<&TokenText>) -> Result<(Token, TokenText)> {
    let text = given
        .cloned()
        .unwrap_or_else(|| TokenText::from_bytes(tx.random()));
    let id = store::tokens::insert(tx, new, &text)?;
    let made = store::tokens::list(tx, new.user)?
        .into_iter()
        .find(|token| token.id == id);
    Ok((made.ok_or(Error::NotFound)?, text))
}

pub fn list(tx: &mut ReadTx, username: &str) -> Result<Vec<Token>> {
    let user = users::load(tx, username)?;
    Ok(store::tokens::list(tx, user.id)?)
}

/// Ends a token; from this commit on it opens nothing.
pub fn revoke(tx: &mut WriteTx, id: TokenId) -> Result<()> {
    match store::tokens::revoke(tx, id)? {
        true => Ok(()),
        false => Err(Error::NotFound),
    }
}
