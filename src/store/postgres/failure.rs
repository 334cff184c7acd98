//! Classifies the errors of PostgreSQL.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::store::error::StoreError;

/// The error of a statement.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A serialization failure, deadlock or lock timeout. A retry may succeed.
    Contended,
    /// A constraint was violated. Rules check before they write, so most likely a concurrent transaction has written a
    /// conflicting row. On a retry the rule sees that row.
    Constraint,
    /// The connection is closed or unusable.
    Lost,
    /// The server cannot run the statement now.
    Busy,
    /// The statement or one of its values is invalid.
    Invalid,
}

impl Failure {
    pub fn new(cause: &Error) -> Self {
        Self {
            kind: kind_of(cause),
            text: message_of(cause),
        }
    }

    pub fn timed_out() -> Self {
        Self {
            kind: FailureKind::Lost,
            text: "the database did not respond in time".to_owned(),
        }
    }

    pub fn into_store_error(self) -> StoreError {
        match self.kind {
            FailureKind::Contended | FailureKind::Lost | FailureKind::Busy => {
                StoreError::Unavailable(self.text)
            }
            FailureKind::Constraint => StoreError::Conflict(self.text),
            FailureKind::Invalid => StoreError::Database(self.text.into()),
        }
    }
}

fn kind_of(cause: &Error) -> FailureKind {
    let Some(state) = cause.code() else {
        // An error without an SQLSTATE comes from the connection, or from a value that could not be encoded or decoded.
        let is_value_error = cause
            .source()
            .is_some_and(|source| source.downcast_ref::<std::io::Error>().is_none())
            && !cause.is_closed();
        return if is_value_error {
            FailureKind::Invalid
        } else {
            FailureKind::Lost
        };
    };
    let contended = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    // The server became a replica, or a connection pooler switched the session. A new connection is needed.
    let lost = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::FEATURE_NOT_SUPPORTED,
    ];
    match state.code().get(..2) {
        _ if contended.contains(state) => FailureKind::Contended,
        _ if lost.contains(state) => FailureKind::Lost,
        Some("23") => FailureKind::Constraint,
        Some("08") => FailureKind::Lost,
        Some("57") if *state != SqlState::QUERY_CANCELED => FailureKind::Lost,
        Some("57" | "53" | "58") => FailureKind::Busy,
        _ => FailureKind::Invalid,
    }
}

/// The message of an error. It omits the server's `DETAIL`, which can contain values of rows.
pub fn message_of(cause: &Error) -> String {
    match cause.as_db_error() {
        Some(error) => format!("{} ({})", error.message(), error.code().code()),
        None => match cause.source() {
            Some(source) => format!("{cause}: {source}"),
            None => cause.to_string(),
        },
    }
}
