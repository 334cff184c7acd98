//! Limits the log lines about an ongoing condition, such as a failing check: one line when the condition
//! begins, at most one line per minute while it continues, and one line when it ends.

use std::time::{Duration, Instant};

const REPEAT_INTERVAL: Duration = Duration::from_secs(60);
/// After this time without an occurrence, the condition has ended.
const QUIET_PERIOD: Duration = Duration::from_secs(10);

/// A condition that may be ongoing; `None` if it is not.
#[derive(Default)]
pub struct OngoingCondition(Option<Occurrences>);

struct Occurrences {
    first: Instant,
    last: Instant,
    logged: Instant,
    count: u64,
}

/// The values to log about a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number of occurrences since the condition began.
    pub count: u64,
    pub lasted: Duration,
}

impl Summary {
    /// The duration in seconds, rounded up. `None` if the condition has just begun.
    pub fn seconds(&self) -> Option<u64> {
        let seconds = self.lasted.as_nanos().div_ceil(1_000_000_000);
        u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)
    }
}

impl OngoingCondition {
    /// Counts an occurrence. Returns a summary if the caller must log a line.
    pub fn occur(&mut self, now: Instant) -> Option<Summary> {
        let Some(occurrences) = &mut self.0 else {
            self.0 = Some(Occurrences {
                first: now,
                last: now,
                logged: now,
                count: 1,
            });
            return self.summary();
        };
        occurrences.count += 1;
        occurrences.last = now;
        if now.duration_since(occurrences.logged) < REPEAT_INTERVAL {
            return None;
        }
        occurrences.logged = now;
        self.summary()
    }

    /// Ends the condition after a quiet period. Returns a summary if the condition has just ended.
    pub fn end_when_quiet(&mut self, now: Instant) -> Option<Summary> {
        let last = self.0.as_ref()?.last;
        if now.duration_since(last) < QUIET_PERIOD {
            return None;
        }
        let summary = self.summary();
        self.0 = None;
        summary
    }

    fn summary(&self) -> Option<Summary> {
        self.0.as_ref().map(|occurrences| Summary {
            count: occurrences.count,
            lasted: occurrences.last.duration_since(occurrences.first),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_logged_at_its_start_each_minute_and_at_its_end() {
        let start = Instant::now();
        let mut condition = OngoingCondition::default();
        assert_eq!(condition.end_when_quiet(start), None);
        let mut logged = Vec::new();
        for second in 0..150 {
            let now = start + Duration::from_secs(second);
            let summary = condition.occur(now);
            logged.extend(summary.map(|summary| (second, summary.count, summary.seconds())));
            assert_eq!(condition.end_when_quiet(now), None);
        }
        assert_eq!(logged, [(0, 1, None), (60, 61, Some(60)), (120, 121, Some(120))]);

        let quiet = |seconds: u64| start + Duration::from_secs(149 + seconds);
        assert_eq!(condition.end_when_quiet(quiet(9)), None);
        let summary = Summary {
            count: 150,
            lasted: Duration::from_secs(149),
        };
        assert_eq!(condition.end_when_quiet(quiet(10)), Some(summary));
        assert_eq!(summary.seconds(), Some(149));
        let short = Duration::from_millis(1);
        let short = Summary {
            lasted: short,
            ..summary
        };
        assert_eq!(short.seconds(), Some(1), "a part of a second counts as one");
        assert_eq!(condition.end_when_quiet(quiet(11)), None, "an end is logged once");
        assert!(
            condition.occur(quiet(12)).is_some(),
            "the next occurrence begins a new condition"
        );
    }
}
