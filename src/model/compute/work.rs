//! The steps of work on an instance or a disk, stored as the payload of a job.

use crate::model::id::EventId;
use crate::model::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStep {
    /// Starts the work, which ends at `finish`.
    Start {
        event: EventId,
        finish: Time,
    },
    Finish {
        event: EventId,
    },
    /// Ends a boot on a host whose agent has not reported that it succeeded.
    BootTimeout {
        event: EventId,
        begun: Time,
    },
}

impl WorkStep {
    /// The event that shows the progress of the work.
    pub const fn event(self) -> EventId {
        match self {
            WorkStep::Start { event, .. }
            | WorkStep::Finish { event }
            | WorkStep::BootTimeout { event, .. } => event,
        }
    }

    pub fn parse(payload: &str) -> Option<Self> {
        let mut words = payload.split(' ');
        let step = words.next()?;
        let event = EventId(words.next()?.parse().ok()?);
        let time = words.next();
        match (step, time, words.next()) {
            ("start", Some(finish), None) => Some(WorkStep::Start {
                event,
                finish: Time::from_micros(finish.parse().ok()?),
            }),
            ("boot_timeout", Some(begun), None) => Some(WorkStep::BootTimeout {
                event,
                begun: Time::from_micros(begun.parse().ok()?),
            }),
            ("finish", None, None) => Some(WorkStep::Finish { event }),
            _ => None,
        }
    }
}

impl std::fmt::Display for WorkStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WorkStep::Start { event, finish } => write!(f, "start {event} {}", finish.micros()),
            WorkStep::Finish { event } => write!(f, "finish {event}"),
            WorkStep::BootTimeout { event, begun } => write!(f, "boot_timeout {event} {}", begun.micros()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_round_trip_and_other_text_is_refused() {
        let (event, finish) = (EventId(7), Time::from_micros(1_500_000));
        for step in [
            WorkStep::Start { event, finish },
            WorkStep::Finish { event },
            WorkStep::BootTimeout { event, begun: finish },
        ] {
            assert_eq!(WorkStep::parse(&step.to_string()), Some(step));
        }
        for payload in [
            "",
            "start",
            "start 7",
            "start 7 soon",
            "finish",
            "finish 7 8",
            "stop 7",
        ] {
            assert_eq!(WorkStep::parse(payload), None, "{payload}");
        }
    }
}
