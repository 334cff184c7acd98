//! The assets of the pages: a style sheet, htmx, and the console's own script.
//!
//! They are compiled into the binary. The URL of an asset contains its hash, so browsers never need to reload
//! it.

use std::borrow::Cow;
use std::sync::LazyLock;

use axum::extract::RawPathParams;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::error_page::ErrorPage;
use crate::model::token::TokenHash;
use crate::web::pages::BASE_STYLE;

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let style = format!("{BASE_STYLE}{}", include_str!("assets/console.css"));
    Asset::new("console", "css", CSS, style.into())
});
pub static HTMX: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "htmx",
        "js",
        JAVASCRIPT,
        include_str!("assets/htmx.min.js").into(),
    )
});
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "console",
        "js",
        JAVASCRIPT,
        include_str!("assets/console.js").into(),
    )
});

pub struct Asset {
    pub path: String,
    kind: &'static str,
    text: Cow<'static, str>,
}

impl Asset {
    fn new(name: &str, ending: &str, kind: &'static str, text: Cow<'static, str>) -> Self {
        let hash = TokenHash::of(&text).hex();
        let path = format!("/console/{name}-{}.{ending}", &hash[..12]);
        Self { path, kind, text }
    }
}

pub async fn serve(params: RawPathParams) -> Response {
    let mut params = params.iter();
    let path = params.find_map(|(key, value)| (key == "asset").then(|| format!("/console/{value}")));
    let found = [&STYLE, &HTMX, &SCRIPT]
        .into_iter()
        .find(|asset| Some(&asset.path) == path.as_ref());
    let Some(found) = found else {
        return ErrorPage::not_found().into_response();
    };
    let immutable = HeaderValue::from_static("public, max-age=31536000, immutable");
    (
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(found.kind)),
            (header::CACHE_CONTROL, immutable),
        ],
        found.text.as_ref(),
    )
        .into_response()
}
