//! Log-in, log-out and password pages.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;

use crate::api::oauth::{AuthorizationQuery, invalid_form_token, refused};
use crate::model::token::Secret;
use crate::rules::oauth::Next;
use crate::rules::{Error, Result, oauth, oauth_clients, passwords, sessions};
use crate::web::extract::{At, Link};
use crate::web::fields::{Fields, FormEncoding};
use crate::web::hashing::PermitRequest;
use crate::web::login_attempts::{self, LoginAttempt, client_address};
use crate::web::pages::{self, LogInPage, LogInTarget, incomplete};
use crate::web::{App, cookies, log_in_form};

pub async fn log_in(State(app): State<App>, request: Request) -> Result<Response> {
    let (headers, address) = (request.headers().clone(), client_address(request.extensions()));
    let fields = Fields::read(&app, request, FormEncoding::UrlEncoded).await?;
    let Some(csrf_token) = log_in_form::checked_csrf_token(&headers, &fields) else {
        return Ok(invalid_form_token());
    };
    let query = AuthorizationQuery::read(fields.text("return_to").unwrap_or_default());
    let parameters = query.parameters.clone();
    let authorization = match app
        .store()
        .read(move |tx| oauth::next_step(tx, &parameters, None))
        .await?
    {
        Next::LogIn(authorization) => authorization,
        Next::Refuse(reason) => return Ok(refused(&reason)),
        _ => return Ok(incomplete()),
    };
    let (Some(username), Some(password)) = (fields.text("username"), fields.secret("password")) else {
        return Ok(incomplete());
    };
    let page = LogInPage {
        target: LogInTarget::Application(&authorization),
        return_to: &query.encoded,
        csrf_token,
        username,
        offers_reset: app.sends_mail(),
    };
    let attempt = LoginAttempt::new(&headers, address, username, password);
    // The redirect always leads to the authorization page; the query contains the authorization request.
    let next = format!("authorize?{}", query.encoded);
    log_in_form::log_in(&app, attempt, &page, &next).await
}

/// Ends the browser's session. Tokens of OAuth clients remain valid; clients revoke their own tokens. If the
/// request comes from a page of an unknown site, the user must confirm.
pub async fn log_out(State(app): State<App>, method: Method, headers: HeaderMap) -> Result<Response> {
    // `is_intended` can read all OAuth clients, so a request without a session does not reach it.
    if is_logged_in(&app, &headers).await? && !is_intended(&app, &headers).await? {
        return Ok(pages::confirm_log_out());
    }
    let text = "You are logged out. Applications that you authorized may still have access.";
    let mut page = pages::message_with_log_in("Logged out", text, "oauth/style.css");
    // A HEAD request has no effect.
    if method == Method::GET {
        if let Some(session) = cookies::read(&headers, cookies::SESSION) {
            let hash = session.hash();
            app.store().write(move |tx| sessions::end(tx, hash)).await?;
        }
        cookies::clear(page.headers_mut(), cookies::SESSION);
    }
    Ok(page)
}

/// Whether the user intends to log out: the request comes from the address bar, from a page of this server,
/// or from a page of a registered client. A request without `Sec-Fetch-Site` is trusted. A request from a
/// page of this server must have a referrer, because links in user content send none.
async fn is_intended(app: &App, headers: &HeaderMap) -> Result<bool> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let referrer = text("referer").unwrap_or_default().to_owned();
    match text("sec-fetch-site") {
        None | Some("none") => Ok(true),
        Some("same-origin") => Ok(!referrer.is_empty()),
        Some(_) => {
            app.store()
                .read(move |tx| oauth_clients::has_client_at(tx, &referrer))
                .await
        }
    }
}

async fn is_logged_in(app: &App, headers: &HeaderMap) -> Result<bool> {
    let Some(session) = cookies::read(headers, cookies::SESSION) else {
        return Ok(false);
    };
    let hash = session.hash();
    match app.store().read(move |tx| sessions::identify(tx, hash)).await {
        Ok(_) => Ok(true),
        Err(Error::Unauthenticated) => Ok(false),
        Err(other) => Err(other),
    }
}

pub async fn password_page(State(app): State<App>, At(Link(link)): At<Link>) -> Result<Response> {
    match app.store().read(move |tx| passwords::link_owner(tx, link)).await {
        Ok(user) => Ok(pages::choose_password(
            StatusCode::OK,
            user.username.as_str(),
            None,
        )),
        Err(Error::NotFound) => Ok(no_such_link()),
        Err(other) => Err(other),
    }
}

pub async fn set_password(
    State(app): State<App>,
    At(Link(link)): At<Link>,
    request: Request,
) -> Result<Response> {
    let (headers, address) = (request.headers().clone(), client_address(request.extensions()));
    let fields = Fields::read(&app, request, FormEncoding::UrlEncoded).await?;
    let user = match app.store().read(move |tx| passwords::link_owner(tx, link)).await {
        Ok(user) => user,
        Err(Error::NotFound) => return Ok(no_such_link()),
        Err(other) => return Err(other),
    };
    let show_again = |text: &str| {
        let name = user.username.as_str();
        Ok(pages::choose_password(StatusCode::BAD_REQUEST, name, Some(text)))
    };
    if fields.text("password") != fields.text("again") {
        return show_again("The passwords do not match.");
    }
    let password = fields
        .secret("password")
        .unwrap_or_else(|| Secret::new(String::new()));
    // A link is equivalent to a password, so this does not count as an attempt to log in.
    let permit_request = PermitRequest::from_address(address, 0);
    let client = login_attempts::describe_client(&app, &headers, address);
    let hash = match app
        .hash(permit_request, move || passwords::hash(&password))
        .await?
    {
        Ok(hash) => hash,
        Err(Error::Refused(errors)) => {
            let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
            return show_again(&reasons.join("; "));
        }
        Err(other) => return Err(other),
    };
    let result = app
        .store()
        .write(move |tx| passwords::set_by_link(tx, link, &hash, &client))
        .await;
    match result {
        Ok(_) => {
            let text = "You can now log in with your new password.";
            let mut page = pages::message_with_log_in("Password set", text, "../style.css");
            let device = login_attempts::device_cookie(&app, &headers, user.id).await?;
            device.set(page.headers_mut());
            Ok(page)
        }
        // The link was used in the meantime.
        Err(Error::NotFound) => Ok(no_such_link()),
        Err(other) => Err(other),
    }
}

fn no_such_link() -> Response {
    let text = "This link has expired or was already used. Ask your provider for a new one.";
    pages::message(StatusCode::NOT_FOUND, "Invalid link", text, "../style.css")
}
