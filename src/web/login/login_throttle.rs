//! Limits on password guesses, per node (decision 0017).
//!
//! A failure on an unknown device raises two counters: the counter of the address, and the counter of the
//! pair of address and username. There is no counter for a username alone, so that guesses from other
//! addresses cannot lock out a user. Each known device and each logged-in user has its own counter.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::device::DeviceId;
use crate::model::id::UserId;
use crate::model::token::TokenHash;
use crate::web::throttle::{BackOff, Failures};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The back-off for wrong passwords for one username from one address. It also applies to each known client.
const PER_NAME: BackOff = BackOff {
    failures_before_delay: 5,
    initial_delay: Duration::from_secs(30),
    max_delay: Duration::from_secs(15 * MINUTE),
    reset_after: Duration::from_secs(24 * HOUR),
};
/// The back-off for wrong passwords from one address. It starts later, because many users can share an address.
const PER_ADDRESS: BackOff = BackOff {
    failures_before_delay: 20,
    reset_after: Duration::from_secs(HOUR),
    ..PER_NAME
};
/// The maximum number of entries in each table. An entry takes about 200 bytes.
const MAX_ENTRIES: usize = 20_000;

/// The origin of an attempt, which selects its counters.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A device that has no device cookie for the user.
    Unknown {
        /// The hash of the username as it was typed.
        name: TokenHash,
        /// The network of the client.
        address: IpAddr,
    },
    Known(KnownClient),
}

/// A client with its own counter of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KnownClient {
    Device(DeviceId),
    /// A logged-in user who enters the current password to set a new password.
    User(UserId),
}

pub struct LoginThrottle(Arc<Mutex<Tables>>);

struct Tables {
    addresses: Failures<IpAddr>,
    names: Failures<(TokenHash, IpAddr)>,
    known: Failures<KnownClient>,
}

impl Default for LoginThrottle {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Tables {
            addresses: Failures::new(PER_ADDRESS, MAX_ENTRIES),
            names: Failures::new(PER_NAME, MAX_ENTRIES),
            known: Failures::new(PER_NAME, MAX_ENTRIES),
        })))
    }
}

impl LoginThrottle {
    /// Reserves an attempt. The error is the time to wait before the next attempt.
    pub fn reserve(&self, source: Source, now: Duration) -> Result<Reservation, Duration> {
        let mut tables = lock(&self.0);
        let (wait, earlier_attempts) = match source {
            Source::Unknown { name, address } => (
                tables
                    .addresses
                    .wait(&address, now)
                    .max(tables.names.wait(&(name, address), now)),
                tables.addresses.count(&address, now),
            ),
            Source::Known(known) => (tables.known.wait(&known, now), 0),
        };
        if !wait.is_zero() {
            return Err(wait);
        }
        let reserved = match source {
            Source::Unknown { name, address } => {
                let address_reserved = tables.addresses.reserve(address, now);
                let both_reserved = address_reserved && tables.names.reserve((name, address), now);
                if address_reserved && !both_reserved {
                    tables.addresses.release(&address, now);
                }
                both_reserved
            }
            Source::Known(known) => tables.known.reserve(known, now),
        };
        match reserved {
            false => Err(Duration::from_secs(1)),
            true => Ok(Reservation {
                tables: self.0.clone(),
                source,
                reserved_at: now,
                earlier_attempts,
                has_result: false,
            }),
        }
    }
}

/// An attempt in progress. If it is dropped without a result, it is not counted.
pub struct Reservation {
    tables: Arc<Mutex<Tables>>,
    source: Source,
    reserved_at: Duration,
    /// The number of failures and of other attempts in progress from the same address; 0 for a known client.
    pub earlier_attempts: u32,
    has_result: bool,
}

impl Reservation {
    /// Counts a failure. Returns the time to wait before the next attempt.
    pub fn fail(mut self, now: Duration) -> Duration {
        self.has_result = true;
        let mut tables = lock(&self.tables);
        match self.source {
            Source::Unknown { name, address } => {
                let wait = tables.addresses.fail(&address, now);
                wait.max(tables.names.fail(&(name, address), now))
            }
            Source::Known(known) => tables.known.fail(&known, now),
        }
    }

    /// Resets the counter for the username and address, or for the known client. The counter for the address remains,
    /// because it may include other usernames.
    pub fn succeed(mut self, now: Duration) {
        self.has_result = true;
        let mut tables = lock(&self.tables);
        match self.source {
            Source::Unknown { name, address } => {
                tables.addresses.release(&address, now);
                tables.names.succeed(&(name, address), now);
            }
            Source::Known(known) => tables.known.succeed(&known, now),
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.has_result {
            return;
        }
        let mut tables = lock(&self.tables);
        match self.source {
            Source::Unknown { name, address } => {
                tables.addresses.release(&address, self.reserved_at);
                tables.names.release(&(name, address), self.reserved_at);
            }
            Source::Known(known) => tables.known.release(&known, self.reserved_at),
        }
    }
}

fn lock(tables: &Mutex<Tables>) -> MutexGuard<'_, Tables> {
    tables.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn unknown(name: &str, last: u8) -> Source {
        Source::Unknown {
            name: TokenHash::of(name),
            address: IpAddr::from([192, 0, 2, last]),
        }
    }

    #[test]
    fn an_attempt_without_a_result_is_not_counted() {
        let throttle = LoginThrottle::default();
        for _ in 0..100 {
            // For example because the hashing queue is full, and the response is 503.
            drop(throttle.reserve(unknown("ada", 1), NOW).expect("a reservation"));
        }
        for failed in 0..5 {
            let attempt = throttle.reserve(unknown("ada", 1), NOW).expect("a reservation");
            assert_eq!(attempt.earlier_attempts, failed);
            attempt.fail(NOW);
        }
        let wait = throttle.reserve(unknown("ada", 1), NOW).err();
        assert_eq!(wait, Some(Duration::from_secs(30)));
        assert!(
            throttle.reserve(unknown("ada", 2), NOW).is_ok(),
            "another address"
        );
    }

    #[test]
    fn attempts_in_progress_use_up_the_limit() {
        let throttle = LoginThrottle::default();
        let reserve = |number: usize| throttle.reserve(unknown(&format!("name-{}", number / 5), 1), NOW);
        let attempts: Vec<_> = (0..20).map(reserve).collect();
        assert!(attempts.iter().all(Result::is_ok));
        assert!(
            throttle.reserve(unknown("another", 1), NOW).is_err(),
            "twenty attempts of this address are in progress"
        );
        drop(attempts);
        let tables = lock(&throttle.0);
        assert_eq!(
            tables.addresses.wait(&IpAddr::from([192, 0, 2, 1]), NOW),
            Duration::ZERO
        );
    }
}
