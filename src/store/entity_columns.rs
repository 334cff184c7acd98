//! The columns that store the entity of an event or a ticket: its kind, ID and label.
//!
//! The tables also have a column for the entity's URL, which only early builds wrote. It is unused now,
//! because only the API builds URLs.

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

    /// The kind and the ID. The method `kind` of the other entity in the same row takes them as `other`.
    pub fn key(&self) -> Option<(&str, i64)> {
        Some((self.kind.as_deref()?, self.id?))
    }

    /// The kind of the entity. `other` is the key of the other entity in the same row. `None` if there is no
    /// entity, or if only a newer build supports the kind. The event is then shown without its entity.
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
