//! Encryption between the hosts of a region, and the keys of hosts (decision 0033).

use crate::model::id::HostId;
use crate::model::label::Label;
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;

/// The default of `key_days`.
pub const DEFAULT_KEY_DAYS: i64 = 90;
pub const MAX_KEY_DAYS: i64 = 3650;
const SECONDS_PER_DAY: i64 = 86_400;

/// The setting of a region.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionEncryption {
    pub region: String,
    pub is_enabled: bool,
    pub key_days: KeyDays,
    /// The newest generation of keys.
    pub generation: i64,
    /// The oldest generation that hosts still accept. It differs from `generation` during a rotation.
    pub oldest_generation: i64,
    /// When the newest generation began.
    pub rotated: Time,
    pub updated: Time,
}

impl RegionEncryption {
    /// The setting of a region for which staff have set nothing.
    pub fn off(region: &str) -> Self {
        let never = Time::from_micros(0);
        Self {
            region: region.to_owned(),
            is_enabled: false,
            key_days: KeyDays::default(),
            generation: 0,
            oldest_generation: 0,
            rotated: never,
            updated: never,
        }
    }

    pub fn is_rotating(&self) -> bool {
        self.is_enabled && self.oldest_generation < self.generation
    }

    /// Whether the keys have reached their lifetime.
    pub fn is_due(&self, now: Time) -> bool {
        self.is_enabled && !self.is_rotating() && now >= self.due()
    }

    pub fn due(&self) -> Time {
        self.rotated.plus_seconds(self.key_days.get() * SECONDS_PER_DAY)
    }
}

/// The lifetime of keys, in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyDays(i64);

impl KeyDays {
    pub fn new(days: i64) -> Result<Self, Reason> {
        match (1..=MAX_KEY_DAYS).contains(&days) {
            true => Ok(Self(days)),
            false => {
                let text = format!("Must be between 1 and {MAX_KEY_DAYS}");
                Err(Reason::new(Code::OutOfRange, text))
            }
        }
    }

    pub fn get(self) -> i64 {
        self.0
    }
}

impl Default for KeyDays {
    fn default() -> Self {
        Self(DEFAULT_KEY_DAYS)
    }
}

/// A host with a credential, and its newest key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyHolder {
    pub host: HostId,
    pub label: Label,
    pub key: Option<HostKey>,
    /// The generation with which the host sends to all other hosts, as its agent reports.
    pub settled_generation: Option<i64>,
    /// Whether its agent has reported within the last minute.
    pub is_reporting: bool,
}

/// Why a rotation waits for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationObstacle {
    NotReporting,
    NoNewKey,
    NoSessions,
}

impl RotationObstacle {
    pub const fn text(self) -> &'static str {
        match self {
            RotationObstacle::NotReporting => "its agent does not report",
            RotationObstacle::NoNewKey => "its agent has not reported a new key yet",
            RotationObstacle::NoSessions => "it has no session with the new keys to some of the other hosts",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostKey {
    pub generation: i64,
    pub created: Time,
}

impl KeyHolder {
    /// Whether the host has keys, but does not use the generation with all other hosts. A host without keys takes no
    /// part in the encrypted network.
    pub fn needs_older_than(&self, generation: i64) -> bool {
        let key = self.key.as_ref();
        key.is_some_and(|key| key.generation < generation || self.settled_generation < Some(generation))
    }

    /// Why the host does not use the generation yet.
    pub fn obstacle(&self, generation: i64) -> RotationObstacle {
        let has_new_key = self.key.as_ref().is_some_and(|key| key.generation >= generation);
        match (self.is_reporting, has_new_key) {
            (false, _) => RotationObstacle::NotReporting,
            (true, false) => RotationObstacle::NoNewKey,
            (true, true) => RotationObstacle::NoSessions,
        }
    }
}

/// The digits of base64 whose last two bits are zero.
const LAST_DIGITS: &str = "AEIMQUYcgkosw048";

/// A public key of X25519 in base64, as `wg pubkey` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(String);

impl PublicKey {
    /// `None` if the text is not the base64 form of 32 bytes.
    pub fn parse(raw: &str) -> Option<Self> {
        let is_digit = |digit: u8| digit.is_ascii_alphanumeric() || digit == b'+' || digit == b'/';
        let digits = raw.strip_suffix('=').filter(|digits| digits.len() == 43)?;
        // The last digit has two bits that belong to no byte.
        let is_whole = digits.ends_with(|last| LAST_DIGITS.contains(last));
        (is_whole && digits.bytes().all(is_digit)).then(|| Self(raw.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_key_is_32_bytes_in_base64() {
        let key = "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=";
        assert_eq!(PublicKey::parse(key).unwrap().as_str(), key);
        for wrong in [
            "",
            "=",
            &key[1..],
            &key[..43],
            &key.replace('9', "-"),
            &format!("A{key}"),
            &key.replace("w=", "x="),
        ] {
            assert_eq!(PublicKey::parse(wrong), None, "{wrong}");
        }
    }
}
