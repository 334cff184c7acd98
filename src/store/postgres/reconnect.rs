//! A connection that reconnects with back-off after it was lost.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::address::Address;
use super::connection::Connection;
use super::failure::Failure;
use crate::store::error::StoreError;

/// The maximum delay before the next attempt to connect. It is short, so that a node soon detects that the database is
/// reachable again.
const MAX_RECONNECT_DELAY: Duration = Duration::from_millis(500);

pub struct ReconnectingConnection {
    address: Arc<Address>,
    connection: Option<Connection>,
    /// After a failed attempt: the earliest time of the next attempt, and the error of the failed attempt.
    back_off: Option<(Instant, String)>,
    /// The number of failed attempts since the last successful attempt.
    failures: u32,
}

impl ReconnectingConnection {
    pub fn new(address: Arc<Address>) -> Self {
        Self {
            address,
            connection: None,
            back_off: None,
            failures: 0,
        }
    }

    /// The open connection, or a new connection if there is none.
    pub fn get(&mut self) -> Result<&mut Connection, StoreError> {
        let open = self
            .connection
            .take()
            .filter(|connection| !connection.is_closed());
        let connection = match open {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(self.connection.insert(connection))
    }

    /// Whether the rollback of a read transaction was deferred.
    pub fn has_deferred_rollback(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(Connection::has_deferred_rollback)
    }

    /// Runs the deferred rollback, if there is one.
    pub fn run_deferred_rollback(&mut self) -> Result<(), Failure> {
        self.connection
            .as_mut()
            .map_or(Ok(()), Connection::run_deferred_rollback)
    }

    /// Drops the connection if it is broken. This ends the session and releases its locks.
    pub fn drop_broken(&mut self) {
        self.connection.take_if(|connection| connection.is_broken());
    }

    fn connect(&mut self) -> Result<Connection, StoreError> {
        if let Some((until, error)) = &self.back_off
            && Instant::now() < *until
        {
            return Err(StoreError::Unavailable(error.clone()));
        }
        match Connection::open(&self.address) {
            Ok(connection) => {
                if self.failures > 0 {
                    tracing::info!("database connection restored");
                }
                (self.failures, self.back_off) = (0, None);
                Ok(connection)
            }
            Err(failure) => {
                if self.failures == 0 {
                    tracing::warn!(error = failure.text, "database unreachable");
                }
                self.failures += 1;
                let delay = jittered(Duration::from_millis(50) * 2u32.pow(self.failures.min(6)));
                let until = Instant::now() + delay.min(MAX_RECONNECT_DELAY);
                self.back_off = Some((until, failure.text.clone()));
                Err(failure.into_store_error())
            }
        }
    }
}

/// Sleeps before a transaction or a migration is retried: exponential back-off with jitter.
pub fn sleep_before_retry(attempt: u32) {
    thread::sleep(jittered(Duration::from_millis(1) * 2u32.pow(attempt.min(6))));
}

/// A random duration up to `max`. The random number does not have to be unpredictable.
fn jittered(max: Duration) -> Duration {
    let random = RandomState::new().hash_one(0) as u32;
    max.mul_f64(f64::from(random) / f64::from(u32::MAX))
}
