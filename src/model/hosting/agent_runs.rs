//! The processes that have reported as the agent of a host, to notice a second agent (decision 0048).

use crate::model::host::OFFLINE_AFTER_SECONDS;
use crate::model::time::Time;

/// The maximum number of stored processes. More agents than this with one credential, in turn, are not noticed.
const MAX_RUNS: usize = 16;

/// The identifiers of the processes, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRuns {
    pub runs: Vec<String>,
    /// When an earlier process last reported after a newer one.
    pub returned: Option<Time>,
}

impl AgentRuns {
    /// Adds the process of a report. A restarted agent has a new identifier. An earlier process that reports again shows
    /// that two processes run.
    pub fn add(&mut self, run: &str, now: Time) {
        match self.runs.iter().position(|known| known == run) {
            Some(0) => return,
            Some(place) => {
                self.runs.remove(place);
                self.returned = Some(now);
            }
            None => self.runs.truncate(MAX_RUNS - 1),
        }
        self.runs.insert(0, run.to_owned());
    }

    /// Whether several processes report. After a minute with only one of them, the others have ended.
    pub fn are_several(&self, now: Time) -> bool {
        self.returned
            .is_some_and(|returned| now.seconds() - returned.seconds() <= OFFLINE_AFTER_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether several processes are found after these reports, one per second.
    fn are_several(reports: &[&str]) -> bool {
        let mut runs = AgentRuns::default();
        for (second, run) in (0..).zip(reports) {
            runs.add(run, Time::from_seconds(second));
        }
        runs.are_several(Time::from_seconds(reports.len() as i64))
    }

    #[test]
    fn an_earlier_process_that_reports_again_shows_several_agents() {
        assert!(!are_several(&[]));
        assert!(!are_several(&["a", "a", "b", "b", "c", "c"]), "restarts");
        assert!(are_several(&["a", "b", "a"]));
        assert!(are_several(&["a", "b", "c", "a"]), "three agents in turn");
    }

    #[test]
    fn the_remaining_process_is_alone_after_a_minute() {
        let mut runs = AgentRuns::default();
        for run in ["a", "b", "a", "b"] {
            runs.add(run, Time::from_seconds(100));
        }
        assert!(runs.are_several(Time::from_seconds(160)));
        runs.add("b", Time::from_seconds(161));
        assert!(!runs.are_several(Time::from_seconds(161)));
        runs.add("c", Time::from_seconds(170));
        assert!(!runs.are_several(Time::from_seconds(170)), "a restart");
    }
}
