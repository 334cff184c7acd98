//! The operations under `/_test`.

mod accounts;
mod clock;
mod faults;
mod requests;
mod settings;
mod snapshots;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{delete, get, post};

use super::control::Control;
use crate::model::reason::Code;
use crate::web::error;

pub fn router() -> Router<Control> {
    Router::new()
        .route("/_test/reset", post(snapshots::reset))
        .route("/_test/snapshots", get(snapshots::list).post(snapshots::create))
        .route("/_test/snapshots/{name}", delete(snapshots::delete))
        .route("/_test/snapshots/{name}/restore", post(snapshots::restore))
        .route("/_test/clock", get(clock::view).put(clock::set))
        .route("/_test/clock/advance", post(clock::advance))
        .route(
            "/_test/faults",
            get(faults::list)
                .post(faults::add)
                .put(faults::replace)
                .delete(faults::clear),
        )
        .route("/_test/faults/{id}", delete(faults::delete))
        .route("/_test/requests", get(requests::list).delete(requests::clear))
        .route("/_test/accounts", post(accounts::create))
        .route("/_test/settings", get(settings::view).put(settings::change))
        .method_not_allowed_fallback(refuse_method)
}

/// The router adds the header `Allow`.
async fn refuse_method() -> Response {
    let reason = "Method not allowed; docs/testing.md lists the operations";
    error::plain(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, reason)
}
