//! Programs that may ask users for access, on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::oauth::OauthClient;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
struct OauthClientView<'a> {
    id: &'a str,
    label: &'a str,
    redirect_uri: &'a str,
    secret: &'a str,
    public: bool,
    status: &'a str,
    thumbnail_url: Option<&'static str>,
}

impl<'a> OauthClientView<'a> {
    fn new(client: &'a OauthClient) -> Self {
        Self {
            id: &client.id,
            label: client.label.as_str(),
            redirect_uri: client.redirect_uri.as_str(),
            secret: "<REDACTED>",
            public: client.public,
            status: &client.status,
            thumbnail_url: None,
        }
    }
}

pub async fn list(State(app): State<App>, caller: Caller, list: ListRequest) -> Result<Response> {
    let clients = app
        .read(caller, move |tx, caller| {
            rules::oauth_clients::list(tx, caller, &list)
        })
        .await?;
    Ok(answer::page(&clients, OauthClientView::new))
}

pub async fn create(State(app): State<App>, caller: Caller, request: Request) -> Result<Response> {
    let (client, secret) = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::create(tx, caller, &request)
        })
        .await?;
    let mut view = OauthClientView::new(&client);
    view.secret = secret.reveal();
    Ok(answer::one(&client, &view))
}

pub async fn view(State(app): State<App>, caller: Caller, At(id): At<String>) -> Result<Response> {
    let client = app
        .read(caller, move |tx, caller| {
            rules::oauth_clients::view(tx, caller, &id)
        })
        .await?;
    Ok(answer::one(&client, &OauthClientView::new(&client)))
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    At(id): At<String>,
    request: Request,
) -> Result<Response> {
    let client = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::update(tx, caller, &id, &request)
        })
        .await?;
    Ok(answer::one(&client, &OauthClientView::new(&client)))
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    At(id): At<String>,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::oauth_clients::delete(tx, caller, &id, &request)
    })
    .await?;
    Ok(answer::done())
}

pub async fn reset_secret(
    State(app): State<App>,
    caller: Caller,
    At(id): At<String>,
    request: Request,
) -> Result<Response> {
    let (client, secret) = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::reset_secret(tx, caller, &id, &request)
        })
        .await?;
    let mut view = OauthClientView::new(&client);
    view.secret = secret.reveal();
    Ok(answer::one(&client, &view))
}
