//! Reset, and snapshots: create, list, restore and delete.
//!
//! The file of an attachment is deleted when neither the store nor a snapshot refers to it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::reason::Code;
use crate::model::time::Time;
use crate::rules::accounts::FirstToken;
use crate::rules::error::FilesFault;
use crate::rules::{self, Error, Result};
use crate::store::{self, WriteLock, WriteTx};
use crate::test_control::control::Control;
use crate::test_control::input;
use crate::test_control::snapshots::Snapshot;
use crate::web::{answer, error};

const MAX_NAME_CHARS: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSnapshot {
    name: String,
}

#[derive(Serialize)]
struct SnapshotView<'a> {
    name: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
}

/// Returns to the store of a first start and to the initial state of test control. Snapshots remain.
pub async fn reset(State(control): State<Control>) -> Result<Response> {
    let snapshots = control.snapshots();
    let (empty, first_token) = (snapshots.empty(), snapshots.first_token.clone());
    let clock = control.clone();
    let _changing = control.clock_change().await;
    let write = move |tx: &mut WriteTx| {
        // The first user is created at the time of the system.
        clock.clock().reset();
        empty.restore(tx)?;
        rules::accounts::bootstrap(tx, &FirstToken::None)?;
        if let Some(token) = first_token.as_ref() {
            token.insert(tx)?;
        }
        Ok::<_, Error>(())
    };
    let work = async {
        let store = control.store();
        store.write_with(Some(WriteLock::Bootstrap), write).await?;
        control.faults().clear();
        control.requests().clear();
        control.settings().clear(store);
        if let Some(chaos) = control.chaos() {
            chaos.restart();
        }
        Ok(())
    };
    replace(&control, work).await
}

pub async fn create(State(control): State<Control>, body: Bytes) -> Result<Response> {
    let NewSnapshot { name } = input::read(&body)?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // Clients resolve the segments `.` and `..` of a path.
    let is_relative = matches!(name.as_str(), "." | "..");
    if !(1..=MAX_NAME_CHARS).contains(&name.len()) || !name.chars().all(is_allowed) || is_relative {
        let reason = format!(
            "Must be 1 to {MAX_NAME_CHARS} ASCII letters, digits, dashes, underscores or dots, and not . or .."
        );
        return Err(input::refuse("name", Code::WrongType, reason));
    }
    let content = control.store().snapshot().await?;
    let snapshot = Snapshot {
        created: control.clock().now(),
        content: Arc::new(content),
    };
    let response = answer::json(StatusCode::OK, &SnapshotView::new((&name, &snapshot)));
    let replaced = control.snapshots().by_name().insert(name, snapshot);
    remove_files_of(&control, replaced).await?;
    Ok(response)
}

pub async fn list(State(control): State<Control>) -> Response {
    let snapshots = control.snapshots().by_name();
    let views: Vec<_> = snapshots.iter().map(SnapshotView::new).collect();
    answer::json(StatusCode::OK, &json!({"data": views}))
}

pub async fn restore(State(control): State<Control>, Path(name): Path<String>) -> Result<Response> {
    let Some(Snapshot { content, .. }) = control.snapshots().find(&name) else {
        return Ok(unknown_snapshot());
    };
    replace(&control, async { Ok(control.store().restore(content).await?) }).await
}

pub async fn delete(State(control): State<Control>, Path(name): Path<String>) -> Result<Response> {
    let deleted = control.snapshots().by_name().remove(&name);
    if deleted.is_none() {
        return Ok(unknown_snapshot());
    }
    remove_files_of(&control, deleted).await?;
    Ok(answer::done())
}

fn unknown_snapshot() -> Response {
    let reason = "No snapshot has this name; snapshots are lost when the server stops";
    error::plain(StatusCode::NOT_FOUND, Code::NotFound, reason)
}

/// Runs `work`, which replaces the content of the store, while no request runs.
async fn replace(control: &Control, work: impl Future<Output = Result<()>>) -> Result<Response> {
    let replace = async {
        let file_keys = control.store().read(store::attachments::file_keys).await?;
        work.await?;
        Ok(file_keys)
    };
    let file_keys = control.server().restart_with(replace).await?;
    remove_unused_files(control, file_keys).await?;
    Ok(answer::done())
}

async fn remove_files_of(control: &Control, snapshot: Option<Snapshot>) -> Result<()> {
    let file_keys = snapshot.map(|snapshot| snapshot.content.file_keys.clone());
    remove_unused_files(control, file_keys.unwrap_or_default()).await
}

/// Deletes those of the files to which neither the store nor a snapshot refers.
async fn remove_unused_files(control: &Control, file_keys: Vec<String>) -> Result<()> {
    if file_keys.is_empty() {
        return Ok(());
    }
    let files = &control.server().context().files;
    let mut used = control.snapshots().file_keys();
    used.extend(control.store().read(store::attachments::file_keys).await?);
    for key in file_keys.iter().filter(|key| !used.contains(*key)) {
        let removed = files.remove(key).await;
        removed.map_err(|cause| Error::Files(FilesFault::Storage(cause.to_string())))?;
    }
    Ok(())
}

impl<'a> SnapshotView<'a> {
    fn new((name, snapshot): (&'a String, &'a Snapshot)) -> Self {
        Self {
            name,
            created: snapshot.created,
        }
    }
}
