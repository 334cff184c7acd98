//! Public SSH keys of users.

use base64::prelude::{BASE64_STANDARD, Engine};

use crate::model::id::{SshKeyId, UserId};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Line;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SshKey {
    pub id: SshKeyId,
    pub user: UserId,
    pub label: KeyLabel,
    pub key: PublicKey,
    pub created: Time,
}

pub type KeyLabel = Line<64>;

/// A public key in the format of OpenSSH: the type, the key in base64, and an optional comment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey(String);

impl PublicKey {
    pub const MAX_LENGTH: usize = 16384;
    const TYPES: [&str; 8] = [
        "ssh-rsa",
        "ssh-ed25519",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
        "ssh-dss",
    ];

    /// Parses a key. Removes white space around the key.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let key = raw.trim();
        if key.len() > Self::MAX_LENGTH {
            let text = format!("Must be at most {} characters", Self::MAX_LENGTH);
            return Err(vec![Reason::new(Code::TooLong, text)]);
        }
        match is_public_key(key) {
            true => Ok(Self(key.to_owned())),
            false => {
                let text = format!(
                    "Must be a public key on one line: the type ({}), the key in base64, and an optional comment",
                    Self::TYPES.join(", ")
                );
                Err(vec![Reason::new(Code::SshKeyInvalid, text)])
            }
        }
    }

    /// The key from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        (raw.len() <= Self::MAX_LENGTH && is_public_key(&raw)).then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text is a public key: the base64 part must repeat the type.
fn is_public_key(key: &str) -> bool {
    if key.chars().any(char::is_control) {
        return false;
    }
    let mut parts = key.splitn(3, ' ');
    let (Some(kind), Some(encoded)) = (parts.next(), parts.next()) else {
        return false;
    };
    let Ok(bytes) = BASE64_STANDARD.decode(encoded) else {
        return false;
    };
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return false;
    };
    let type_matches = usize::try_from(u32::from_be_bytes(*length)).ok() == Some(kind.len())
        && rest.starts_with(kind.as_bytes());
    PublicKey::TYPES.contains(&kind) && type_matches && rest.len() > kind.len()
}

#[cfg(test)]
mod tests {
    use super::PublicKey;

    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIMtUMl4Y0bSAMOHUOWuFKqZr8nSVXhFaLbqkmzoQX8sU";

    #[test]
    fn a_key_needs_a_known_type_and_matching_content() {
        for good in [
            format!("ssh-ed25519 {KEY}"),
            format!(" ssh-ed25519 {KEY} ada@example.com (laptop)\n"),
        ] {
            assert!(PublicKey::parse(&good).is_ok(), "{good}");
        }
        for bad in [
            String::new(),
            "ssh-ed25519".to_owned(),
            "ssh-ed25519 ".to_owned(),
            KEY.to_owned(),
            format!("ssh-rsa {KEY}"),
            format!("ssh-none {KEY}"),
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5".to_owned(),
            format!("ssh-ed25519 {KEY}!"),
            format!("ssh-ed25519 {KEY}\nssh-ed25519 {KEY}"),
        ] {
            assert!(PublicKey::parse(&bad).is_err(), "{bad}");
        }
    }
}
