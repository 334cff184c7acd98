//! A request for a page by somebody who is logged in.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use maud::{Markup, html};

use crate::model::proof::Identity;
use crate::web::App;
use crate::web::cookies::FORM_TOKEN;
use crate::web::operation::Audience;

/// More unseen events than this are not counted.
pub const MANY_UNSEEN: i64 = 100;

/// Somebody who is logged in, looking at one of our pages.
#[derive(Clone)]
pub struct Visit {
    pub username: String,
    pub side: Audience,
    pub path: String,
    /// The word of what was done just now: in the address for people to see, and in a cookie so that nobody else's
    /// link says so, and a page that is loaded again does not.
    pub done: Option<String>,
    /// Why something was not done just now.
    pub refused: Option<String>,
    /// What forms on the page send back.
    pub proof: String,
    /// How many events have happened that the user has not seen, up to `MANY_UNSEEN`.
    pub unseen: i64,
    /// Where the page hears of what happens after it was drawn.
    pub live: Option<String>,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<Visit>().cloned();
        Ok(visit.expect("the check lets nobody through to a page who is not logged in"))
    }
}

impl Visit {
    /// The hidden field that every form which changes something must have.
    pub fn form_token(&self) -> Markup {
        html! { input type="hidden" name=(FORM_TOKEN) value=(self.proof); }
    }
}

/// The side that a user is on.
pub fn side_of(identity: &Identity) -> Audience {
    match identity.account {
        Some(_) => Audience::Tenants,
        None => Audience::Staff,
    }
}
