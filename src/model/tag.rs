//! Fingerprints: has a thing changed since somebody looked at it?

use std::hash::{DefaultHasher, Hash, Hasher};

/// Equal things have equal tags. A tag is good for comparing with another one from the same
/// build of Garth, and for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u64);

impl Tag {
    pub fn of(thing: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        thing.hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{:016x}\"", self.0)
    }
}
