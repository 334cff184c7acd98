//! The recorded requests: list and delete.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use crate::test_control::control::Control;
use crate::web::answer;

pub async fn list(State(control): State<Control>) -> Response {
    answer::json(StatusCode::OK, &json!({"data": control.requests().requests()}))
}

pub async fn clear(State(control): State<Control>) -> Response {
    control.requests().clear();
    answer::done()
}
