//! `GET /` and `GET /v4`: the name, version and links of this server. `GET /` redirects browsers to the console.

use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

use crate::api::docs;
use crate::web::error::accepts_html;
use crate::web::origin::issuer;
use crate::web::pages::redirect;
use crate::web::{App, answer};

#[derive(Serialize)]
struct ServiceView {
    name: &'static str,
    version: &'static str,
    compatible_with: &'static str,
    spec_version: &'static str,
    links: LinksView,
}

#[derive(Serialize)]
struct LinksView {
    api: String,
    console: String,
    docs: String,
    openapi: String,
    health: String,
    readiness: String,
}

pub async fn describe(State(app): State<App>, parts: Parts) -> Response {
    let mut response = match accepts_html(&parts.headers) {
        true => redirect("/login"),
        false => answer::json(StatusCode::OK, &view(&issuer(&app, &parts))),
    };
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// The description at the root of the API, also for browsers.
pub async fn describe_api(State(app): State<App>, parts: Parts) -> Response {
    answer::json(StatusCode::OK, &view(&issuer(&app, &parts)))
}

fn view(root: &str) -> ServiceView {
    ServiceView {
        name: "Garth",
        version: env!("CARGO_PKG_VERSION"),
        compatible_with: "Linode API v4",
        spec_version: docs::spec_version(),
        links: LinksView {
            api: format!("{root}/v4"),
            console: format!("{root}/login"),
            docs: format!("{root}/docs"),
            openapi: format!("{root}/openapi.json"),
            health: format!("{root}/healthz"),
            readiness: format!("{root}/readyz"),
        },
    }
}
