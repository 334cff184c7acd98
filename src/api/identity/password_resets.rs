//! The page for a forgotten password (decision 0047). The public Linode web app links to it, too.
//!
//! The response does not depend on the entered name: neither its content nor its duration reveals which users exist.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::rules::{Result, account_mails};
use crate::web::cookies::log_in_csrf_token;
use crate::web::fields::{Fields, FormEncoding};
use crate::web::pages::{self, FORGOT_PASSWORD_TITLE as TITLE};
use crate::web::{App, cookies, log_in_form};

/// The time from the request to the response.
const RESPONSE_TIME: Duration = Duration::from_millis(500);
const STYLE: &str = "../oauth/style.css";

/// The form. Without a mail server, only the provider can create a link.
pub async fn form(State(app): State<App>, headers: HeaderMap) -> Response {
    if !app.sends_mail() {
        return contact_provider(&app);
    }
    let (csrf_token, new_cookie) = log_in_csrf_token(&app, &headers);
    let mut page = pages::forgot_password(&csrf_token.hex());
    if let Some(new_cookie) = new_cookie {
        cookies::set(page.headers_mut(), cookies::FORM, &new_cookie);
    }
    page
}

/// Queues the mails in the background, and responds after a fixed time.
pub async fn send(State(app): State<App>, request: Request) -> Result<Response> {
    let headers = request.headers().clone();
    let fields = Fields::read(&app, request, FormEncoding::UrlEncoded).await?;
    if log_in_form::checked_csrf_token(&headers, &fields).is_none() {
        let text = "The form could not be verified. Go back, reload the page and try again. Cookies must be enabled.";
        return Ok(pages::message(
            StatusCode::FORBIDDEN,
            "Form verification failed",
            text,
            STYLE,
        ));
    }
    if !app.sends_mail() {
        return Ok(contact_provider(&app));
    }
    request_reset(&app, fields.text("username").unwrap_or_default().to_owned());
    tokio::time::sleep(RESPONSE_TIME).await;
    let text = "If there is such a user, a mail with a link for a new password is being sent. The link expires after \
                one hour. If no mail arrives within 5 minutes, try again, or contact your provider.";
    Ok(pages::message_with_log_in(TITLE, text, STYLE))
}

fn request_reset(app: &App, name_or_address: String) {
    let app = app.clone();
    tokio::spawn(async move {
        let queued = app
            .store()
            .write(move |tx| account_mails::request_reset(tx, &name_or_address))
            .await;
        if let Err(cause) = queued {
            tracing::warn!(error = ?cause, "password reset not queued");
        }
    });
}

fn contact_provider(app: &App) -> Response {
    let policy = app.store().policy();
    let provider = &policy.support.provider;
    let text = format!("Contact {provider} to get a link with which you can choose a new password.");
    pages::message_with_log_in(TITLE, &text, STYLE)
}
