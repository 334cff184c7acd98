//! The log-in form of the console and of the authorization endpoint.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::model::token::TokenHash;
use crate::rules::Result;
use crate::web::App;
use crate::web::cookies::{self, FORM_TOKEN, LOG_IN};
use crate::web::fields::Fields;
use crate::web::login_attempts::{Attempted, Guess, attempt};
use crate::web::pages::{LogInPage, redirect};

/// The form token, if it matches the cookie of this browser.
pub fn checked_csrf_token(headers: &HeaderMap, fields: &Fields) -> Option<TokenHash> {
    let sent = fields.text(FORM_TOKEN).unwrap_or_default();
    let cookie = cookies::read(headers, cookies::FORM)?;
    Some(cookies::csrf_token(LOG_IN, &cookie)).filter(|csrf_token| csrf_token.matches_stored(sent))
}

/// Tries to log in: redirects to `next` with a session, or shows the form again.
pub async fn log_in(app: &App, guess: Guess, page: &LogInPage<'_>, next: &str) -> Result<Response> {
    match attempt(app, guess).await? {
        Attempted::Locked { wait } => Ok(page.after_failure(StatusCode::TOO_MANY_REQUESTS, wait)),
        Attempted::Wrong { wait } => Ok(page.after_failure(StatusCode::UNAUTHORIZED, wait)),
        Attempted::Right(logged_in) => {
            let mut response = redirect(next);
            logged_in.set_cookies(response.headers_mut());
            Ok(response)
        }
    }
}
