//! The steps of an instance's power change, stored as the payload of a job.

use crate::model::id::EventId;
use crate::model::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerStep {
    /// Starts the change; its end time is already fixed.
    Start {
        event: EventId,
        finish: Time,
    },
    Finish {
        event: EventId,
    },
}

impl PowerStep {
    /// The event that shows the progress of the change.
    pub const fn event(self) -> EventId {
        match self {
            PowerStep::Start { event, .. } | PowerStep::Finish { event } => event,
        }
    }

    pub fn parse(payload: &str) -> Option<Self> {
        let mut words = payload.split(' ');
        let step = words.next()?;
        let event = EventId(words.next()?.parse().ok()?);
        let finish = words.next();
        match (step, finish, words.next()) {
            ("start", Some(finish), None) => Some(PowerStep::Start {
                event,
                finish: Time::from_micros(finish.parse().ok()?),
            }),
            ("finish", None, None) => Some(PowerStep::Finish { event }),
            _ => None,
        }
    }
}

impl std::fmt::Display for PowerStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PowerStep::Start { event, finish } => write!(f, "start {event} {}", finish.micros()),
            PowerStep::Finish { event } => write!(f, "finish {event}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_round_trip_and_other_text_is_refused() {
        let (event, finish) = (EventId(7), Time::from_micros(1_500_000));
        for step in [PowerStep::Start { event, finish }, PowerStep::Finish { event }] {
            assert_eq!(PowerStep::parse(&step.to_string()), Some(step));
        }
        for wrong in [
            "",
            "start",
            "start 7",
            "start 7 soon",
            "finish",
            "finish 7 8",
            "stop 7",
        ] {
            assert_eq!(PowerStep::parse(wrong), None, "{wrong}");
        }
    }
}
