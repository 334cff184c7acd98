//! Logging of conditions that last: one line when the condition begins, at most one per minute while it
//! lasts, and one when it ends.

use std::time::{Duration, Instant};

const REPEAT_INTERVAL: Duration = Duration::from_secs(60);
/// The condition has ended after this time without an occurrence.
const QUIET_PERIOD: Duration = Duration::from_secs(10);

/// The state of a condition.
#[derive(Default)]
pub struct Episode(Option<Occurrences>);

struct Occurrences {
    first: Instant,
    last: Instant,
    logged: Instant,
    count: u64,
}

/// The values to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Occurrences since the condition began.
    pub count: u64,
    pub lasted: Duration,
}

impl Episode {
    /// Counts an occurrence. `Some` if a line is to be logged.
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

    /// Ends the episode after a quiet period. `Some` if it has just ended.
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
    fn an_episode_logs_its_start_each_minute_and_its_end() {
        let start = Instant::now();
        let mut episode = Episode::default();
        assert_eq!(episode.end_when_quiet(start), None);
        let mut logged = Vec::new();
        for second in 0..150 {
            let now = start + Duration::from_secs(second);
            logged.extend(episode.occur(now).map(|summary| (second, summary.count)));
            assert_eq!(episode.end_when_quiet(now), None);
        }
        assert_eq!(logged, [(0, 1), (60, 61), (120, 121)]);

        let quiet = |seconds: u64| start + Duration::from_secs(149 + seconds);
        assert_eq!(episode.end_when_quiet(quiet(9)), None);
        let summary = Summary {
            count: 150,
            lasted: Duration::from_secs(149),
        };
        assert_eq!(episode.end_when_quiet(quiet(10)), Some(summary));
        assert_eq!(episode.end_when_quiet(quiet(11)), None, "an end is logged once");
        assert!(
            episode.occur(quiet(12)).is_some(),
            "the next one starts a new episode"
        );
    }
}
