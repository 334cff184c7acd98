//! The favicon.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

const ICON: &str = include_str!("icon.svg");

pub async fn icon() -> Response {
    let svg = HeaderValue::from_static("image/svg+xml");
    let one_day = HeaderValue::from_static("max-age=86400");
    (
        [(header::CONTENT_TYPE, svg), (header::CACHE_CONTROL, one_day)],
        ICON,
    )
        .into_response()
}
