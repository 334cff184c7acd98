//! The query string of a page's URL.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::forms::FormData;
use crate::model::page::Page;
use crate::rules::lists::ListRequest;
use crate::web::App;
use crate::web::fields::pairs;

/// The length to which search text is truncated.
pub const MAX_SEARCH_CHARS: usize = 100;

/// The number of rows on a page of a list. With this number, a page takes less than twice as long as the page of a list
/// with 10 rows (`bench/run console_scale`).
pub const ROWS_PER_PAGE: i64 = 40;

/// The query parameters; also the fields of a form with the method GET.
#[derive(Clone, Debug)]
pub struct Query(pub FormData);

impl Query {
    pub fn text(&self, name: &str) -> &str {
        self.0.text(name)
    }

    /// The search text, without control characters.
    pub fn search_text(&self) -> String {
        let plain = self.text("q").trim().chars().filter(|c| !c.is_control());
        plain.take(MAX_SEARCH_CHARS).collect()
    }

    /// The requested page of a list in memory. `list` is the name of the parameter. Without a valid number, it is the
    /// first page.
    pub fn page(&self, list: &str) -> Page {
        let number = self.text(list).parse().unwrap_or(1).max(1);
        let size = ROWS_PER_PAGE;
        Page { number, size }
    }

    /// The requested page of a list.
    pub fn list_request(&self) -> ListRequest {
        list_page(self.text("page"))
    }
}

/// A page of a list. `page` is the page number in the URL.
pub fn list_page(page: &str) -> ListRequest {
    ListRequest::first(ROWS_PER_PAGE).at_page_in_url(page)
}

impl FromRequestParts<App> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(FormData::new(pairs(query.as_bytes()))))
    }
}
