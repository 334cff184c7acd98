//! The page of the link in mails with which users stop them (RFC 8058). It needs no log-in, and no form token: the link
//! is signed.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::error_page::PageResult;
use super::query::Query;
use crate::rules::mail_choices;
use crate::store::WriteTx;
use crate::web::App;
use crate::web::fields::{Fields, FormEncoding};
use crate::web::pages::{self, ROOT_STYLE};

/// Programs also open links, so that this page changes nothing.
pub async fn form() -> Response {
    pages::unsubscribe()
}

/// Stops the mails, or starts them again. Mail programs send their own form.
pub async fn send(State(app): State<App>, query: Query, request: Request) -> PageResult {
    let fields = Fields::read(&app, request, FormEncoding::UrlencodedOrMultipart).await;
    let wants_mail = fields.is_ok_and(|fields| fields.text("mails") == Some("start"));
    let (user, signature) = (query.text("user").to_owned(), query.text("signature").to_owned());
    let set = move |tx: &mut WriteTx| mail_choices::set_by_link(tx, &user, &signature, wants_mail);
    app.store().write(set).await?;
    let text = match wants_mail {
        true => "You get mails about tickets again.",
        false => "You get no more mails about tickets.",
    };
    Ok(pages::message(
        StatusCode::OK,
        "Mails about tickets",
        text,
        ROOT_STYLE,
    ))
}
