//! The directory of what accounts have elsewhere, on the wire.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::model::id::AccountId;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::entities::Entry;
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
struct EntryView<'a> {
    account_id: i64,
    #[serde(rename = "type")]
    kind: &'a str,
    id: i64,
    label: &'a str,
}

impl<'a> EntryView<'a> {
    fn new(entry: &'a Entry) -> Self {
        Self {
            account_id: entry.account.0,
            kind: &entry.kind,
            id: entry.id,
            label: &entry.label,
        }
    }
}

pub async fn list(State(app): State<App>, staff: Staff, list: ListRequest) -> Result<Response> {
    let entries = app
        .read(staff, move |tx, _| rules::entities::list(tx, &list))
        .await?;
    Ok(answer::page(&entries, EntryView::new))
}

pub async fn set(State(app): State<App>, staff: Staff, request: Request) -> Result<Response> {
    let entry = app
        .write(staff, move |tx, _| rules::entities::set_from(tx, &request))
        .await?;
    Ok(answer::json(StatusCode::OK, &EntryView::new(&entry)))
}

pub async fn delete(
    State(app): State<App>,
    staff: Staff,
    At((account, kind, id)): At<(AccountId, String, i64)>,
    request: Request,
) -> Result<Response> {
    app.write(staff, move |tx, _| {
        rules::entities::delete(tx, account, &kind, id, &request)
    })
    .await?;
    Ok(answer::done())
}
