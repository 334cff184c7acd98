//! Counts the failures for each key, with exponential back-off: the delay before the next attempt doubles with each
//! failure.
//!
//! The caller reserves an attempt before the attempt runs. Afterwards it reports success or failure, or
//! releases the attempt without a result. Until then, the attempt counts like a failure, so that parallel
//! attempts cannot exceed `failures_before_delay`. The table has a maximum size. When it is full, the least
//! recently used entry without an attempt in progress is removed.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;

/// The delay while no further attempt can begin, because all attempts in progress could fail.
const IN_PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// The parameters of an exponential back-off.
#[derive(Clone, Copy, Debug)]
pub struct BackOff {
    /// The number of failures at which the delays begin.
    pub failures_before_delay: u32,
    /// The first delay. Each further failure doubles it.
    pub initial_delay: Duration,
    pub max_delay: Duration,
    /// After this time without another failure, the number of failures is reset to zero.
    pub reset_after: Duration,
}

/// The failures and the attempts in progress for each key.
pub struct Failures<K> {
    back_off: BackOff,
    max_entries: usize,
    entries: HashMap<K, Entry>,
    /// The keys, least recently used first.
    by_last_use: BTreeMap<u64, K>,
    next_use: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    failures: u32,
    last_failure: Duration,
    /// The number of attempts in progress.
    reserved: u32,
    last_use: u64,
}

/// Rounds a delay up to whole seconds, so that a client that waits this long can try again.
pub fn seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

impl<K: Copy + Eq + Hash> Failures<K> {
    pub fn new(back_off: BackOff, max_entries: usize) -> Self {
        Self {
            back_off,
            max_entries,
            entries: HashMap::new(),
            by_last_use: BTreeMap::new(),
            next_use: 0,
        }
    }

    /// The delay before the next attempt; zero if it can run now.
    pub fn wait(&self, key: &K, now: Duration) -> Duration {
        let entry = self.entry(key, now);
        let delay = self.remaining_delay(entry, now);
        let allowed = self
            .back_off
            .failures_before_delay
            .saturating_sub(entry.failures)
            .max(1);
        match entry.reserved >= allowed {
            true => delay.max(IN_PROGRESS_DELAY),
            false => delay,
        }
    }

    /// The number of failures and attempts in progress for a key.
    pub fn count(&self, key: &K, now: Duration) -> u32 {
        let entry = self.entry(key, now);
        entry.failures.saturating_add(entry.reserved)
    }

    /// Reserves an attempt. Returns false if the table is full and every entry has an attempt in progress.
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

    /// Ends a failed attempt. Returns the delay before the next attempt.
    pub fn fail(&mut self, key: &K, now: Duration) -> Duration {
        let mut entry = self.entry(key, now);
        entry.reserved = entry.reserved.saturating_sub(1);
        entry.failures = entry.failures.saturating_add(1);
        entry.last_failure = now;
        self.put(*key, entry);
        self.remaining_delay(entry, now)
    }

    /// Ends a successful attempt, and resets the number of failures.
    pub fn succeed(&mut self, key: &K, now: Duration) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.failures = 0;
        }
        self.release(key, now);
    }

    /// The entry for a key. If the last failure is older than `reset_after`, the number of failures is zero.
    fn entry(&self, key: &K, now: Duration) -> Entry {
        let mut entry = self.entries.get(key).copied().unwrap_or_default();
        if self.has_expired(&entry, now) {
            entry.failures = 0;
        }
        entry
    }

    fn has_expired(&self, entry: &Entry, now: Duration) -> bool {
        now.saturating_sub(entry.last_failure) >= self.back_off.reset_after
    }

    fn remaining_delay(&self, entry: Entry, now: Duration) -> Duration {
        let Some(doublings) = entry.failures.checked_sub(self.back_off.failures_before_delay) else {
            return Duration::ZERO;
        };
        let delay = self.back_off.initial_delay.saturating_mul(1 << doublings.min(16));
        (entry.last_failure + delay.min(self.back_off.max_delay)).saturating_sub(now)
    }

    fn put(&mut self, key: K, mut entry: Entry) {
        self.by_last_use.remove(&entry.last_use);
        self.next_use += 1;
        entry.last_use = self.next_use;
        self.by_last_use.insert(entry.last_use, key);
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_last_use.remove(&entry.last_use);
        }
    }

    /// Removes expired entries. If the table is still full, removes the least recently used entry without an
    /// attempt in progress. Returns false if there is no such entry.
    fn make_room(&mut self, now: Duration) -> bool {
        while let Some((_, key)) = self.by_last_use.first_key_value() {
            let key = *key;
            let entry = self.entries.get(&key).copied().unwrap_or_default();
            if entry.reserved > 0 || !self.has_expired(&entry, now) {
                break;
            }
            self.remove(&key);
        }
        if self.entries.len() < self.max_entries {
            return true;
        }
        let is_idle = |key: &&K| self.entries.get(key).is_none_or(|entry| entry.reserved == 0);
        let Some(least_recent) = self.by_last_use.values().find(is_idle).copied() else {
            return false;
        };
        self.remove(&least_recent);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACK_OFF: BackOff = BackOff {
        failures_before_delay: 3,
        initial_delay: Duration::from_secs(30),
        max_delay: Duration::from_secs(100),
        reset_after: Duration::from_secs(1000),
    };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn record_failure(failures: &mut Failures<u32>, key: u32, now: Duration) -> u64 {
        assert!(failures.wait(&key, now).is_zero() && failures.reserve(key, now));
        failures.fail(&key, now).as_secs()
    }

    #[test]
    fn each_failure_after_the_first_delay_doubles_the_delay() {
        let mut failures = Failures::new(BACK_OFF, 10);
        let waits = [0, 5, 10].map(|now| record_failure(&mut failures, 1, at(now)));
        assert_eq!(waits, [0, 0, 30]);
        assert_eq!(failures.wait(&1, at(39)), at(1));
        assert_eq!(failures.wait(&2, at(39)), at(0), "another key is not affected");
        assert_eq!(record_failure(&mut failures, 1, at(40)), 60);
        assert_eq!(record_failure(&mut failures, 1, at(100)), 100);
        assert_eq!(failures.wait(&1, at(1100)), at(0));
        assert_eq!(
            record_failure(&mut failures, 1, at(1100)),
            0,
            "the number of failures is reset"
        );
    }

    #[test]
    fn attempts_in_progress_count_and_released_attempts_do_not() {
        let mut failures = Failures::new(BACK_OFF, 10);
        for _ in 0..3 {
            assert!(failures.wait(&1, at(0)).is_zero() && failures.reserve(1, at(0)));
        }
        assert_eq!(failures.wait(&1, at(0)), IN_PROGRESS_DELAY);
        failures.release(&1, at(0));
        assert!(failures.wait(&1, at(0)).is_zero());
        failures.fail(&1, at(0));
        failures.succeed(&1, at(0));
        assert!(failures.entries.is_empty() && failures.by_last_use.is_empty());
    }

    #[test]
    fn the_table_never_exceeds_its_size() {
        let mut failures = Failures::new(BACK_OFF, 10);
        assert!(failures.reserve(0, at(0)));
        for key in 1..1000 {
            record_failure(&mut failures, key, at(u64::from(key) / 10));
            assert!(failures.entries.len() <= 10 && failures.by_last_use.len() == failures.entries.len());
        }
        assert!(
            failures.entries.contains_key(&0),
            "an entry with an attempt in progress remains"
        );
        assert_eq!(failures.count(&999, at(100)), 1);
        for key in 1000..1009 {
            assert!(failures.reserve(key, at(100)));
        }
        assert!(
            !failures.reserve(2000, at(100)),
            "all entries have an attempt in progress"
        );
        failures.release(&1000, at(100));
        assert!(failures.reserve(2000, at(5000)));
    }
}
