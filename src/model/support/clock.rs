//! The clock of a ticket: the time that the ticket has waited for the provider (decision 0040).

use crate::model::time::Time;

/// A step of the history that can start or stop the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStep {
    pub at: Time,
    pub change: ClockChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// The customer opens the ticket or replies.
    CustomerMessage,
    /// Staff open the ticket or reply.
    StaffMessage,
    Close,
    Reopen,
}

/// The state of the clock. The clock runs while the ticket is not closed and the last message is from the customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The seconds on the clock when it last stopped.
    stopped_at: i64,
    running_since: Option<Time>,
    is_provider_next: bool,
    closed: Option<Time>,
    first_response: Option<FirstResponse>,
}

/// The first reply of staff to a message of the customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstResponse {
    pub at: Time,
    /// The seconds on the clock at this time.
    pub seconds: i64,
}

impl Clock {
    /// The clock after these steps, which are in the order of the history.
    pub fn after(steps: &[ClockStep]) -> Self {
        steps.iter().fold(Self::default(), Self::next)
    }

    fn next(mut self, step: &ClockStep) -> Self {
        let seconds = self.seconds(step.at);
        match step.change {
            ClockChange::CustomerMessage => self.is_provider_next = true,
            ClockChange::StaffMessage => {
                if self.is_provider_next {
                    let response = FirstResponse { at: step.at, seconds };
                    self.first_response = self.first_response.or(Some(response));
                }
                self.is_provider_next = false;
            }
            ClockChange::Close => self.closed = Some(step.at),
            ClockChange::Reopen => self.closed = None,
        }
        let is_running = self.is_provider_next && self.closed.is_none();
        Self {
            stopped_at: seconds,
            running_since: is_running.then_some(step.at),
            ..self
        }
    }

    /// The seconds on the clock at a time after the last step.
    pub fn seconds(&self, now: Time) -> i64 {
        let running = self
            .running_since
            .map_or(0, |since| now.seconds() - since.seconds());
        self.stopped_at + running.max(0)
    }

    pub fn is_running(&self) -> bool {
        self.running_since.is_some()
    }

    /// The time at which a closed ticket was closed.
    pub fn closed(&self) -> Option<Time> {
        self.closed
    }

    pub fn first_response(&self) -> Option<FirstResponse> {
        self.first_response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses `customer@0 staff@30`: changes, each with its second.
    fn clock(steps: &str) -> Clock {
        let step = |word: &str| {
            let (change, second) = word.split_once('@').expect("a change and a second");
            ClockStep {
                at: Time::from_seconds(second.parse().expect("a number")),
                change: match change {
                    "customer" => ClockChange::CustomerMessage,
                    "staff" => ClockChange::StaffMessage,
                    "close" => ClockChange::Close,
                    "reopen" => ClockChange::Reopen,
                    other => panic!("unknown change {other}"),
                },
            }
        };
        Clock::after(&steps.split_whitespace().map(step).collect::<Vec<_>>())
    }

    #[test]
    fn the_clock_runs_while_the_ticket_waits_for_the_provider() {
        // The steps, then at second 100: the seconds on the clock, whether it runs, and the first response with the
        // seconds on the clock.
        for (steps, seconds, is_running, response) in [
            ("", 0, false, None),
            ("customer@0", 100, true, None),
            ("customer@40", 60, true, None),
            ("customer@0 staff@30", 30, false, Some((30, 30))),
            ("customer@0 customer@20", 100, true, None),
            ("customer@0 staff@30 staff@60", 30, false, Some((30, 30))),
            // The clock continues after the next message of the customer.
            ("customer@0 staff@30 customer@80", 50, true, Some((30, 30))),
            (
                "customer@0 staff@30 customer@80 staff@90",
                40,
                false,
                Some((30, 30)),
            ),
            // Closed without a reply, and reopened: the clock continues with the rest.
            ("customer@0 close@10", 10, false, None),
            ("customer@0 close@10 reopen@60", 50, true, None),
            (
                "customer@0 close@10 reopen@60 staff@70",
                20,
                false,
                Some((70, 20)),
            ),
            // Reopened by staff after a reply: the ticket waits for the customer.
            (
                "customer@0 staff@30 close@30 reopen@50",
                30,
                false,
                Some((30, 30)),
            ),
            // Reopened by a reply of the customer.
            (
                "customer@0 staff@30 close@30 reopen@50 customer@50",
                80,
                true,
                Some((30, 30)),
            ),
            // Opened by the provider: a further message is no response.
            ("staff@0", 0, false, None),
            ("staff@0 staff@20", 0, false, None),
            ("staff@0 staff@20 customer@60", 40, true, None),
            ("staff@0 customer@60 staff@75", 15, false, Some((75, 15))),
            // A clock that was set back does not count backwards.
            ("customer@50 staff@20", 0, false, Some((20, 0))),
        ] {
            let clock = clock(steps);
            let found = clock.first_response();
            assert_eq!(
                (
                    clock.seconds(Time::from_seconds(100)),
                    clock.is_running(),
                    found.map(|found| (found.at.seconds(), found.seconds)),
                ),
                (seconds, is_running, response),
                "{steps}"
            );
        }
    }
}
