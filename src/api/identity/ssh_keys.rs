//! JSON views of SSH keys.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::ssh_key::SshKey;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct SshKeyView<'a> {
    id: i64,
    label: &'a str,
    ssh_key: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
}

impl<'a> SshKeyView<'a> {
    fn new(key: &'a SshKey) -> Self {
        Self {
            id: key.id.0,
            label: key.label.as_str(),
            ssh_key: key.key.as_str(),
            created: key.created,
        }
    }
}

pub fn one(key: &SshKey, _: &ViewContext) -> Response {
    answer::one(key, &SshKeyView::new(key))
}

pub fn page(keys: &Paged<SshKey>, _: &ViewContext) -> Response {
    answer::page(keys, SshKeyView::new)
}
