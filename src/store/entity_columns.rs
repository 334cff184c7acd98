//! The object that an event or a ticket is about, as columns: kind, ID and label.
//!
//! The tables have a column for its URL as well, which early builds wrote. It is neither read nor written any more: the API
//! knows its paths, and the store does not.

use super::error::StoreError;
use super::value::Row;
use crate::model::entity::{Entity, EntityKind};

pub(super) struct EntityColumns {
    kind: Option<String>,
    id: Option<i64>,
    label: Option<String>,
}

impl EntityColumns {
    pub fn take(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            kind: row.take()?,
            id: row.take()?,
            label: row.take()?,
        })
    }

    /// Kind and ID, for the object beside it.
    pub fn key(&self) -> Option<(&str, i64)> {
        Some((self.kind.as_deref()?, self.id?))
    }

    /// `None` also for a kind that only a newer build knows; such an event is shown without its object.
    pub fn kind(&self, beside: Option<(&str, i64)>) -> Option<EntityKind> {
        EntityKind::parse(self.kind.as_deref()?, beside)
    }

    pub fn into_entity(self, kind: Option<EntityKind>) -> Option<Entity> {
        Some(Entity {
            kind: kind?,
            id: self.id?,
            label: self.label?,
        })
    }
}
