//! Errors of rules. Each variant says what the caller can do next.

use std::fmt;

use super::unique;
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId};
use crate::model::reason::{Code, Reason};
use crate::model::scope::{Scope, Scopes};
use crate::model::staff_role::StaffRole;
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
    /// The provider has ended the access of the user: contact the provider.
    NoAccess(NoAccess),
    /// The role of the member of staff is too low: ask an admin.
    RoleMissing { needed: StaffRole },
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

/// Why a user with a valid token or session has no access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAccess {
    UserDisabled,
    AccountSuspended,
    AccountClosed,
}

impl NoAccess {
    pub const fn code(self) -> Code {
        match self {
            NoAccess::UserDisabled => Code::UserDisabled,
            NoAccess::AccountSuspended => Code::AccountSuspended,
            NoAccess::AccountClosed => Code::AccountClosed,
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            NoAccess::UserDisabled => "This user is disabled; contact your provider",
            NoAccess::AccountSuspended => "This account is suspended; contact your provider",
            NoAccess::AccountClosed => "This account is closed",
        }
    }
}

/// Why a body could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    TooLarge { max_bytes: usize },
    TooSlow,
    NotJson { sent: String },
    NotMultipart { sent: String },
    NotForm { sent: String },
    NotImage { sent: String },
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

/// The message for operators, in logs and on the terminal. Clients get other texts.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unauthenticated => f.write_str("the token is not valid"),
            Error::ScopeMissing { needed, .. } => write!(f, "the token does not have the scope {needed}"),
            Error::Forbidden => f.write_str("the user does not have permission"),
            Error::NoAccess(NoAccess::UserDisabled) => f.write_str("the user is disabled"),
            Error::NoAccess(NoAccess::AccountSuspended) => {
                f.write_str("the account of the user is suspended")
            }
            Error::NoAccess(NoAccess::AccountClosed) => f.write_str("the account of the user is closed"),
            Error::RoleMissing { needed } => write!(f, "the user needs the role {}", needed.word()),
            Error::WrongAudience => f.write_str("the operation is for another kind of user"),
            Error::NotFound => f.write_str("not found"),
            Error::TooMany { wait } => write!(f, "too many attempts: wait {wait} seconds, then retry"),
            Error::Stale => f.write_str("the resource has changed since it was read: retry"),
            Error::Body(fault) => fault.fmt(f),
            Error::Refused(errors) => {
                let lines: Vec<_> = errors.iter().map(FieldError::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Error::Files(fault) => fault.fmt(f),
            Error::Store(cause) => cause.fmt(f),
        }
    }
}

impl fmt::Display for BodyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyFault::TooLarge { max_bytes } => write!(f, "the input is larger than {max_bytes} bytes"),
            BodyFault::FileTooLarge { max_bytes } => write!(f, "the file is larger than {max_bytes} bytes"),
            BodyFault::TooSlow => f.write_str("the input did not arrive in time"),
            BodyFault::NotJson { sent }
            | BodyFault::NotMultipart { sent }
            | BodyFault::NotForm { sent }
            | BodyFault::NotImage { sent } => {
                write!(f, "the content type {sent} is not accepted")
            }
            BodyFault::Unreadable(reason) => f.write_str(&reason.text),
        }
    }
}

impl fmt::Display for FilesFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilesFault::Storage(cause) => write!(f, "the file storage failed: {cause}"),
            FilesFault::Scanner(cause) => write!(f, "the file scanner failed: {cause}"),
            FilesFault::Damaged => f.write_str("the stored file is damaged"),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
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
