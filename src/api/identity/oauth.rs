//! The OAuth authorization endpoint, and the server metadata.

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::model::reason::{Code, Reason};
use crate::model::token::TokenText;
use crate::rules::oauth::{AuthorizationRequest, Next};
use crate::rules::{self, Result};
use crate::web::cookies::log_in_csrf_token;
use crate::web::fields::{self, Fields, FormEncoding};
use crate::web::origin::issuer;
use crate::web::pages::{self, LogInNotes, LogInTarget, incomplete, redirect};
use crate::web::{App, answer, cookies};

const CONSENT: &str = "consent";
const REQUEST_FAILED_TITLE: &str = "Invalid request";

pub async fn style() -> Response {
    let css = HeaderValue::from_static("text/css; charset=utf-8");
    ([(header::CONTENT_TYPE, css)], pages::STYLE.as_str()).into_response()
}

pub async fn authorize(State(app): State<App>, parts: Parts) -> Result<Response> {
    let query = AuthorizationQuery::read(parts.uri.query().unwrap_or_default());
    let session = cookies::read(&parts.headers, cookies::SESSION);
    let hash = session.as_ref().map(TokenText::hash);
    let parameters = query.parameters.clone();
    let mut next = app
        .store()
        .read(move |tx| rules::oauth::next_step(tx, &parameters, hash))
        .await?;
    if let Next::AlreadyAuthorized = next {
        // A HEAD request has no effect.
        if parts.method == Method::HEAD {
            let text = "You have already authorized this application.";
            return Ok(pages::message(StatusCode::OK, "Continue", text, "style.css"));
        }
        let parameters = query.parameters.clone();
        next = app
            .store()
            .write(move |tx| rules::oauth::issue_with_earlier_consent(tx, &parameters, hash))
            .await?;
    }
    Ok(show(&app, &parts, &query, session.as_ref(), next))
}

pub async fn decide(State(app): State<App>, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let request = Request::from_parts(parts.clone(), body);
    let fields = Fields::read(&app, request, FormEncoding::UrlEncoded).await?;
    let query = AuthorizationQuery::read(fields.text("return_to").unwrap_or_default());
    let session = cookies::read(&parts.headers, cookies::SESSION);
    let is_token_valid = |session: &TokenText| {
        let sent = fields.text("form_token").unwrap_or_default();
        cookies::csrf_token(CONSENT, session).matches_stored(sent)
    };
    if session.as_ref().is_some_and(|session| !is_token_valid(session)) {
        return Ok(invalid_form_token());
    }
    let is_allowed = match fields.text("decision") {
        Some("allow") => true,
        Some("deny") => false,
        _ => return Ok(incomplete()),
    };
    let (parameters, hash) = (query.parameters.clone(), session.as_ref().map(TokenText::hash));
    let next = app
        .store()
        .write(move |tx| rules::oauth::decide(tx, &parameters, hash, is_allowed))
        .await?;
    Ok(show(&app, &parts, &query, session.as_ref(), next))
}

/// The parameters of an authorization request, and its query string, re-encoded.
pub struct AuthorizationQuery {
    pub parameters: AuthorizationRequest,
    pub encoded: String,
}

impl AuthorizationQuery {
    pub fn read(query: &str) -> Self {
        let pairs = fields::pairs(query.as_bytes());
        let mut serializer = form_urlencoded::Serializer::new(String::new());
        Self {
            parameters: AuthorizationRequest::read(&pairs),
            encoded: serializer.extend_pairs(pairs).finish(),
        }
    }
}

/// The page or redirect for the next step of an authorization.
fn show(
    app: &App,
    parts: &Parts,
    query: &AuthorizationQuery,
    session: Option<&TokenText>,
    next: Next,
) -> Response {
    match (next, session) {
        (Next::Refuse(reason), _) => refused(&reason),
        (Next::Redirect(address), _) => {
            let address = with_issuer(address, &issuer(app, parts));
            redirect(&address)
        }
        (Next::Consent(authorization, user), Some(session)) => {
            let csrf_token = cookies::csrf_token(CONSENT, session).hex();
            pages::consent(
                &authorization,
                user.username.as_str(),
                &query.encoded,
                &csrf_token,
            )
        }
        (Next::LogIn(authorization) | Next::Consent(authorization, _), _) => {
            let (csrf_token, new_cookie) = log_in_csrf_token(app, &parts.headers);
            let notes = LogInNotes {
                offers_reset: app.sends_mail(),
                ..LogInNotes::default()
            };
            let mut page = pages::log_in(
                StatusCode::OK,
                LogInTarget::Application(&authorization),
                &query.encoded,
                &csrf_token.hex(),
                &notes,
            );
            if let Some(new_cookie) = new_cookie {
                cookies::set(page.headers_mut(), cookies::FORM, &new_cookie);
            }
            page
        }
        // For this step, `authorize` calls `issue_with_earlier_consent`, which returns another step.
        (Next::AlreadyAuthorized, _) => incomplete(),
    }
}

/// Adds the issuer to a redirect URI, so that a client of several authorization servers can identify the
/// server that responded (RFC 9207).
fn with_issuer(address: String, issuer: &str) -> String {
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    format!("{address}&{}", serializer.append_pair("iss", issuer).finish())
}

pub fn refused(reason: &Reason) -> Response {
    match reason.code {
        Code::WrongSide => pages::message(StatusCode::FORBIDDEN, "Access denied", &reason.text, "style.css"),
        _ => pages::message(
            StatusCode::BAD_REQUEST,
            REQUEST_FAILED_TITLE,
            &reason.text,
            "style.css",
        ),
    }
}

pub fn invalid_form_token() -> Response {
    let text = "The form could not be verified. Go back, reload the page and try again. Cookies must be enabled. \
                Unless the server runs on this computer, the address must start with https://.";
    pages::message(
        StatusCode::FORBIDDEN,
        "Form verification failed",
        text,
        "style.css",
    )
}

#[derive(Serialize)]
struct ServerView {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    service_documentation: String,
    response_types_supported: Vec<&'static str>,
    response_modes_supported: Vec<&'static str>,
    grant_types_supported: Vec<&'static str>,
    token_endpoint_auth_methods_supported: [&'static str; 3],
    revocation_endpoint_auth_methods_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    authorization_response_iss_parameter_supported: bool,
}

/// Server metadata (RFC 8414).
pub async fn metadata(State(app): State<App>, parts: Parts) -> Response {
    const AUTH: [&str; 3] = ["client_secret_post", "client_secret_basic", "none"];
    let issuer = issuer(&app, &parts);
    let implicit = app.store().policy().oauth.implicit;
    let supported = |always: &[&'static str], if_implicit: &'static str| {
        let added = implicit.then_some(if_implicit);
        always.iter().copied().chain(added).collect::<Vec<_>>()
    };
    let view = ServerView {
        authorization_endpoint: format!("{issuer}/oauth/authorize"),
        token_endpoint: format!("{issuer}/oauth/token"),
        revocation_endpoint: format!("{issuer}/oauth/revoke"),
        service_documentation: format!("{issuer}/docs"),
        response_types_supported: supported(&["code"], "token"),
        response_modes_supported: supported(&["query"], "fragment"),
        grant_types_supported: supported(&["authorization_code", "refresh_token"], "implicit"),
        token_endpoint_auth_methods_supported: AUTH,
        revocation_endpoint_auth_methods_supported: AUTH,
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        issuer,
    };
    answer::json(StatusCode::OK, &view)
}
