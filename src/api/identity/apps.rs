//! JSON views of authorized OAuth clients.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::oauth_grant::OauthGrant;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct AppView<'a> {
    id: i64,
    label: &'a str,
    scopes: String,
    website: Option<&'static str>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::optional_time")]
    expiry: Option<Time>,
    thumbnail_url: Option<&'static str>,
}

impl<'a> AppView<'a> {
    fn new(grant: &'a OauthGrant) -> Self {
        Self {
            id: grant.id,
            label: &grant.client_label,
            scopes: grant.scopes.to_string(),
            website: None,
            created: grant.created,
            expiry: grant.expiry,
            thumbnail_url: None,
        }
    }
}

pub fn one(grant: &OauthGrant, _: &ViewContext) -> Response {
    answer::one(grant, &AppView::new(grant))
}

pub fn page(grants: &Paged<OauthGrant>, _: &ViewContext) -> Response {
    answer::page(grants, AppView::new)
}
