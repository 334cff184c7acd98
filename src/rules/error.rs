//! Errors of rules. Each variant says what the caller can do next.

use super::unique;
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId};
use crate::model::reason::{Code, Reason};
use crate::model::scope::{Scope, Scopes};
use crate::store::StoreError;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub enum Error {
    /// The token is missing or invalid: authenticate.
    Unauthenticated,
    /// The token lacks the scope: get another token.
    ScopeMissing { needed: Scope, held: Scopes },
    /// The user lacks the grant: request it.
    Forbidden,
    /// A staff user called an operation for tenants, or a tenant called an operation for staff.
    WrongAudience,
    /// The object does not exist, or the caller cannot see it.
    NotFound,
    /// Too many requests: wait this many seconds.
    TooMany { wait: u64 },
    /// The object has changed since the caller read it: read it again.
    Stale,
    /// The body has the wrong format for this operation.
    Body(BodyFault),
    /// The request is invalid; every invalid field is listed.
    Refused(Vec<FieldError>),
    /// An attachment could not be scanned or stored: try again. The cause is logged.
    Files(FilesFault),
    /// The store failed. The cause is logged and never sent.
    Store(StoreError),
}

/// Why a body could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    TooLarge { max_bytes: usize },
    TooSlow,
    NotJson { sent: String },
    NotMultipart { sent: String },
    NotForm { sent: String },
    FileTooLarge { max_bytes: i64 },
    Unreadable(Reason),
}

/// Why a file could not be processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesFault {
    /// The file storage failed.
    Storage(String),
    /// The virus scanner returned no verdict.
    Scanner(String),
    /// The stored file differs from the uploaded file.
    Damaged,
}

/// An error about one field, or about the whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: Option<String>,
    pub code: Code,
    pub reason: String,
    /// The object that must be removed first.
    pub blocker: Option<Blocker>,
}

/// An interface that prevents the deletion of a subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    pub subnet: SubnetId,
    pub instance: InstanceId,
    /// `None` if the caller cannot see the instance.
    pub instance_label: Option<String>,
    pub config: ConfigId,
    pub interface: InterfaceId,
    pub active: bool,
}

impl FieldError {
    pub fn on(field: impl Into<String>, reason: Reason) -> Self {
        Self {
            field: Some(field.into()),
            code: reason.code,
            reason: reason.text,
            blocker: None,
        }
    }

    pub fn whole(reason: Reason) -> Self {
        Self {
            field: None,
            code: reason.code,
            reason: reason.text,
            blocker: None,
        }
    }
}

impl Error {
    /// Refuses the request because of one field.
    pub fn on(field: impl Into<String>, reason: Reason) -> Self {
        Error::Refused(vec![FieldError::on(field, reason)])
    }

    /// Refuses the whole request with this message.
    pub fn refused(code: Code, text: impl Into<String>) -> Self {
        Self::whole(Reason::new(code, text))
    }

    /// Refuses the whole request.
    pub fn whole(reason: Reason) -> Self {
        Error::Refused(vec![FieldError::whole(reason)])
    }
}

impl From<StoreError> for Error {
    fn from(cause: StoreError) -> Self {
        match &cause {
            StoreError::Conflict(text) => match unique::refusal(text) {
                Some(error) => Error::Refused(vec![error]),
                None => Error::Store(cause),
            },
            _ => Error::Store(cause),
        }
    }
}
