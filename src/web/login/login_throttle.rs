//! Limits for password guesses, per node (decision 0017).
//!
//! An unknown device is counted by its address, and by address and username; never by the username alone, so that the
//! guesses of others cannot lock out a user. A known device and a logged-in user have their own counters.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::device::DeviceId;
use crate::model::id::UserId;
use crate::model::token::TokenHash;
use crate::web::throttle::{Failures, Rate};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// Wrong passwords for one name from one address, or from one known device.
const PER_NAME: Rate = Rate {
    free_failures: 5,
    first_wait: Duration::from_secs(30),
    max_wait: Duration::from_secs(15 * MINUTE),
    forgotten_after: Duration::from_secs(24 * HOUR),
};
/// Wrong passwords from one address, which many users may share.
const PER_ADDRESS: Rate = Rate {
    free_failures: 20,
    forgotten_after: Duration::from_secs(HOUR),
    ..PER_NAME
};
/// The size of each table. An entry takes about 200 bytes.
const MAX_ENTRIES: usize = 20_000;

/// The counters that an attempt is counted by.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A device without a device cookie of the user.
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
    /// A logged-in user who enters the current password to change it.
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
    /// Reserves an attempt. The error is the time to wait before another try.
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
                settled: false,
            }),
        }
    }
}

/// An attempt in progress. It is not counted if it is dropped without a result.
pub struct Reservation {
    tables: Arc<Mutex<Tables>>,
    source: Source,
    reserved_at: Duration,
    /// The failures of the same address so far, and its other attempts in progress; 0 for a known client.
    pub earlier_attempts: u32,
    settled: bool,
}

impl Reservation {
    /// Counts a failure. Returns the time to wait before the next attempt.
    pub fn fail(mut self, now: Duration) -> Duration {
        self.settled = true;
        let mut tables = lock(&self.tables);
        match self.source {
            Source::Unknown { name, address } => {
                let wait = tables.addresses.fail(&address, now);
                wait.max(tables.names.fail(&(name, address), now))
            }
            Source::Known(known) => tables.known.fail(&known, now),
        }
    }

    /// Resets the counter of the username. The counter of the address remains, because it may include other usernames.
    pub fn succeed(mut self, now: Duration) {
        self.settled = true;
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
        if self.settled {
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
