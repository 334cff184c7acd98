//! The log-in page of the console.

use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::error_page::{ErrorPage, PageResult, REQUEST_FAILED};
use super::navigation::{NAVIGATION, local_page};
use super::visit::audience_of;
use crate::rules::{self, Error};
use crate::web::cookies::log_in_csrf_token;
use crate::web::fields::{Fields, FormEncoding, pairs};
use crate::web::login_attempts::{LoginAttempt, client_address};
use crate::web::operation::Audience;
use crate::web::pages::{self, LogInNotes, LogInPage, LogInTarget, ROOT_STYLE, redirect};
use crate::web::{App, cookies, log_in_form};

/// The audience of the logged-in user: tenants or staff. `None` if no user is logged in.
async fn logged_in_audience(app: &App, headers: &HeaderMap) -> Result<Option<Audience>, ErrorPage> {
    let Some(session) = cookies::read(headers, cookies::SESSION) else {
        return Ok(None);
    };
    let hash = session.hash();
    let identity = app
        .store()
        .read(move |tx| rules::sessions::identify(tx, hash))
        .await;
    match identity {
        Ok(identity) => Ok(Some(audience_of(&identity))),
        Err(Error::Unauthenticated) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn redirect_to_landing_page(audience: Audience) -> Response {
    match NAVIGATION.iter().find(|entry| entry.0 == audience) {
        Some((_, _, path)) => redirect(path),
        None => {
            let text = "You are logged in, but no console pages are available to your user.";
            pages::message(StatusCode::OK, "Logged in", text, ROOT_STYLE)
        }
    }
}

pub async fn form(State(app): State<App>, headers: HeaderMap, RawQuery(query): RawQuery) -> PageResult {
    let query = pairs(query.unwrap_or_default().as_bytes());
    let return_to = query
        .into_iter()
        .find_map(|(key, value)| (key == "to").then_some(value));
    let return_to = return_to.and_then(|url| local_page(&url));
    if let Some(audience) = logged_in_audience(&app, &headers).await? {
        return Ok(return_to.map_or_else(|| redirect_to_landing_page(audience), |url| redirect(&url)));
    }
    let (csrf_token, new_cookie) = log_in_csrf_token(&app, &headers);
    let return_to = return_to.unwrap_or_default();
    let notes = LogInNotes {
        offers_reset: app.sends_mail(),
        ..LogInNotes::default()
    };
    let mut page = pages::log_in(
        StatusCode::OK,
        LogInTarget::Console,
        &return_to,
        &csrf_token.hex(),
        &notes,
    );
    if let Some(new_cookie) = new_cookie {
        cookies::set(page.headers_mut(), cookies::FORM, &new_cookie);
    }
    Ok(page)
}

pub async fn log_in(State(app): State<App>, request: Request) -> PageResult {
    let (headers, address) = (request.headers().clone(), client_address(request.extensions()));
    let fields = Fields::read(&app, request, FormEncoding::UrlEncoded).await?;
    let Some(csrf_token) = log_in_form::checked_csrf_token(&headers, &fields) else {
        let text = "The form could not be verified. Go back, reload the page and try again. Cookies must be enabled. \
                    Unless the server runs on this computer, the address must start with https://.";
        return Err(ErrorPage::with_text(
            &Error::Forbidden,
            "Form verification failed",
            text,
        ));
    };
    let (Some(username), Some(password)) = (fields.text("username"), fields.secret("password")) else {
        let text = "The username or the password is missing. Go back and try again.";
        return Err(ErrorPage::with_text(
            &Error::Refused(Vec::new()),
            REQUEST_FAILED,
            text,
        ));
    };
    let return_to = fields.text("return_to").and_then(local_page);
    let page = LogInPage {
        target: LogInTarget::Console,
        return_to: return_to.as_deref().unwrap_or_default(),
        csrf_token,
        username,
        offers_reset: app.sends_mail(),
    };
    let attempt = LoginAttempt::new(&headers, address, username, password);
    Ok(log_in_form::log_in(&app, attempt, &page, return_to.as_deref().unwrap_or("/")).await?)
}
