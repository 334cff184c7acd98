//! How log lines show the username of a failed log-in (`log.login_names`).
//!
//! Users sometimes type their password into the wrong field, so the default is a keyed hash. Equal names have equal
//! hashes, and a guess cannot be checked against a hash without the key.

use crate::model::device::DeviceKey;

/// The maximum number of characters of a name that are logged.
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
    /// The text to log for a username; `None` if the setting hides usernames.
    pub fn logged(self, name: &str, key: &DeviceKey) -> Option<String> {
        match self {
            LoginNames::None => None,
            LoginNames::Hashed => Some(key.name_hash(name)),
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
    use crate::model::token::TokenText;

    #[test]
    fn a_name_is_logged_hashed_in_full_or_not_at_all() {
        let key = DeviceKey::new(TokenText::from_bytes([7; 32]));
        let logged = |mode: LoginNames, name: &str| mode.logged(name, &key);
        assert_eq!(logged(LoginNames::default(), "ada"), Some(key.name_hash("ada")));
        assert_eq!(logged(LoginNames::Full, "ada\n").as_deref(), Some("ada?"));
        let long = logged(LoginNames::Full, &"x".repeat(99));
        assert_eq!(long.map(|name| name.len()), Some(64));
        assert_eq!(logged(LoginNames::None, "ada"), None);
    }
}
