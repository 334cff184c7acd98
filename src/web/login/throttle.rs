//! Counts failures by key, and computes the wait before the next attempt.
//!
//! An attempt is reserved before it is made and settled afterwards, so attempts in parallel cannot exceed the limit, and
//! an attempt that was never carried out is not counted. The table has a fixed maximum size: entries that have expired
//! are removed first, then the oldest.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;

/// The time to wait while as many attempts run as are allowed.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(1);

/// The number of free failures, and the wait after each further one.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The number of failures without a wait.
    pub free_failures: u32,
    /// The wait after the last free failure; each further failure doubles it.
    pub first_wait: Duration,
    pub max_wait: Duration,
    /// Failures are forgotten after this time without another one.
    pub forgotten_after: Duration,
}

pub struct Failures<K> {
    rate: Rate,
    max_entries: usize,
    entries: HashMap<K, Entry>,
    /// The keys, least recently used first.
    by_age: BTreeMap<u64, K>,
    next_age: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    failures: u32,
    last_failure: Duration,
    /// Attempts that are being made.
    reserved: u32,
    age: u64,
}

/// Whole seconds, rounded up, so that a client that waits this long may try again.
pub fn seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

impl<K: Copy + Eq + Hash> Failures<K> {
    pub fn new(rate: Rate, max_entries: usize) -> Self {
        Self {
            rate,
            max_entries,
            entries: HashMap::new(),
            by_age: BTreeMap::new(),
            next_age: 0,
        }
    }

    /// The wait before an attempt; zero if it can be made now.
    pub fn wait(&self, key: &K, now: Duration) -> Duration {
        let entry = self.entry(key, now);
        let locked = self.locked_for(entry, now);
        let allowed = self.rate.free_failures.saturating_sub(entry.failures).max(1);
        match entry.reserved >= allowed {
            true => locked.max(WAIT_FOR_OTHERS),
            false => locked,
        }
    }

    /// Failures and attempts in progress of a key.
    pub fn count(&self, key: &K, now: Duration) -> u32 {
        let entry = self.entry(key, now);
        entry.failures.saturating_add(entry.reserved)
    }

    /// Reserves an attempt. `false` if the table is full of reserved attempts.
    pub fn reserve(&mut self, key: K, now: Duration) -> bool {
        let mut entry = self.entry(&key, now);
        if !self.entries.contains_key(&key) && !self.make_room(now) {
            return false;
        }
        entry.reserved += 1;
        self.put(key, entry);
        true
    }

    /// Ends an attempt without a result.
    pub fn release(&mut self, key: &K, now: Duration) {
        let mut entry = self.entry(key, now);
        entry.reserved = entry.reserved.saturating_sub(1);
        match entry.reserved == 0 && entry.failures == 0 {
            true => self.remove(key),
            false => self.put(*key, entry),
        }
    }

    /// Ends a failed attempt; returns the wait before the next one.
    pub fn fail(&mut self, key: &K, now: Duration) -> Duration {
        let mut entry = self.entry(key, now);
        entry.reserved = entry.reserved.saturating_sub(1);
        entry.failures = entry.failures.saturating_add(1);
        entry.last_failure = now;
        self.put(*key, entry);
        self.locked_for(entry, now)
    }

    /// Ends a successful attempt, and resets the failures.
    pub fn succeed(&mut self, key: &K, now: Duration) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.failures = 0;
        }
        self.release(key, now);
    }

    /// The entry of a key, without expired failures.
    fn entry(&self, key: &K, now: Duration) -> Entry {
        let mut entry = self.entries.get(key).copied().unwrap_or_default();
        if self.is_forgotten(&entry, now) {
            entry.failures = 0;
        }
        entry
    }

    fn is_forgotten(&self, entry: &Entry, now: Duration) -> bool {
        now.saturating_sub(entry.last_failure) >= self.rate.forgotten_after
    }

    fn locked_for(&self, entry: Entry, now: Duration) -> Duration {
        let Some(beyond) = entry.failures.checked_sub(self.rate.free_failures) else {
            return Duration::ZERO;
        };
        let wait = self.rate.first_wait.saturating_mul(1 << beyond.min(16));
        (entry.last_failure + wait.min(self.rate.max_wait)).saturating_sub(now)
    }

    fn put(&mut self, key: K, mut entry: Entry) {
        self.by_age.remove(&entry.age);
        self.next_age += 1;
        entry.age = self.next_age;
        self.by_age.insert(entry.age, key);
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_age.remove(&entry.age);
        }
    }

    /// Removes the oldest entry if the table is full, and entries that have expired in any case.
    fn make_room(&mut self, now: Duration) -> bool {
        while let Some((_, key)) = self.by_age.first_key_value() {
            let key = *key;
            let entry = self.entries.get(&key).copied().unwrap_or_default();
            if entry.reserved > 0 || !self.is_forgotten(&entry, now) {
                break;
            }
            self.remove(&key);
        }
        if self.entries.len() < self.max_entries {
            return true;
        }
        let idle = |key: &&K| self.entries.get(key).is_none_or(|entry| entry.reserved == 0);
        let Some(oldest) = self.by_age.values().find(idle).copied() else {
            return false;
        };
        self.remove(&oldest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        free_failures: 3,
        first_wait: Duration::from_secs(30),
        max_wait: Duration::from_secs(100),
        forgotten_after: Duration::from_secs(1000),
    };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn fails(failures: &mut Failures<u32>, key: u32, now: Duration) -> u64 {
        assert!(failures.wait(&key, now).is_zero() && failures.reserve(key, now));
        failures.fail(&key, now).as_secs()
    }

    #[test]
    fn each_failure_beyond_the_free_ones_doubles_the_wait() {
        let mut failures = Failures::new(RATE, 10);
        let waits = [0, 5, 10].map(|now| fails(&mut failures, 1, at(now)));
        assert_eq!(waits, [0, 0, 30]);
        assert_eq!(failures.wait(&1, at(39)), at(1));
        assert_eq!(failures.wait(&2, at(39)), at(0), "another key is not affected");
        assert_eq!(fails(&mut failures, 1, at(40)), 60);
        assert_eq!(fails(&mut failures, 1, at(100)), 100);
        assert_eq!(failures.wait(&1, at(1100)), at(0));
        assert_eq!(fails(&mut failures, 1, at(1100)), 0, "all of it is forgotten");
    }

    #[test]
    fn attempts_in_progress_count_and_an_attempt_that_is_released_does_not() {
        let mut failures = Failures::new(RATE, 10);
        for _ in 0..3 {
            assert!(failures.wait(&1, at(0)).is_zero() && failures.reserve(1, at(0)));
        }
        assert_eq!(failures.wait(&1, at(0)), WAIT_FOR_OTHERS);
        failures.release(&1, at(0));
        assert!(failures.wait(&1, at(0)).is_zero());
        failures.fail(&1, at(0));
        failures.succeed(&1, at(0));
        assert!(failures.entries.is_empty() && failures.by_age.is_empty());
    }

    #[test]
    fn the_table_never_exceeds_its_size() {
        let mut failures = Failures::new(RATE, 10);
        assert!(failures.reserve(0, at(0)));
        for key in 1..1000 {
            fails(&mut failures, key, at(u64::from(key) / 10));
            assert!(failures.entries.len() <= 10 && failures.by_age.len() == failures.entries.len());
        }
        assert!(failures.entries.contains_key(&0), "an attempt in progress stays");
        assert_eq!(failures.count(&999, at(100)), 1);
        for key in 1000..1009 {
            assert!(failures.reserve(key, at(100)));
        }
        assert!(!failures.reserve(2000, at(100)), "all of them are in progress");
        failures.release(&1000, at(100));
        assert!(failures.reserve(2000, at(5000)));
    }
}
