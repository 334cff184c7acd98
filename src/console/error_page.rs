//! Converts errors to pages.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::rules::Error;
use crate::rules::error::{BodyFault, FilesFault, NoAccess};
use crate::store::StoreError;
use crate::web::error::{cause_of, status_of};

/// The result of a page handler.
pub type PageResult = Result<Response, ErrorPage>;

/// An error page. The session check renders it, with the navigation bar if a user is logged in.
#[derive(Clone, Debug)]
pub struct ErrorPage {
    pub status: StatusCode,
    pub title: &'static str,
    pub text: String,
    /// The label and the URL of the page to return to, instead of the first page.
    pub back: Option<(String, String)>,
    /// The cause, for the log.
    pub cause: Option<String>,
    /// Whether the user or the account has no access to any page.
    pub has_no_access: bool,
}

impl ErrorPage {
    /// An error with a text that differs from the default.
    pub fn with_text(error: &Error, title: &'static str, text: impl Into<String>) -> Self {
        Self {
            status: status_of(error),
            title,
            text: text.into(),
            back: None,
            cause: None,
            has_no_access: matches!(error, Error::NoAccess(_)),
        }
    }

    /// The same error with a link to another page.
    pub fn with_link_to(self, label: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            back: Some((label.into(), url.into())),
            ..self
        }
    }

    pub fn not_found() -> Self {
        Error::NotFound.into()
    }
}

impl From<Error> for ErrorPage {
    fn from(error: Error) -> Self {
        let (title, text) = describe(&error);
        Self {
            cause: cause_of(&error),
            ..Self::with_text(&error, title, text)
        }
    }
}

fn describe(error: &Error) -> (&'static str, String) {
    let (title, text) = match error {
        Error::Unauthenticated => ("Logged out", "Your session has ended. Log in again."),
        Error::Forbidden | Error::ScopeMissing { .. } => (
            "Access denied",
            "You do not have permission to do this. Ask an account administrator to grant it.",
        ),
        Error::NoAccess(NoAccess::UserDisabled) => {
            ("User disabled", "Your user is disabled. Contact your provider.")
        }
        Error::NoAccess(NoAccess::AccountSuspended) => (
            "Account suspended",
            "Your account is suspended. Your network continues to run. Contact your provider.",
        ),
        Error::NoAccess(NoAccess::AccountClosed) => ("Account closed", "Your account is closed."),
        Error::RoleMissing { needed } => {
            let text = format!("This requires the role {}. Ask an admin for it.", needed.word());
            return ("Access denied", text);
        }
        Error::WrongAudience => (
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
        Error::Refused(errors) => {
            let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
            return (REQUEST_FAILED, reasons.join("; "));
        }
        Error::Files(FilesFault::Damaged) => (
            "File damaged",
            "The stored file is damaged. Contact your provider.",
        ),
        Error::Files(_)
        | Error::Store(StoreError::Full | StoreError::Unavailable(_) | StoreError::Stopped) => (
            "Service unavailable",
            "The service is overloaded or temporarily unavailable. Try again in a few seconds.",
        ),
        Error::Store(_) => ("Something went wrong", ""),
    };
    (title, text.to_owned())
}

/// The title for a request that is not valid.
pub const REQUEST_FAILED: &str = "Request failed";

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
