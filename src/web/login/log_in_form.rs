//! The log-in form of the console and of the authorization endpoint.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::model::token::TokenHash;
use crate::rules::Result;
use crate::web::App;
use crate::web::cookies::{self, FORM_TOKEN, LOG_IN};
use crate::web::fields::Fields;
use crate::web::login_attempts::{AttemptOutcome, LoginAttempt, try_log_in};
use crate::web::pages::{LogInPage, redirect};

/// The CSRF token of the log-in form, if the submitted token matches the browser's cookie.
pub fn checked_csrf_token(headers: &HeaderMap, fields: &Fields) -> Option<TokenHash> {
    let sent = fields.text(FORM_TOKEN).unwrap_or_default();
    let cookie = cookies::read(headers, cookies::FORM)?;
    Some(cookies::csrf_token(LOG_IN, &cookie)).filter(|csrf_token| csrf_token.matches_stored(sent))
}

/// Tries to log in: redirects to `next` with a session, or shows the form again.
pub async fn log_in(app: &App, attempt: LoginAttempt, page: &LogInPage<'_>, next: &str) -> Result<Response> {
    match try_log_in(app, attempt).await? {
        AttemptOutcome::Throttled { wait } => Ok(page.after_failure(StatusCode::TOO_MANY_REQUESTS, wait)),
        AttemptOutcome::WrongCredentials { wait } => Ok(page.after_failure(StatusCode::UNAUTHORIZED, wait)),
        AttemptOutcome::LoggedIn(logged_in) => {
            let mut response = redirect(next);
            logged_in.set_cookies(response.headers_mut());
            Ok(response)
        }
    }
}
