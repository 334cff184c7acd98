//! Error responses (interface §7, decision 0002). Only this module maps errors to status codes.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::model::reason::Code;
use crate::rules::Error;
use crate::rules::error::{Blocker, BodyFault, FieldError, FilesFault};
use crate::store::StoreError;
use crate::web::answer::{done, json};
use crate::web::pages;

/// The cause of an error. It is logged, and never sent to the client.
#[derive(Clone)]
pub struct Cause(pub String);

/// Marks an error that test control has injected. Its code and reason are sent as they are.
#[derive(Clone, Copy)]
pub struct Injected;

/// Marks a response to an invalid, expired or revoked token.
#[derive(Clone, Copy)]
pub struct TokenInvalid;

#[derive(Serialize)]
struct ErrorsView<'a> {
    errors: Vec<ErrorView<'a>>,
}

/// A list of one error, for responses that also have other fields.
pub fn errors_of<'a>(code: Code, field: Option<&'a str>, reason: &'a str) -> Vec<ErrorView<'a>> {
    vec![ErrorView {
        field,
        ..ErrorView::new(code, reason)
    }]
}

#[derive(Serialize)]
pub struct ErrorView<'a> {
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    required_scopes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_scopes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocker: Option<BlockerView<'a>>,
}

/// The interface that blocks the operation, and must be removed first.
#[derive(Serialize)]
struct BlockerView<'a> {
    subnet_id: i64,
    linode_id: i64,
    compute_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    linode_label: Option<&'a str>,
    config_id: i64,
    interface_id: i64,
    active: bool,
}

impl<'a> BlockerView<'a> {
    fn new(blocker: &'a Blocker) -> Self {
        Self {
            subnet_id: blocker.subnet.0,
            linode_id: blocker.instance.0,
            compute_id: blocker.instance.0,
            linode_label: blocker.instance_label.as_deref(),
            config_id: blocker.config.0,
            interface_id: blocker.interface.0,
            active: blocker.active,
        }
    }
}

impl<'a> ErrorView<'a> {
    fn new(code: Code, reason: &'a str) -> Self {
        Self {
            reason,
            field: None,
            code: code.word(),
            required_scopes: None,
            held_scopes: None,
            blocker: None,
        }
    }
}

impl<'a> From<&'a FieldError> for ErrorView<'a> {
    fn from(error: &'a FieldError) -> Self {
        Self {
            field: error.field.as_deref(),
            blocker: error.blocker.as_ref().map(BlockerView::new),
            ..Self::new(error.code, &error.reason)
        }
    }
}

/// A response with one error, which does not refer to a field.
pub fn plain(status: StatusCode, code: Code, reason: &str) -> Response {
    let errors = vec![ErrorView::new(code, reason)];
    json(status, &ErrorsView { errors })
}

/// The status of an error, in the API and in the console.
pub fn status_of(error: &Error) -> StatusCode {
    match error {
        Error::Unauthenticated | Error::ScopeMissing { .. } => StatusCode::UNAUTHORIZED,
        Error::Forbidden | Error::NoAccess(_) | Error::RoleMissing { .. } | Error::WrongAudience => {
            StatusCode::FORBIDDEN
        }
        Error::NotFound => StatusCode::NOT_FOUND,
        Error::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Stale => StatusCode::PRECONDITION_FAILED,
        Error::Body(fault) => status_of_body(fault),
        Error::Refused(_) => StatusCode::BAD_REQUEST,
        Error::Files(_) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Store(StoreError::Full | StoreError::Unavailable(_) | StoreError::Stopped) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Error::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn status_of_body(fault: &BodyFault) -> StatusCode {
    match fault {
        BodyFault::TooLarge { .. } | BodyFault::FileTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        BodyFault::TooSlow => StatusCode::REQUEST_TIMEOUT,
        BodyFault::NotJson { .. }
        | BodyFault::NotMultipart { .. }
        | BodyFault::NotForm { .. }
        | BodyFault::NotImage { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        BodyFault::Unreadable(_) => StatusCode::BAD_REQUEST,
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, cause) = (status_of(&self), cause_of(&self));
        let mut response = match self {
            Error::Unauthenticated => {
                let mut response = plain(status, Code::TokenInvalid, "Invalid Token");
                response.extensions_mut().insert(TokenInvalid);
                challenge(response, "Bearer error=\"invalid_token\"")
            }
            Error::ScopeMissing { needed, held } => {
                let reason = "Your OAuth token is not authorized to use this endpoint.";
                let mut error = ErrorView::new(Code::ScopeMissing, reason);
                error.required_scopes = Some(vec![needed.to_string()]);
                error.held_scopes = Some(held.words());
                let response = json(status, &ErrorsView { errors: vec![error] });
                challenge(response, "Bearer error=\"insufficient_scope\"")
            }
            Error::Forbidden => plain(status, Code::GrantMissing, "Unauthorized"),
            Error::NoAccess(why) => plain(status, why.code(), why.text()),
            Error::RoleMissing { needed } => {
                let reason = format!("Requires the staff role {}", needed.word());
                plain(status, Code::RoleMissing, &reason)
            }
            Error::WrongAudience => plain(status, Code::WrongSide, "Unauthorized"),
            Error::NotFound => plain(status, Code::NotFound, "Not found"),
            Error::TooMany { wait } => {
                let mut response = plain(status, Code::RateLimited, "Too many requests");
                let wait = HeaderValue::from(wait);
                response.headers_mut().insert(header::RETRY_AFTER, wait);
                response
            }
            Error::Stale => {
                let reason = "The resource has been modified since you read it (the ETag does not match); read it again and retry";
                plain(status, Code::PreconditionFailed, reason)
            }
            Error::Body(fault) => body_fault(status, &fault),
            Error::Refused(errors) => refused(status, &errors),
            Error::Files(fault) => files_failure(&fault),
            Error::Store(cause) => store_failure(&cause),
        };
        if let Some(cause) = cause {
            response.extensions_mut().insert(Cause(cause));
        }
        response
    }
}

fn challenge(mut response: Response, challenge: &'static str) -> Response {
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

fn refused(status: StatusCode, errors: &[FieldError]) -> Response {
    let errors = errors.iter().map(ErrorView::from).collect();
    json(status, &ErrorsView { errors })
}

fn body_fault(status: StatusCode, fault: &BodyFault) -> Response {
    match fault {
        BodyFault::TooLarge { max_bytes } => {
            let reason = format!("The request body must be at most {max_bytes} bytes");
            plain(status, Code::BodyTooLarge, &reason)
        }
        BodyFault::TooSlow => {
            let reason = "Timed out while reading the request body";
            let mut response = plain(status, Code::BodyTimeout, reason);
            response
                .headers_mut()
                .insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
        BodyFault::NotJson { sent } => {
            let reason = format!("Send application/json, not {sent}");
            plain(status, Code::MediaTypeUnsupported, &reason)
        }
        BodyFault::NotMultipart { sent } => {
            let reason = format!("Send multipart/form-data with the file as its part \"file\", not {sent}");
            plain(status, Code::MediaTypeUnsupported, &reason)
        }
        BodyFault::NotForm { sent } => {
            let reason = format!("Send application/x-www-form-urlencoded, not {sent}");
            plain(status, Code::MediaTypeUnsupported, &reason)
        }
        BodyFault::NotImage { sent } => {
            let reason = format!("Send image/png or image/svg+xml, not {sent}");
            plain(status, Code::MediaTypeUnsupported, &reason)
        }
        BodyFault::FileTooLarge { max_bytes } => {
            let reason = format!("The file must be at most {max_bytes} bytes");
            let mut error = ErrorView::new(Code::FileTooLarge, &reason);
            error.field = Some("file");
            json(status, &ErrorsView { errors: vec![error] })
        }
        BodyFault::Unreadable(reason) => plain(status, reason.code, &reason.text),
    }
}

/// The internal cause of an error, for the log. `None` if the client caused the error.
pub fn cause_of(error: &Error) -> Option<String> {
    match error {
        Error::Files(FilesFault::Storage(cause)) => Some(cause.clone()),
        Error::Files(FilesFault::Scanner(cause)) => Some(format!("the scanner: {cause}")),
        // The code that found the damage has logged it.
        Error::Files(FilesFault::Damaged) => None,
        // Overload needs no investigation, and a log line for each request would increase the load.
        Error::Store(StoreError::Full) => None,
        Error::Store(cause) => Some(cause.to_string()),
        _ => None,
    }
}

fn files_failure(fault: &FilesFault) -> Response {
    match fault {
        FilesFault::Storage(_) => {
            let reason = "Attachment storage is unavailable; retry later";
            service_unavailable(Code::FilesUnavailable, reason)
        }
        FilesFault::Scanner(_) => {
            let reason = "The file could not be scanned; retry later";
            service_unavailable(Code::ScanUnavailable, reason)
        }
        FilesFault::Damaged => damaged(),
    }
}

fn damaged() -> Response {
    let reason = "The stored file is damaged; contact your provider";
    let mut response = service_unavailable(Code::FileDamaged, reason);
    let later = HeaderValue::from_static("3600");
    response.headers_mut().insert(header::RETRY_AFTER, later);
    response
}

fn store_failure(cause: &StoreError) -> Response {
    match cause {
        StoreError::Full => overloaded(),
        StoreError::Unavailable(_) | StoreError::Stopped => {
            service_unavailable(Code::StoreUnavailable, "The database is unavailable; retry later")
        }
        _ => internal(),
    }
}

pub fn overloaded() -> Response {
    service_unavailable(Code::Overloaded, "The server is overloaded; retry later")
}

fn service_unavailable(code: Code, reason: &str) -> Response {
    let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, code, reason);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// A 500 response without details. `answering.rs` adds the request ID.
pub fn internal() -> Response {
    plain(
        StatusCode::INTERNAL_SERVER_ERROR,
        Code::InternalError,
        "Internal error",
    )
}

/// The response for a path that does not exist. Under API paths, it is JSON. For other paths, browsers get a
/// page, and other clients get JSON. OPTIONS always succeeds under API paths: if the preflight request
/// failed, a browser would hide the 404 response from the script.
pub fn path_not_found(method: &Method, headers: &HeaderMap, uri: &Uri) -> Response {
    let is_api = uri.path() == "/v4" || uri.path().starts_with("/v4/");
    if is_api && method == Method::OPTIONS {
        return method_not_allowed(method, "OPTIONS");
    }
    if !accepts_html(headers) || is_api {
        return Error::NotFound.into_response();
    }
    let text = "This page does not exist.";
    pages::message(StatusCode::NOT_FOUND, "Not found", text, pages::ROOT_STYLE)
}

/// Whether the client accepts HTML, as a browser does when it opens a page.
pub fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter();
    let mut accepted = accepted.map(|kinds| kinds.to_str().unwrap_or_default());
    accepted.any(|kinds| kinds.contains("text/html"))
}

/// The response for a path that does not support the method: 405, or success for OPTIONS.
pub fn method_not_allowed(method: &Method, allowed: &str) -> Response {
    let mut response = match *method {
        Method::OPTIONS => done(),
        _ => {
            let reason = format!("Method not allowed; this path accepts {allowed}");
            plain(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, &reason)
        }
    };
    let allowed = HeaderValue::try_from(allowed).expect("methods are plain ASCII");
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}
