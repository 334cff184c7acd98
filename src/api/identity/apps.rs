//! Programs a user has let act for them, on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::oauth_grants::OauthGrant;
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
struct AppView<'a> {
    id: i64,
    label: &'a str,
    scopes: String,
    website: Option<&'static str>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::maybe_time")]
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

pub async fn list(State(app): State<App>, caller: Caller, list: ListRequest) -> Result<Response> {
    let grants = app
        .read(caller, move |tx, caller| rules::apps::list(tx, caller, &list))
        .await?;
    Ok(answer::page(&grants, AppView::new))
}

pub async fn view(State(app): State<App>, caller: Caller, At(id): At<i64>) -> Result<Response> {
    let grant = app
        .read(caller, move |tx, caller| rules::apps::view(tx, caller, id))
        .await?;
    Ok(answer::one(&grant, &AppView::new(&grant)))
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    At(id): At<i64>,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::apps::delete(tx, caller, id, &request)
    })
    .await?;
    Ok(answer::done())
}
