//! JSON views of personal tokens.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::token::TokenText;
use crate::model::token::{NO_EXPIRY, Token};
use crate::web::answer;

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
    /// The view of a token. It shows only the prefix of the token's text.
    fn new(token: &'a Token) -> Self {
        Self {
            id: token.id.0,
            scopes: token.scopes.to_string(),
            created: token.created,
            label: &token.label,
            token: &token.prefix,
            expiry: token
                .expiry
                .map_or(NO_EXPIRY.to_owned(), |expiry| expiry.to_string()),
        }
    }
}

pub fn one(token: &Token, _: &ViewContext) -> Response {
    answer::one(token, &TokenView::new(token))
}

pub fn page(tokens: &Paged<Token>, _: &ViewContext) -> Response {
    answer::page(tokens, TokenView::new)
}

/// The only response that shows the token itself.
pub fn created((token, text): &(Token, TokenText), _: &ViewContext) -> Response {
    let mut view = TokenView::new(token);
    view.token = text.reveal();
    answer::one(token, &view)
}
