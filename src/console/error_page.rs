//! What is shown instead of a page when something is in the way.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::rules::Error;
use crate::rules::error::BodyFault;
use crate::store::StoreError;
use crate::web::error::status_of;

/// What a handler of a page answers.
pub type Answer = Result<Response, ErrorPage>;

/// What is in the way of a page. The session check draws it, with the bar at the top if somebody is logged in.
#[derive(Clone, Debug)]
pub struct ErrorPage {
    pub status: StatusCode,
    pub title: &'static str,
    pub text: String,
    /// For the log.
    pub cause: Option<String>,
}

impl ErrorPage {
    /// An error in other words than the usual ones.
    pub fn saying(error: &Error, title: &'static str, text: impl Into<String>) -> Self {
        Self {
            status: status_of(error),
            title,
            text: text.into(),
            cause: None,
        }
    }

    pub fn not_found() -> Self {
        Error::NotFound.into()
    }
}

impl From<Error> for ErrorPage {
    fn from(error: Error) -> Self {
        let (title, text) = in_words(&error);
        Self {
            cause: cause(&error),
            ..Self::saying(&error, title, text)
        }
    }
}

fn in_words(error: &Error) -> (&'static str, String) {
    let (title, text) = match error {
        Error::Unauthenticated => ("Logged out", "Your session has ended. Log in again."),
        Error::Forbidden | Error::ScopeMissing { .. } => (
            "Access denied",
            "You do not have permission to do this. Ask an account administrator to grant it.",
        ),
        Error::WrongSide => (
            "Access denied",
            "This page is not available to your user. Customers and support staff have separate pages.",
        ),
        Error::NotFound => (
            "Not found",
            "This page does not exist, or you do not have access to it.",
        ),
        Error::TooMany { wait } => {
            let text = format!("Wait {wait} seconds, then try again.");
            return ("Too many requests", text);
        }
        Error::Stale => (
            "Out of date",
            "This was changed after you opened the page. Go back, reload the page and review the changes.",
        ),
        Error::Body(BodyFault::TooLarge { .. } | BodyFault::FileTooLarge { .. }) => {
            (REQUEST_FAILED, "The request is too large.")
        }
        Error::Body(_) => (
            REQUEST_FAILED,
            "The server could not read the request. Go back and try again.",
        ),
        Error::Refused(complaints) => {
            let reasons: Vec<_> = complaints.iter().map(|wrong| wrong.reason.as_str()).collect();
            return (REQUEST_FAILED, reasons.join("; "));
        }
        Error::Files(_)
        | Error::Store(StoreError::Full | StoreError::Unavailable(_) | StoreError::Stopped) => (
            "Service unavailable",
            "The service is overloaded or temporarily unavailable. Try again in a few seconds.",
        ),
        Error::Store(_) => ("Something went wrong", ""),
    };
    (title, text.to_owned())
}

/// The title where a request could not be right.
pub const REQUEST_FAILED: &str = "Request failed";

fn cause(error: &Error) -> Option<String> {
    match error {
        Error::Files(_) => Some("files".to_owned()),
        Error::Store(cause) => Some(cause.to_string()),
        _ => None,
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
