//! Entity tags, to detect changes of an object.

use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use crate::model::token::hex;

/// Equal objects have equal tags. Tags can only be compared within the same build of Garth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag(u64);

impl EntityTag {
    pub fn of(object: &impl Hash) -> Self {
        Self(FixedState::default().hash_one(object))
    }
}

impl std::fmt::Display for EntityTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&["\"", &hex(&self.0.to_be_bytes()), "\""].concat())
    }
}
