//! The OAuth token endpoints. Error responses have the error fields of RFC 6749 and of the API.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Serialize;

use crate::model::reason::Code;
use crate::model::token::Secret;
use crate::rules::error::BodyFault;
use crate::rules::oauth_tokens::{
    self, Fault, IssuedTokens, Outcome, Refusal, RevocationRequest, TokenRequest,
};
use crate::rules::{Error, Result};
use crate::web::error::{ErrorView, errors_of};
use crate::web::fields::{Fields, FormEncoding};
use crate::web::{App, answer};

#[derive(Serialize)]
struct TokenView<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: &'a str,
    scope: &'a str,
    scopes: &'a str,
}

#[derive(Serialize)]
struct RefusalView<'a> {
    error: &'static str,
    error_description: &'a str,
    errors: Vec<ErrorView<'a>>,
}

pub async fn issue(State(app): State<App>, request: Request) -> Result<Response> {
    let headers = request.headers().clone();
    let fields = match read(&app, request).await? {
        Ok(fields) => fields,
        Err(refused) => return Ok(refused),
    };
    let Some((client_id, client_secret)) = client_credentials(&headers, &fields) else {
        return Ok(refusal(&CREDENTIALS_TWICE));
    };
    let token_request = TokenRequest {
        client_id,
        client_secret,
        grant_type: fields.owned("grant_type"),
        code: fields.secret("code"),
        code_verifier: fields.secret("code_verifier"),
        redirect_uri: fields.owned("redirect_uri"),
        refresh_token: fields.secret("refresh_token"),
        scope: fields.owned("scope").or(fields.owned("scopes")),
    };
    let outcome = app
        .store()
        .write(move |tx| oauth_tokens::issue(tx, &token_request))
        .await?;
    Ok(match outcome {
        Outcome::Done(issued) => token_response(&issued),
        Outcome::Refused(refused) => refusal(&refused),
    })
}

pub async fn revoke(State(app): State<App>, request: Request) -> Result<Response> {
    let headers = request.headers().clone();
    let fields = match read(&app, request).await? {
        Ok(fields) => fields,
        Err(refused) => return Ok(refused),
    };
    let Some((client_id, client_secret)) = client_credentials(&headers, &fields) else {
        return Ok(refusal(&CREDENTIALS_TWICE));
    };
    let revocation = RevocationRequest {
        client_id,
        client_secret,
        token: fields.secret("token"),
    };
    let outcome = app
        .store()
        .write(move |tx| oauth_tokens::revoke(tx, &revocation))
        .await?;
    Ok(match outcome {
        Outcome::Done(()) => without_caching(answer::done()),
        Outcome::Refused(refused) => refusal(&refused),
    })
}

const CREDENTIALS_TWICE: Refusal = Refusal {
    fault: Fault::InvalidRequest,
    field: None,
    code: Code::ClientInvalid,
    text: "Send client credentials in the form or in the Authorization header, not in both",
};
const FIELD_TWICE: Refusal = Refusal {
    fault: Fault::InvalidRequest,
    field: None,
    code: Code::FormInvalid,
    text: "Duplicate field",
};

/// Reads the form fields. The inner error is the response to an invalid form, with the fields of both error
/// formats.
async fn read(app: &App, request: Request) -> Result<Result<Fields, Response>> {
    match Fields::read(app, request, FormEncoding::UrlencodedOrMultipart).await {
        Ok(fields) if fields.repeated().is_some() => Ok(Err(refusal(&FIELD_TWICE))),
        Ok(fields) => Ok(Ok(fields)),
        Err(Error::Body(BodyFault::Unreadable(reason))) => Ok(Err(refusal(&Refusal {
            fault: Fault::InvalidRequest,
            field: None,
            code: reason.code,
            text: "Incomplete request body",
        }))),
        Err(other) => Err(other),
    }
}

/// The client credentials, from the form or from HTTP Basic. `None` if both contain a secret, or if their
/// client IDs differ.
fn client_credentials(headers: &HeaderMap, fields: &Fields) -> Option<(Option<String>, Option<Secret>)> {
    let (id, secret) = (fields.owned("client_id"), fields.secret("client_secret"));
    match basic_credentials(headers) {
        None => Some((id, secret)),
        Some(_) if secret.is_some() => None,
        Some((basic_id, _)) if id.as_ref().is_some_and(|id| *id != basic_id) => None,
        Some((basic_id, secret)) => Some((Some(basic_id), Some(secret))),
    }
}

fn basic_credentials(headers: &HeaderMap) -> Option<(String, Secret)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, encoded) = value.split_once(' ')?;
    if !kind.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    Some((id.to_owned(), Secret::new(secret.to_owned())))
}

fn token_response(issued: &IssuedTokens) -> Response {
    let scopes = issued.scopes.to_string();
    let view = TokenView {
        access_token: issued.access.reveal(),
        token_type: "bearer",
        expires_in: oauth_tokens::ACCESS_TOKEN_TTL_SECONDS,
        refresh_token: issued.refresh.reveal(),
        scope: &scopes,
        scopes: &scopes,
    };
    without_caching(answer::json(StatusCode::OK, &view))
}

fn refusal(refused: &Refusal) -> Response {
    let view = RefusalView {
        error: refused.fault.word(),
        error_description: refused.text,
        errors: errors_of(refused.code, refused.field, refused.text),
    };
    let status = match refused.fault {
        Fault::InvalidClient => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut response = without_caching(answer::json(status, &view));
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Basic realm=\"garth\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Forbids caching.
fn without_caching(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, no_store);
    response
}
