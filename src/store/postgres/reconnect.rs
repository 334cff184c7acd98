//! A thread's line to the database: a connection, or the patience to wait for the next try.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::address::Address;
use super::connection::Connection;
use super::failure::Failure;
use crate::store::error::StoreError;

/// Between two tries; no longer, so that a database that is back is found soon.
const LONGEST: Duration = Duration::from_millis(500);

pub struct Line {
    address: Arc<Address>,
    connection: Option<Connection>,
    /// After a try that failed: when to try again, and why it failed.
    waiting: Option<(Instant, String)>,
    failures: u32,
}

impl Line {
    pub fn new(address: Arc<Address>) -> Self {
        Self {
            address,
            connection: None,
            waiting: None,
            failures: 0,
        }
    }

    /// A connection that was alive a moment ago, made anew if need be.
    pub fn ready(&mut self) -> Result<&mut Connection, StoreError> {
        let usable = self
            .connection
            .take()
            .filter(|connection| !connection.has_ended());
        let connection = match usable {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(self.connection.insert(connection))
    }

    /// Whether a transaction that only looked is still to be ended.
    pub fn is_looking(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_looking)
    }

    /// Ends it.
    pub fn look_away(&mut self) -> Result<(), Failure> {
        self.connection.as_mut().map_or(Ok(()), Connection::look_away)
    }

    /// Lets go of a connection that is of no use any more, and with it of all that its session holds.
    pub fn tidy(&mut self) {
        self.connection.take_if(|connection| connection.is_useless());
    }

    fn connect(&mut self) -> Result<Connection, StoreError> {
        if let Some((until, why)) = &self.waiting
            && Instant::now() < *until
        {
            return Err(StoreError::Unavailable(why.clone()));
        }
        match Connection::open(&self.address) {
            Ok(connection) => {
                if self.failures > 0 {
                    tracing::info!("the database is there again");
                }
                (self.failures, self.waiting) = (0, None);
                Ok(connection)
            }
            Err(failure) => {
                if self.failures == 0 {
                    tracing::warn!(cause = failure.text, "the database cannot be reached");
                }
                self.failures += 1;
                let pause = jittered(Duration::from_millis(50) * 2u32.pow(self.failures.min(6))).min(LONGEST);
                self.waiting = Some((Instant::now() + pause, failure.text.clone()));
                Err(failure.into_store_error())
            }
        }
    }
}

/// Sleeps before the next attempt at something that others attempt too: longer each time, but never
/// all of them equally long.
pub fn pause(attempt: u32) {
    thread::sleep(jittered(Duration::from_millis(1) * 2u32.pow(attempt.min(6))));
}

/// Something between nothing and this long. Nothing depends on it being hard to guess.
fn jittered(most: Duration) -> Duration {
    let random = RandomState::new().hash_one(0) as u32;
    most.mul_f64(f64::from(random) / f64::from(u32::MAX))
}
