//! What stands behind the question mark in a page's address.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::forms::Sent;
use crate::rules::lists::ListRequest;
use crate::web::App;
use crate::web::fields::pairs;

/// How many characters are looked for at most.
pub const LONGEST: usize = 100;

/// The query of an address; also a form that was sent by asking for a page.
#[derive(Clone, Debug)]
pub struct Query(pub Sent);

impl Query {
    pub fn text(&self, name: &str) -> &str {
        self.0.text(name)
    }

    /// The words that are looked for, as far as a field takes them.
    pub fn words(&self) -> String {
        let plain = self.text("q").trim().chars().filter(|c| !c.is_control());
        plain.take(LONGEST).collect()
    }

    /// The page of a list that is asked for, with so many on a page.
    pub fn list(&self, size: i64) -> ListRequest {
        ListRequest::first(size).at_page_in_url(self.text("page"))
    }
}

impl FromRequestParts<App> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(Sent::new(pairs(query.as_bytes()))))
    }
}
