//! The images and style sheets of the provider's brand.
//!
//! The URL of an image contains its hash, and the URL of a style sheet its color, so browsers never need to reload them.

use axum::extract::{RawPathParams, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::error_page::{ErrorPage, PageResult};
use crate::model::brand_image::{ImageRef, ImageSlot};
use crate::rules;
use crate::web::{App, brand};

/// An SVG image can contain styles. If a user opens it as a page, the sandbox also prevents scripts and forms.
const IMAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub async fn serve(State(app): State<App>, params: RawPathParams) -> PageResult {
    let mut params = params.iter();
    let file = params.find_map(|(key, value)| (key == "brandAsset").then_some(value));
    let file = file.unwrap_or_default();
    if let Some(style) = brand::style_sheet(file) {
        return Ok(response("text/css; charset=utf-8", style));
    }
    let Some((slot, image)) = parse(file) else {
        return Err(ErrorPage::not_found());
    };
    let media_type = image.format.media_type();
    let content = app
        .store()
        .read(move |tx| rules::branding::image(tx, slot, &image))
        .await?;
    let mut response = response(media_type, content);
    let policy = HeaderValue::from_static(IMAGE_POLICY);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

fn parse(file: &str) -> Option<(ImageSlot, ImageRef)> {
    let (slot, rest) = file.split_once('-')?;
    Some((ImageSlot::find(slot)?, ImageRef::parse(rest)?))
}

fn response(media_type: &'static str, content: impl IntoResponse) -> Response {
    let immutable = HeaderValue::from_static("public, max-age=31536000, immutable");
    (
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (header::CACHE_CONTROL, immutable),
            (
                header::X_CONTENT_TYPE_OPTIONS,
                HeaderValue::from_static("nosniff"),
            ),
        ],
        content,
    )
        .into_response()
}
