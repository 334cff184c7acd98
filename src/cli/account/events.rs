//! `garth account events`.

use anyhow::Context;
use serde::Serialize;

use super::networks::{hint_at_pages, list_request};
use crate::cli::output::Output;
use crate::cli::store_args::OpenStore;
use crate::model::entity::Entity;
use crate::model::event::Event;
use crate::model::id::AccountId;
use crate::rules::account_events;

#[derive(Serialize)]
struct EventRow {
    id: i64,
    created: String,
    action: String,
    username: Option<String>,
    by_staff: bool,
    entity: Option<EntityRow>,
    secondary_entity: Option<EntityRow>,
    status: String,
    changes: Vec<ChangeRow>,
}

#[derive(Serialize)]
struct EntityRow {
    #[serde(rename = "type")]
    kind: &'static str,
    id: i64,
    label: String,
}

#[derive(Serialize)]
struct ChangeRow {
    field: String,
    before: String,
    after: String,
}

impl EventRow {
    fn new(event: Event, by_staff: bool) -> Self {
        let changes = event.changes.fields.into_iter().map(|change| ChangeRow {
            field: change.field,
            before: change.before,
            after: change.after,
        });
        Self {
            id: event.id.0,
            created: event.created.to_string(),
            action: event.action,
            username: event.username,
            by_staff,
            entity: event.entity.map(EntityRow::from),
            secondary_entity: event.secondary.map(EntityRow::from),
            status: event.status,
            changes: changes.collect(),
        }
    }

    fn user(&self) -> String {
        let username = self.username.as_deref().unwrap_or_default();
        match self.by_staff {
            true => format!("{username} (staff)"),
            false => username.to_owned(),
        }
    }
}

impl From<Entity> for EntityRow {
    fn from(entity: Entity) -> Self {
        Self {
            kind: entity.kind.word(),
            id: entity.id,
            label: entity.label,
        }
    }
}

pub async fn list(store: &OpenStore, output: Output, id: i64, page: u32) -> anyhow::Result<()> {
    let found = store
        .read(move |tx| account_events::list(tx, AccountId(id), &list_request(page)))
        .await;
    let found = found.with_context(|| format!("account {id}"))?;
    hint_at_pages(output, &found.events)?;
    let events = found.events.items.into_iter();
    let rows: Vec<_> = events
        .map(|event| {
            let by_staff = found.by_staff.contains(&event.id);
            EventRow::new(event, by_staff)
        })
        .collect();
    output.many(&rows, &["ID", "CREATED", "USER", "ACTION", "OBJECT"], |row| {
        let object = row.entity.as_ref().map(|entity| entity.label.clone());
        vec![
            row.id.to_string(),
            row.created.clone(),
            row.user(),
            row.action.clone(),
            object.unwrap_or_default(),
        ]
    })
}
