//! JSON views of the directory of objects in other services.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::entity::Entry;
use crate::model::page::Paged;
use crate::web::answer;

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
            kind: entry.kind.word(),
            id: entry.id,
            label: &entry.label,
        }
    }
}

pub fn one(entry: &Entry, _: &ViewContext) -> Response {
    answer::json(StatusCode::OK, &EntryView::new(entry))
}

pub fn page(entries: &Paged<Entry>, _: &ViewContext) -> Response {
    answer::page(entries, EntryView::new)
}
