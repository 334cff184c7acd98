//! The style sheet and the script of the pages.
//!
//! They are compiled into the binary. Pages request them with their hash (`?v=`), so browsers never need to reload
//! them. Without this hash, a browser revalidates them.

use std::borrow::Cow;
use std::sync::LazyLock;

use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::model::token::TokenHash;
use crate::web::pages::BASE_STYLE;

pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let style = format!("{BASE_STYLE}{}", include_str!("docs.css"));
    Asset::new("/docs/style.css", "text/css; charset=utf-8", style.into())
});
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let script = include_str!("docs.js");
    Asset::new("/docs/script.js", "text/javascript; charset=utf-8", script.into())
});

pub struct Asset {
    /// The path with the hash.
    pub url: String,
    tag: HeaderValue,
    kind: &'static str,
    text: Cow<'static, str>,
}

impl Asset {
    fn new(path: &str, kind: &'static str, text: Cow<'static, str>) -> Self {
        let hash = TokenHash::of(&text).hex();
        let hash = &hash[..16];
        Self {
            url: format!("{path}?v={hash}"),
            tag: HeaderValue::try_from(format!("\"{hash}\"")).expect("a hash is plain ASCII"),
            kind,
            text,
        }
    }

    fn response(&'static self, uri: &Uri) -> Response {
        let has_hash = uri.path_and_query().is_some_and(|path| path.as_str() == self.url);
        let caching = match has_hash {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        (
            [
                (header::CONTENT_TYPE, HeaderValue::from_static(self.kind)),
                (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
                (header::ETAG, self.tag.clone()),
            ],
            self.text.as_ref(),
        )
            .into_response()
    }
}

pub async fn style(uri: Uri) -> Response {
    STYLE.response(&uri)
}

pub async fn script(uri: Uri) -> Response {
    SCRIPT.response(&uri)
}
