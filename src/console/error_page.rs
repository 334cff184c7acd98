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
            "Not allowed",
            "You may see this, but you were not granted to do that. Ask whoever manages your account.",
        ),
        Error::WrongSide => (
            "Not for you",
            "This page belongs to the other side: accounts have their own pages, and so has the desk.",
        ),
        Error::NotFound => (
            "Not found",
            "There is nothing at this address, or nothing that you may see.",
        ),
        Error::TooMany { wait } => {
            let text = format!("Too many requests. Wait {wait} seconds, then try again.");
            return ("Slow down", text);
        }
        Error::Stale => (
            "It has changed",
            "It has changed since you opened the page. Go back, load the page anew and compare.",
        ),
        Error::Body(BodyFault::TooLarge { .. } | BodyFault::FileTooLarge { .. }) => {
            (CANNOT_BE, "That is too much to take.")
        }
        Error::Body(_) => (
            CANNOT_BE,
            "What your browser sent could not be read. Go back and try again.",
        ),
        Error::Refused(complaints) => {
            let reasons: Vec<_> = complaints.iter().map(|wrong| wrong.reason.as_str()).collect();
            return (CANNOT_BE, reasons.join("; "));
        }
        Error::Files(_)
        | Error::Store(StoreError::Full | StoreError::Unavailable(_) | StoreError::Stopped) => (
            "Please try again",
            "The service is busy or not available at the moment. Try again in a few seconds.",
        ),
        Error::Store(_) => ("This did not work", ""),
    };
    (title, text.to_owned())
}

/// The title where a request could not be right.
pub const CANNOT_BE: &str = "This cannot be";

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
