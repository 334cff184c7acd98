//! Passwords: kept only as argon2id hashes.

use argon2::{Argon2, PasswordHasher};

use super::error::{Error, FieldError, Result};
use crate::model::reason::{Code, Reason};
use crate::model::token::Secret;

const SHORTEST: usize = 11;

/// The hash to keep. It takes a while, on purpose: never call it inside a transaction.
pub fn hash(password: &Secret) -> Result<String> {
    if password.reveal().chars().count() < SHORTEST {
        let text = format!("Must have at least {SHORTEST} characters");
        let reason = Reason::new(Code::PasswordTooShort, text);
        return Err(Error::Refused(vec![FieldError::on("password", reason)]));
    }
    let hash = Argon2::default().hash_password(password.reveal().as_bytes());
    Ok(hash
        .expect("argon2 hashes any password of moderate length")
        .to_string())
}
