//! Fingerprints: has a thing changed since somebody looked at it?

use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use crate::model::token::hex;

/// Equal things have equal tags. A tag is good for comparing with another one from the same
/// build of Garth, and for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u64);

impl Tag {
    pub fn of(thing: &impl Hash) -> Self {
        Self(FixedState::default().hash_one(thing))
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&["\"", &hex(&self.0.to_be_bytes()), "\""].concat())
    }
}
