//! JSON views of OAuth clients.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::oauth::OauthClient;
use crate::model::page::Paged;
use crate::model::token::TokenText;
use crate::web::answer;

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

pub fn one(client: &OauthClient, _: &ViewContext) -> Response {
    answer::one(client, &OauthClientView::new(client))
}

pub fn page(clients: &Paged<OauthClient>, _: &ViewContext) -> Response {
    answer::page(clients, OauthClientView::new)
}

/// The client with its secret. All other responses redact the secret.
pub fn with_secret((client, secret): &(OauthClient, TokenText), _: &ViewContext) -> Response {
    let mut view = OauthClientView::new(client);
    view.secret = secret.reveal();
    answer::one(client, &view)
}
