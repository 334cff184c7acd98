//! Devices on which a user has logged in before, identified by a signed cookie.
//!
//! The cookie grants no access. It selects the counter for failed password attempts, and decides whether a log-in
//! causes a security notice.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::model::id::UserId;
use crate::model::time::Time;
use crate::model::token::{TokenText, hex};

/// How long a device is recognized after a log-in, in seconds: a year.
pub const DEVICE_TTL_SECONDS: i64 = 365 * 24 * 3600;

pub type DeviceId = [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    pub id: DeviceId,
    pub user: UserId,
    /// The time of the last log-in.
    pub seen: Time,
}

/// The key that signs cookies and hashes usernames for the log. All nodes share it.
#[derive(Clone, Debug)]
pub struct DeviceKey(TokenText);

impl DeviceKey {
    pub fn new(key: TokenText) -> Self {
        Self(key)
    }

    /// The cookie of a device.
    pub fn sign(&self, device: &Device) -> String {
        let text = format!("{}.{}.{}", hex(&device.id), device.user.0, device.seen.seconds());
        let signature = self.mac("device", &text).finalize().into_bytes();
        format!("{text}.{}", hex(&signature))
    }

    /// The device that a cookie identifies, if the signature is valid and the cookie has not expired.
    pub fn verify(&self, cookie: &str, now: Time) -> Option<Device> {
        let (text, signature) = cookie.rsplit_once('.')?;
        let signature = from_hex::<32>(signature)?;
        // `verify_slice` compares in constant time.
        self.mac("device", text).verify_slice(&signature).ok()?;
        let mut parts = text.split('.');
        let device = Device {
            id: from_hex(parts.next()?)?,
            user: UserId(parts.next()?.parse().ok()?),
            seen: Time::from_micros(parts.next()?.parse::<i64>().ok()?.checked_mul(1_000_000)?),
        };
        let expiry = device.seen.seconds().saturating_add(DEVICE_TTL_SECONDS);
        (now.seconds() < expiry).then_some(device)
    }

    /// A keyed hash of an entered username. Logs contain this hash, because users sometimes enter their password as the
    /// username. Equal names have equal hashes.
    pub fn name_hash(&self, name: &str) -> String {
        let hash = self.mac("name", &name.to_lowercase()).finalize().into_bytes();
        hex(&hash[..6])
    }

    fn mac(&self, purpose: &str, text: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.reveal().as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(purpose.as_bytes());
        mac.update(b" ");
        mac.update(text.as_bytes());
        mac
    }
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let mut bytes = [0; N];
    if digits.len() != 2 * N || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_cookie_with_a_valid_signature_identifies_a_device() {
        let key = DeviceKey::new(TokenText::from_bytes([7; 32]));
        let seen = Time::parse("2024-06-01T12:00:00").expect("a time");
        let device = Device {
            id: [0xab; 16],
            user: UserId(17),
            seen,
        };
        let cookie = key.sign(&device);
        assert_eq!(key.verify(&cookie, seen), Some(device));
        assert_eq!(
            key.verify(&cookie, seen.plus_seconds(DEVICE_TTL_SECONDS - 1)),
            Some(device)
        );
        assert_eq!(key.verify(&cookie, seen.plus_seconds(DEVICE_TTL_SECONDS)), None);
        let other = DeviceKey::new(TokenText::from_bytes([8; 32]));
        assert_eq!(other.verify(&cookie, seen), None);
        for forged in [
            String::new(),
            "...".to_owned(),
            cookie.replace(".17.", ".18."),
            cookie.replacen("ab", "ac", 1),
            cookie[..cookie.len() - 1].to_owned(),
            format!("{cookie}0"),
        ] {
            assert_eq!(key.verify(&forged, seen), None, "{forged}");
        }
        assert_eq!(key.name_hash("Ada"), key.name_hash("ada"));
        assert_ne!(key.name_hash("ada"), other.name_hash("ada"));
        assert_eq!(key.name_hash("ada").len(), 12);
    }
}
