//! JSON views of the caller's profile.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::{App, answer, json};

#[derive(Serialize)]
struct ProfileView<'a> {
    uid: i64,
    username: &'a str,
    email: &'a str,
    timezone: &'a str,
    email_notifications: bool,
    ip_whitelist_enabled: bool,
    lish_auth_method: &'a str,
    authorized_keys: Option<Vec<&'a str>>,
    two_factor_auth: bool,
    restricted: bool,
    authentication_type: &'static str,
    user_type: &'static str,
    verified_phone_number: Option<&'static str>,
    referrals: Referrals,
}

/// Garth has no referral program, but clients expect the numbers.
#[derive(Default, Serialize)]
struct Referrals {
    code: &'static str,
    url: &'static str,
    total: i64,
    completed: i64,
    pending: i64,
    credit: i64,
}

impl<'a> ProfileView<'a> {
    fn new(user: &'a User) -> Self {
        Self {
            uid: user.id.0,
            username: user.username.as_str(),
            email: user.email.as_str(),
            timezone: &user.timezone,
            email_notifications: user.email_notifications,
            ip_whitelist_enabled: false,
            lish_auth_method: &user.lish_auth_method,
            authorized_keys: user.authorized_keys.as_deref().map(|keys| keys.lines().collect()),
            two_factor_auth: false,
            restricted: user.restricted,
            authentication_type: "password",
            user_type: "default",
            verified_phone_number: None,
            referrals: Referrals::default(),
        }
    }
}

pub async fn set_preferences(State(app): State<App>, caller: Caller, request: Request) -> Result<Response> {
    let json_text = request.body.as_ref().map(json::write).unwrap_or_default();
    app.write(caller, move |tx, caller| {
        let stored = rules::profile::set_preferences(tx, caller, &request, &json_text)?;
        Ok(stored_json(stored))
    })
    .await
}

/// The response with JSON text from the store, and with its entity tag.
fn stored_json(json_text: String) -> Response {
    let tag = answer::tag(&json_text);
    let mut response = Response::new(Body::from(json_text));
    response.headers_mut().insert(header::CONTENT_TYPE, answer::JSON);
    response.headers_mut().insert(header::ETAG, tag);
    response
}

pub fn one(user: &User, _: &ViewContext) -> Response {
    answer::one(user, &ProfileView::new(user))
}

pub fn preferences(json_text: &str, _: &ViewContext) -> Response {
    stored_json(json_text.to_owned())
}
