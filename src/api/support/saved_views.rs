//! JSON views of saved views of the queue.

use std::collections::BTreeMap;

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::saved_view::SavedView;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
pub struct SavedViewView<'a> {
    id: i64,
    label: &'a str,
    shared: bool,
    filters: BTreeMap<&'static str, &'a str>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    created_by: &'a str,
}

impl<'a> SavedViewView<'a> {
    pub fn new(saved: &'a SavedView) -> Self {
        Self {
            id: saved.id.0,
            label: saved.label.as_str(),
            shared: saved.is_shared,
            filters: saved.filters.iter().collect(),
            created: saved.created,
            created_by: &saved.created_by,
        }
    }
}

pub fn one(saved: &SavedView, _: &ViewContext) -> Response {
    answer::one(saved, &SavedViewView::new(saved))
}

pub fn page(saved: &Paged<SavedView>, _: &ViewContext) -> Response {
    answer::page(saved, SavedViewView::new)
}
