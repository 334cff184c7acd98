//! JSON views of permissions by name: a plain array, as in the public API.

use axum::http::StatusCode;
use axum::response::Response;

use crate::api::handlers::ViewContext;
use crate::rules::permissions::Names;
use crate::web::answer;

pub fn all(names: &Names, _: &ViewContext) -> Response {
    answer::json(StatusCode::OK, names)
}
