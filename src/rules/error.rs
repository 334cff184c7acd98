//! Why an operation did not happen, in the words of the caller's next step.

use super::unique;
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId};
use crate::model::reason::{Code, Reason};
use crate::model::scope::{Scope, Scopes};
use crate::store::StoreError;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub enum Error {
    /// No token, or none we know: authenticate.
    Unauthenticated,
    /// The token may not be used for this: get one with the scope.
    ScopeMissing { needed: Scope, held: Scopes },
    /// Known, but not allowed: ask for the grant.
    Forbidden,
    /// An operation of tenants asked for by staff, or the other way round.
    WrongSide,
    /// No such thing, or none the caller may know of.
    NotFound,
    /// Asked too often: wait for so many seconds.
    TooMany { wait: u64 },
    /// It changed since the caller looked: look again.
    Stale,
    /// What came with the request is not what this operation takes.
    Body(BodyFault),
    /// The request breaks a rule; every field at fault is named.
    Refused(Vec<FieldError>),
    /// An attached file could not be looked at or kept just now: try again. The cause is logged.
    Files(FilesFault),
    /// The store failed: nothing the caller can mend. The cause is logged, never sent.
    Store(StoreError),
}

/// Why a request's content could not be taken at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    TooLarge { most: usize },
    TooSlow,
    NotJson { sent: String },
    NotMultipart { sent: String },
    NotForm { sent: String },
    FileTooLarge { most: i64 },
    Unreadable(Reason),
}

/// Why the bytes of a file could not be handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesFault {
    /// Where files are kept did not do as asked.
    Storage(String),
    /// The provider's scanner did not come to a verdict.
    Scanner(String),
    /// The bytes are not those that were uploaded.
    Damaged,
}

/// A complaint about one field, or about the request as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: Option<String>,
    pub code: Code,
    pub reason: String,
    /// What stands in the way, where that is something to be removed first.
    pub blocker: Option<Blocker>,
}

/// An interface that keeps a subnet from being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    pub subnet: SubnetId,
    pub instance: InstanceId,
    /// Only if the caller may see the instance.
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

    /// Refuses the request as a whole, for a reason in these words.
    pub fn refused(code: Code, text: impl Into<String>) -> Self {
        Self::whole(Reason::new(code, text))
    }

    /// Refuses the request as a whole.
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
