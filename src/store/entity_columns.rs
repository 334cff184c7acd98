//! The columns of the entity of an event or a ticket: kind, ID and label.
//!
//! The tables also have a column for its URL, which early builds wrote. It is unused, because only the API knows paths.

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

    /// Kind and ID, for the other entity of the row.
    pub fn key(&self) -> Option<(&str, i64)> {
        Some((self.kind.as_deref()?, self.id?))
    }

    /// `None` also for a kind that only a newer build knows. Such an event is shown without its entity.
    pub fn kind(&self, other: Option<(&str, i64)>) -> Option<EntityKind> {
        EntityKind::parse(self.kind.as_deref()?, other)
    }

    pub fn into_entity(self, kind: Option<EntityKind>) -> Option<Entity> {
        Some(Entity {
            kind: kind?,
            id: self.id?,
            label: self.label?,
        })
    }
}
