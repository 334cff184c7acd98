//! The request of a logged-in user for a page.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use maud::{Markup, html};

use crate::model::announcement::Announcement;
use crate::model::proof::Identity;
use crate::model::staff_role::StaffRole;
use crate::web::App;
use crate::web::cookies::FORM_TOKEN;
use crate::web::operation::Audience;

/// Unseen events are counted up to this number.
pub const MAX_UNSEEN_COUNT: i64 = 100;

/// The data about the request and its user that pages need.
#[derive(Clone)]
pub struct Visit {
    pub username: String,
    pub audience: Audience,
    /// `None` for tenants.
    pub role: Option<StaffRole>,
    pub path: String,
    /// The base URL of the server, as the browser reaches it.
    pub origin: String,
    /// The key of the notice to show. It must be both in the query and in a cookie, so that a link from
    /// another site, or a reload, does not show the notice.
    pub notice: Option<String>,
    /// The error message of the previous request.
    pub refused: Option<String>,
    /// The announcements of the provider that tenants see now.
    pub announcements: Vec<Announcement>,
    /// The token that the forms of the page submit.
    pub csrf_token: String,
    /// The number of events that the user has not seen, up to `MAX_UNSEEN_COUNT`.
    pub unseen: i64,
    /// The URL of the event stream that the page subscribes to.
    pub stream_url: Option<String>,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<Visit>().cloned();
        Ok(visit.expect("the session check inserts the visit"))
    }
}

impl Visit {
    /// Whether the user is a member of staff with this role or a higher one.
    pub fn has_role(&self, role: StaffRole) -> bool {
        self.role.is_some_and(|held| held >= role)
    }

    /// The hidden field that every form with the method POST must have.
    pub fn form_token(&self) -> Markup {
        html! { input type="hidden" name=(FORM_TOKEN) value=(self.csrf_token); }
    }
}

/// The audience that a user belongs to: tenants or staff.
pub fn audience_of(identity: &Identity) -> Audience {
    match identity.account {
        Some(_) => Audience::Tenants,
        None => Audience::Staff,
    }
}
