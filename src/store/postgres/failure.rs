//! What PostgreSQL's errors mean for the work that met them.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::store::error::StoreError;

/// Why a statement was not carried out.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: Kind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Another transaction was in the way: run again, and it may not be.
    Contended,
    /// A constraint said no. Rules look before they write, so most likely another transaction has just
    /// written what was looked for: run again, and the rule will see it.
    Constraint,
    /// The connection is gone or of no use any more.
    Lost,
    /// The server cannot do it now.
    Busy,
    /// The statement itself is wrong.
    Wrong,
}

impl Failure {
    pub fn new(cause: &Error) -> Self {
        Self {
            kind: kind_of(cause),
            text: words_of(cause),
        }
    }

    pub fn too_slow() -> Self {
        Self {
            kind: Kind::Lost,
            text: "the database did not answer in time".to_owned(),
        }
    }

    pub fn into_store_error(self) -> StoreError {
        match self.kind {
            Kind::Contended | Kind::Lost | Kind::Busy => StoreError::Unavailable(self.text),
            Kind::Constraint => StoreError::Conflict(self.text),
            Kind::Wrong => StoreError::Database(self.text.into()),
        }
    }
}

fn kind_of(cause: &Error) -> Kind {
    let Some(state) = cause.code() else {
        // Without a state it is either about the connection, or about a value that cannot be sent or read.
        let about_a_value = cause
            .source()
            .is_some_and(|source| source.downcast_ref::<std::io::Error>().is_none())
            && !cause.is_closed();
        return if about_a_value { Kind::Wrong } else { Kind::Lost };
    };
    let contended = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    // A server that became a replica, or a pooler that gave us another session: open a new connection.
    let useless = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::FEATURE_NOT_SUPPORTED,
    ];
    match state.code().get(..2) {
        _ if contended.contains(state) => Kind::Contended,
        _ if useless.contains(state) => Kind::Lost,
        Some("23") => Kind::Constraint,
        Some("08") => Kind::Lost,
        Some("57") if *state != SqlState::QUERY_CANCELED => Kind::Lost,
        Some("57" | "53" | "58") => Kind::Busy,
        _ => Kind::Wrong,
    }
}

/// The server's own words; what it says about single rows (its `DETAIL`) is left out.
pub fn words_of(cause: &Error) -> String {
    match cause.as_db_error() {
        Some(told) => format!("{} ({})", told.message(), told.code().code()),
        None => match cause.source() {
            Some(source) => format!("{cause}: {source}"),
            None => cause.to_string(),
        },
    }
}
