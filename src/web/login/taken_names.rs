//! A limit on the number of taken usernames that an account can discover, per node.
//!
//! Usernames are unique across all accounts and the staff, so a rejected name reveals that it exists. Each account can
//! discover a limited number of them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::id::AccountId;
use crate::rules::{Error, Result};
use crate::store::context::Clock;
use crate::web::throttle::{Failures, Rate, seconds};

const HOUR: Duration = Duration::from_secs(3600);
/// 20 taken names, then a wait of one hour.
const RATE: Rate = Rate {
    free_failures: 20,
    first_wait: HOUR,
    max_wait: HOUR,
    forgotten_after: HOUR,
};
const MAX_ACCOUNTS: usize = 20_000;

pub struct TakenNames(Mutex<Failures<AccountId>>);

impl Default for TakenNames {
    fn default() -> Self {
        Self(Mutex::new(Failures::new(RATE, MAX_ACCOUNTS)))
    }
}

impl TakenNames {
    fn lock(&self) -> MutexGuard<'_, Failures<AccountId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt in progress. Parallel ones count, so that they cannot exceed the limit.
pub struct Attempt<'a> {
    names: &'a TakenNames,
    clock: &'a Clock,
    account: AccountId,
    settled: bool,
}

impl<'a> Attempt<'a> {
    pub fn reserve(names: &'a TakenNames, clock: &'a Clock, account: AccountId) -> Result<Self> {
        let (mut failures, now) = (names.lock(), clock.monotonic());
        let wait = failures.wait(&account, now);
        if !wait.is_zero() || !failures.reserve(account, now) {
            let wait = seconds(wait).max(1);
            return Err(Error::TooMany { wait });
        }
        Ok(Self {
            names,
            clock,
            account,
            settled: false,
        })
    }

    pub fn found_taken(mut self) {
        self.settled = true;
        self.names.lock().fail(&self.account, self.clock.monotonic());
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.names.lock().release(&self.account, self.clock.monotonic());
        }
    }
}
