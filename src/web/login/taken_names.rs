//! A limit on the number of taken usernames that an account can discover, per node.
//!
//! Usernames are unique across all accounts and the staff, so the rejection of a name reveals that a user has it. Each
//! account can discover a limited number of taken names.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::id::AccountId;
use crate::rules::{Error, Result};
use crate::store::context::Clock;
use crate::web::throttle::{BackOff, Failures, seconds};

const HOUR: Duration = Duration::from_secs(3600);
/// After 20 taken names, an account must wait for one hour.
const BACK_OFF: BackOff = BackOff {
    failures_before_delay: 20,
    initial_delay: HOUR,
    max_delay: HOUR,
    reset_after: HOUR,
};
const MAX_ACCOUNTS: usize = 20_000;

pub struct TakenNames(Mutex<Failures<AccountId>>);

impl Default for TakenNames {
    fn default() -> Self {
        Self(Mutex::new(Failures::new(BACK_OFF, MAX_ACCOUNTS)))
    }
}

impl TakenNames {
    fn lock(&self) -> MutexGuard<'_, Failures<AccountId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt in progress. It counts while it runs, so that parallel attempts cannot exceed the limit.
pub struct Attempt<'a> {
    names: &'a TakenNames,
    clock: &'a Clock,
    account: AccountId,
    has_result: bool,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt. Fails if the account must wait.
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
            has_result: false,
        })
    }

    /// Ends the attempt and counts a taken name.
    pub fn found_taken(mut self) {
        self.has_result = true;
        self.names.lock().fail(&self.account, self.clock.monotonic());
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.has_result {
            self.names.lock().release(&self.account, self.clock.monotonic());
        }
    }
}
