//! The API reference: `openapi.yaml` as JSON and as HTML pages, one for each section.
//!
//! The server renders the pages from the document. They have no external resources, and their script is optional
//! (decision 0037).

mod assets;
mod document;
mod error_codes;
mod layout;
mod operation;
mod pages;
mod paragraphs;
mod samples;
mod schemas;
mod search;

use std::sync::LazyLock;

use axum::Extension;
use axum::extract::{RawPathParams, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;

use self::document::{DOCUMENT, text};
use self::layout::MAX_QUERY_CHARS;
use self::samples::ORIGIN;
use crate::model::token::TokenHash;
use crate::rules::error::Error;
use crate::web::error::accepts_html;
use crate::web::extract::Search;
use crate::web::origin::issuer;
use crate::web::pages::ROOT_STYLE;
use crate::web::response_memory::SharedBody;
use crate::web::{self, App, answer};

pub use assets::{script, style};

/// The content security policy: only scripts, styles and images of this server, and requests to it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

static JSON: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string_pretty(&*DOCUMENT).expect("JSON values can be serialized"));

/// The document as JSON, which `/openapi.json` serves.
pub fn openapi_json() -> &'static str {
    &JSON
}

/// The version of the public API specification that the document follows.
pub fn spec_version() -> &'static str {
    text(&DOCUMENT["info"]["version"])
}

pub async fn openapi() -> Response {
    let kind = [(header::CONTENT_TYPE, answer::JSON)];
    (Extension(SharedBody), kind, openapi_json()).into_response()
}

/// The index, or the results of a search (`?q=`).
pub async fn index(State(app): State<App>, Search(query): Search, parts: Parts) -> Response {
    let query = query.unwrap_or_default();
    let allowed = query.trim().chars().filter(|letter| *letter != samples::ORIGIN);
    let query: String = allowed.take(MAX_QUERY_CHARS).collect();
    match query.is_empty() {
        true => html_response(&pages::INDEX, &app, &parts),
        false => html_response(&pages::search_page(&query), &app, &parts),
    }
}

/// The page of a section, or of the error codes.
pub async fn page(State(app): State<App>, params: RawPathParams, parts: Parts) -> Response {
    let slug = params.iter().next().map_or("", |(_, value)| value);
    match pages::find(slug) {
        Some(page) => html_response(page, &app, &parts),
        None if accepts_html(&parts.headers) => not_found(),
        None => Error::NotFound.into_response(),
    }
}

fn not_found() -> Response {
    let text = "The API reference has no such page. Its overview is at /docs.";
    web::pages::message(StatusCode::NOT_FOUND, "Page not found", text, ROOT_STYLE)
}

/// The response with a page, in which the samples have the address that the client used.
fn html_response(page: &str, app: &App, parts: &Parts) -> Response {
    let origin = html! { (issuer(app, parts)) };
    let page = page.replace(ORIGIN, &origin.into_string());
    let tag = format!("\"{}\"", &TokenHash::of(&page).hex()[..16]);
    let fixed = HeaderValue::from_static;
    let headers = [
        (header::CONTENT_TYPE, fixed("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, fixed(POLICY)),
        (HeaderName::from_static("referrer-policy"), fixed("same-origin")),
        // The browser revalidates the page, because the page depends on the version of the server.
        (header::CACHE_CONTROL, fixed("private, no-cache")),
        (
            header::ETAG,
            HeaderValue::try_from(tag).expect("a hash is plain ASCII"),
        ),
    ];
    (headers, page).into_response()
}
