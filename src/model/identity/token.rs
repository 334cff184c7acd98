//! Bearer tokens: shown once, stored as a hash.

use sha2::{Digest, Sha256};

use crate::model::id::{TokenId, UserId};
use crate::model::scope::Scopes;
use crate::model::time::Time;

/// A text that must not appear in logs: it prints as `Secret(..)`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself. Return it only to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// 64 lower-case hexadecimal characters.
#[derive(Clone, Debug)]
pub struct TokenText(Secret);

impl TokenText {
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Secret::new(hex(&bytes)))
    }

    pub fn parse(raw: &str) -> Option<Self> {
        let is_hex_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (raw.len() == 64 && raw.bytes().all(is_hex_digit)).then(|| Self(Secret::new(raw.to_owned())))
    }

    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.reveal())
    }

    /// The prefix that lists show, so that the owner can identify the token.
    pub fn prefix(&self) -> &str {
        &self.reveal()[..16]
    }
}

/// The stored hash of a token. Tokens are random, so a plain SHA-256 is safe against guessing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Compares with a stored hash in constant time.
    pub fn matches_stored(&self, stored: &str) -> bool {
        let computed = self.hex();
        let differing = computed
            .bytes()
            .zip(stored.bytes())
            .fold(0, |all, (a, b)| all | (a ^ b));
        computed.len() == stored.len() && std::hint::black_box(differing) == 0
    }
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// How a token was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Personal,
    Oauth,
}

impl TokenKind {
    pub const fn word(self) -> &'static str {
        match self {
            TokenKind::Personal => "personal",
            TokenKind::Oauth => "oauth",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub id: TokenId,
    pub user: UserId,
    pub label: String,
    pub prefix: String,
    pub scopes: Scopes,
    pub created: Time,
    /// `None` if the token does not expire.
    pub expiry: Option<Time>,
}

#[derive(Clone, Debug)]
pub struct NewToken {
    pub user: UserId,
    pub kind: TokenKind,
    pub label: String,
    pub scopes: Scopes,
    pub expiry: Option<Time>,
}

/// The expiry that the API returns for a token that does not expire.
pub const NO_EXPIRY: &str = "2999-12-12T05:00:00";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let token = TokenText::from_bytes([7; 32]);
        assert_eq!(format!("{token:?}"), "TokenText(Secret(..))");
        assert_eq!(token.reveal().len(), 64);
    }

    #[test]
    fn only_64_lower_hex_characters_are_a_token() {
        assert!(TokenText::parse(&"0f".repeat(32)).is_some());
        for bad in ["", "0f", &"0F".repeat(32), &"0g".repeat(32), &"0f".repeat(33)] {
            assert!(TokenText::parse(bad).is_none());
        }
    }
}
