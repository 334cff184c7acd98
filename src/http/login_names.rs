//! The user name that was tried in a failed log-in, as the log may show it.
//!
//! People type passwords into the wrong field, so the default is a hash. Equal names give equal hashes; the log does
//! not show the text that was typed, although a name that can be guessed can be compared with its hash.

use sha2::{Digest, Sha256};

use crate::model::token::hex;

/// Bytes of the hash that are logged: enough to tell names apart.
const HASH_BYTES: usize = 8;
/// A longer name is logged up to here, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The setting `log.login_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoginNames {
    #[default]
    Hashed,
    Full,
    None,
}

impl LoginNames {
    /// The text to log for a name that was tried, if one is to be logged.
    pub fn logged(self, name: &str) -> Option<String> {
        match self {
            LoginNames::None => None,
            LoginNames::Hashed => Some(hex(&Sha256::digest(name.as_bytes())[..HASH_BYTES])),
            LoginNames::Full => {
                let printable = |c: char| if c.is_control() { '?' } else { c };
                Some(name.chars().take(MAX_NAME_CHARS).map(printable).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_logged_hashed_in_full_or_not_at_all() {
        let hashed = LoginNames::default().logged("ada");
        assert_eq!(hashed.as_deref(), Some("fdee430d40bd57de"));
        assert_eq!(LoginNames::Full.logged("ada\n").as_deref(), Some("ada?"));
        assert_eq!(
            LoginNames::Full.logged(&"x".repeat(99)).map(|name| name.len()),
            Some(64)
        );
        assert_eq!(LoginNames::None.logged("ada"), None);
    }
}
