//! Delays between attempts.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The delay of the first retry. It doubles up to the resynchronization interval.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The delay after some failed attempts in a row, between 50 and 100 % of its nominal value.
pub fn retry_delay(failed_attempts: u32, longest: Duration) -> Duration {
    let nominal = FIRST_RETRY_DELAY
        .saturating_mul(1 << failed_attempts.saturating_sub(1).min(16))
        .min(longest);
    jittered(nominal)
}

/// Between 50 and 100 % of a duration.
pub fn jittered(nominal: Duration) -> Duration {
    // The keys of the standard hasher are random.
    let percent = 50 + u32::try_from(RandomState::new().hash_one(()) % 51).unwrap_or_default();
    nominal * percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_delayed_longer_up_to_the_interval() {
        let longest = Duration::from_secs(10);
        for failed in 1..40 {
            let nominal = Duration::from_secs(1 << (failed - 1).min(16)).min(longest);
            let delay = retry_delay(failed, longest);
            assert!(delay >= nominal / 2 && delay <= nominal, "{failed}: {delay:?}");
        }
    }
}
