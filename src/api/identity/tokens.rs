//! Personal tokens on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::id::TokenId;
use crate::model::time::Time;
use crate::model::token::{NEVER, Token};
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
struct TokenView<'a> {
    id: i64,
    scopes: String,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    label: &'a str,
    token: &'a str,
    expiry: String,
}

impl<'a> TokenView<'a> {
    /// A token as it is shown later: only how it begins.
    fn new(token: &'a Token) -> Self {
        Self {
            id: token.id.0,
            scopes: token.scopes.to_string(),
            created: token.created,
            label: &token.label,
            token: &token.prefix,
            expiry: token.expiry.map_or(NEVER.to_owned(), |expiry| expiry.to_string()),
        }
    }
}

pub async fn list(State(app): State<App>, caller: Caller, list: ListRequest) -> Result<Response> {
    let tokens = app
        .read(caller, move |tx, caller| rules::tokens::page(tx, caller, &list))
        .await?;
    Ok(answer::page(&tokens, TokenView::new))
}

pub async fn create(State(app): State<App>, caller: Caller, request: Request) -> Result<Response> {
    let (token, text) = app
        .write(caller, move |tx, caller| {
            rules::tokens::create_own(tx, caller, &request)
        })
        .await?;
    let mut view = TokenView::new(&token);
    view.token = text.reveal();
    Ok(answer::one(&token, &view))
}

pub async fn view(State(app): State<App>, caller: Caller, At(id): At<TokenId>) -> Result<Response> {
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    Ok(answer::one(&token, &TokenView::new(&token)))
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    At(id): At<TokenId>,
    request: Request,
) -> Result<Response> {
    let token = app
        .write(caller, move |tx, caller| {
            rules::tokens::update(tx, caller, id, &request)
        })
        .await?;
    Ok(answer::one(&token, &TokenView::new(&token)))
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    At(id): At<TokenId>,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::tokens::delete(tx, caller, id, &request)
    })
    .await?;
    Ok(answer::done())
}
