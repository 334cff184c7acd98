//! Targets of the desk: how long a ticket may wait for the provider (decision 0040).

use std::hash::{Hash, Hasher};

use crate::model::clock::Clock;
use crate::model::ticket::Priority;
use crate::model::time::Time;

/// The targets of the provider. Without targets, tickets have no due times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    pub first_response: TargetMinutes,
    pub resolution: TargetMinutes,
}

/// The minutes of a target for each priority, in the order of `Priority::WORDS`; `None` if a priority has no target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetMinutes(pub [Option<i64>; Priority::WORDS.len()]);

/// The targets of one ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketTargets {
    /// Whether the clock stands still: the ticket waits for the customer, or is closed.
    pub is_paused: bool,
    pub first_response: Option<TargetProgress>,
    pub resolution: Option<TargetProgress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetProgress {
    pub target_seconds: i64,
    /// Negative after the target was missed.
    pub remaining_seconds: i64,
    /// The time at which the target is missed if the clock does not stop; `None` while the clock stands still, and after
    /// the response or the closing.
    pub due: Option<Time>,
    /// The time of the first response, or the time at which the ticket was closed.
    pub reached: Option<Time>,
}

impl Targets {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The targets of a ticket with this priority; `None` if the priority has none. The targets of the current priority
    /// apply to the whole clock.
    pub fn of(&self, priority: Priority, clock: &Clock, now: Time) -> Option<TicketTargets> {
        let (seconds, response) = (clock.seconds(now), clock.first_response());
        let progress = |minutes: TargetMinutes, seconds: i64, reached: Option<Time>| {
            let target_seconds = minutes.of(priority)? * 60;
            let remaining_seconds = target_seconds - seconds;
            let is_running = reached.is_none() && clock.is_running();
            Some(TargetProgress {
                target_seconds,
                remaining_seconds,
                due: is_running.then(|| now.to_second().plus_seconds(remaining_seconds)),
                reached,
            })
        };
        let targets = TicketTargets {
            is_paused: !clock.is_running(),
            first_response: progress(
                self.first_response,
                response.map_or(seconds, |response| response.seconds),
                response.map(|response| response.at),
            ),
            resolution: progress(self.resolution, seconds, clock.closed()),
        };
        (targets.first_response.is_some() || targets.resolution.is_some()).then_some(targets)
    }
}

impl TargetMinutes {
    pub fn of(self, priority: Priority) -> Option<i64> {
        self.0[priority as usize]
    }
}

impl TargetProgress {
    pub fn is_met(&self) -> bool {
        self.reached.is_some() && self.remaining_seconds >= 0
    }

    pub fn is_breached(&self) -> bool {
        self.remaining_seconds < 0
    }
}

impl TicketTargets {
    /// The target that is missed first, of those that are not reached yet.
    pub fn next(&self) -> Option<&TargetProgress> {
        let targets = self.first_response.iter().chain(&self.resolution);
        let open = targets.filter(|target| target.reached.is_none());
        open.min_by_key(|target| target.remaining_seconds)
    }
}

/// The targets depend on the time and on settings. The entity tag of a ticket changes only with its steps.
impl Hash for TicketTargets {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::{ClockChange, ClockStep};

    fn clock(steps: &[(i64, ClockChange)]) -> Clock {
        let step = |(second, change): &(i64, ClockChange)| ClockStep {
            at: Time::from_seconds(*second),
            change: *change,
        };
        Clock::after(&steps.iter().map(step).collect::<Vec<_>>())
    }

    /// Both targets at second 1000: remaining seconds, due second, and `met`, `breached` or `open`.
    #[test]
    fn targets_are_due_met_or_breached() {
        use ClockChange::{Close, CustomerMessage, StaffMessage};
        let minutes = |minutes| TargetMinutes([None, Some(minutes), None, None]);
        let targets = Targets {
            first_response: minutes(10),
            resolution: minutes(20),
        };
        let opened = (0, CustomerMessage);
        for (steps, is_paused, first_response, resolution) in [
            (
                &[(700, CustomerMessage)][..],
                false,
                (300, 1300, "open"),
                (900, 1900, "open"),
            ),
            (&[opened], false, (-400, 600, "breached"), (200, 1200, "open")),
            (
                &[opened, (600, StaffMessage)],
                true,
                (0, 0, "met"),
                (600, 0, "open"),
            ),
            (
                &[opened, (601, StaffMessage)],
                true,
                (-1, 0, "breached"),
                (599, 0, "open"),
            ),
            (
                &[opened, (100, StaffMessage), (100, Close)],
                true,
                (500, 0, "met"),
                (1100, 0, "met"),
            ),
            (
                &[(-500, CustomerMessage), (900, Close)],
                true,
                (-800, 0, "breached"),
                (-200, 0, "breached"),
            ),
        ] {
            let now = Time::from_seconds(1000);
            let found = targets.of(Priority::Normal, &clock(steps), now).expect("targets");
            let shown = |target: Option<TargetProgress>| {
                let target = target.expect("a target");
                let state = match (target.is_met(), target.is_breached()) {
                    (false, false) => "open",
                    (true, _) => "met",
                    (false, true) => "breached",
                };
                (
                    target.remaining_seconds,
                    target.due.map_or(0, Time::seconds),
                    state,
                )
            };
            assert_eq!(
                (
                    found.is_paused,
                    shown(found.first_response),
                    shown(found.resolution)
                ),
                (is_paused, first_response, resolution),
                "{steps:?}"
            );
            assert_eq!(targets.of(Priority::High, &clock(steps), now), None);
        }
    }
}
