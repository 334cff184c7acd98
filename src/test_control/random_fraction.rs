//! Numbers that look random, and that are the same for the same arguments.

use sha2::{Digest, Sha256};

/// A number from 0 to less than 1, which depends only on the arguments.
pub fn random_fraction(seed: u64, purpose: &str, number: u64) -> f64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(number.to_be_bytes());
    hash.update(purpose.as_bytes());
    let mut prefix = [0; 8];
    prefix[4..].copy_from_slice(&hash.finalize()[..4]);
    u64::from_be_bytes(prefix) as f64 / 4_294_967_296.0
}
