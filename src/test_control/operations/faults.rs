//! Faults by rule: list, add, replace and delete.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use crate::rules::{Error, Result};
use crate::test_control::control::Control;
use crate::test_control::input;
use crate::web::answer;

pub async fn list(State(control): State<Control>) -> Response {
    answer::json(StatusCode::OK, &json!({"data": control.faults().rules()}))
}

pub async fn add(State(control): State<Control>, body: Bytes) -> Result<Response> {
    control.faults().add(input::read(&body)?)?;
    Ok(list(State(control)).await)
}

pub async fn replace(State(control): State<Control>, body: Bytes) -> Result<Response> {
    control.faults().replace(input::read_list(&body)?)?;
    Ok(list(State(control)).await)
}

pub async fn delete(State(control): State<Control>, Path(id): Path<u64>) -> Result<Response> {
    match control.faults().delete(id) {
        true => Ok(answer::done()),
        false => Err(Error::NotFound),
    }
}

pub async fn clear(State(control): State<Control>) -> Response {
    control.faults().clear();
    answer::done()
}
