//! For whoever watches over the server: is it there, and can it work?

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use super::{App, answer};
use crate::rules::{Error, Result};
use crate::store::StoreError;
use crate::store::tokens::identity_version;

#[derive(Serialize)]
struct HealthView {
    status: &'static str,
}

const FINE: HealthView = HealthView { status: "ok" };

/// The process answers.
pub async fn alive() -> Response {
    answer::json(StatusCode::OK, &FINE)
}

/// The store answers too, still takes writes, and nobody has asked the server to stop.
pub async fn ready(State(app): State<App>) -> Result<Response> {
    if *app.store().failed().borrow() || *app.stopping().borrow() {
        return Err(Error::Store(StoreError::Stopped));
    }
    app.store()
        .read(|tx| Ok::<_, Error>(identity_version(tx)?))
        .await?;
    Ok(answer::json(StatusCode::OK, &FINE))
}
