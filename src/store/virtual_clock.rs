//! The clock of test control: it can be set, advanced and frozen (decision 0035).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::context::Clock;
use crate::model::time::Time;

/// A clock that runs like the system's clock until it is changed.
#[derive(Default)]
pub struct VirtualClock {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// The difference to the system's clock while this clock runs.
    offset: Reading,
    /// The reading at which the clock is frozen.
    frozen: Option<Reading>,
}

/// Wall time and monotonic time, in microseconds.
#[derive(Clone, Copy, Default)]
struct Reading {
    wall: i64,
    monotonic: i64,
}

impl Reading {
    fn of_system() -> Self {
        let monotonic = Clock::System.monotonic().as_micros();
        Self {
            wall: Clock::System.now().micros(),
            monotonic: i64::try_from(monotonic).unwrap_or(i64::MAX),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            wall: self.wall.saturating_add(other.wall),
            monotonic: self.monotonic.saturating_add(other.monotonic),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            wall: self.wall.saturating_sub(other.wall),
            monotonic: self.monotonic.saturating_sub(other.monotonic),
        }
    }
}

impl State {
    fn reading(&self) -> Reading {
        match self.frozen {
            Some(reading) => reading,
            None => Reading::of_system().plus(self.offset),
        }
    }

    fn set(&mut self, reading: Reading, is_frozen: bool) {
        self.frozen = is_frozen.then_some(reading);
        self.offset = reading.minus(Reading::of_system());
    }
}

impl VirtualClock {
    pub fn now(&self) -> Time {
        Time::from_micros(self.state().reading().wall)
    }

    pub fn monotonic(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.state().reading().monotonic).unwrap_or(0))
    }

    pub fn is_frozen(&self) -> bool {
        self.state().frozen.is_some()
    }

    /// Stops the clock at the current time, or lets it run again.
    pub fn freeze(&self, is_frozen: bool) {
        let mut state = self.state();
        let reading = state.reading();
        state.set(reading, is_frozen);
    }

    /// Sets the time. Monotonic time advances by the difference, and never goes back.
    pub fn set(&self, now: Time) {
        let mut state = self.state();
        let (mut reading, is_frozen) = (state.reading(), state.frozen.is_some());
        let forward = now.micros().saturating_sub(reading.wall).max(0);
        reading = Reading {
            wall: now.micros(),
            monotonic: reading.monotonic.saturating_add(forward),
        };
        state.set(reading, is_frozen);
    }

    /// Returns to the time of the system.
    pub fn reset(&self) {
        let mut state = self.state();
        let reading = Reading {
            wall: Reading::of_system().wall,
            ..state.reading()
        };
        state.set(reading, false);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_follows_advances_and_never_goes_back() {
        let clock = VirtualClock::default();
        clock.freeze(true);
        let (wall, monotonic) = (clock.now(), clock.monotonic());
        clock.set(wall.plus_seconds(90));
        assert_eq!(clock.now(), wall.plus_seconds(90));
        assert_eq!(clock.monotonic() - monotonic, Duration::from_secs(90));
        clock.set(wall);
        assert_eq!(clock.now(), wall);
        assert_eq!(clock.monotonic() - monotonic, Duration::from_secs(90));
        clock.reset();
        assert!(!clock.is_frozen() && clock.now() >= wall && clock.now() < wall.plus_seconds(60));
        assert!(clock.monotonic() - monotonic >= Duration::from_secs(90));
    }
}
