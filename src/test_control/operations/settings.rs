//! The settings that were changed while the server runs: view and change.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::rules::Result;
use crate::test_control::control::Control;
use crate::test_control::input;
use crate::web::answer;

pub async fn view(State(control): State<Control>) -> Response {
    answer::json(StatusCode::OK, control.settings().settings())
}

/// The response has all changed settings.
pub async fn change(State(control): State<Control>, body: Bytes) -> Result<Response> {
    let changes: Map<String, Value> = input::read(&body)?;
    let mut settings = control.settings();
    settings.change(&changes, control.store())?;
    Ok(answer::json(StatusCode::OK, settings.settings()))
}
