//! The clock, the random source and the provider's policy, which transactions use.
//!
//! Rules get all three from their transaction, so that tests can set the clock and predict random bytes.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::current_policy::CurrentPolicy;
use super::virtual_clock::VirtualClock;
use crate::model::time::Time;

pub struct StoreContext {
    pub clock: Clock,
    pub random: RandomSource,
    pub policy: CurrentPolicy,
}

pub enum Clock {
    System,
    /// The clock of test control.
    Virtual(VirtualClock),
    /// A clock for tests. Only `advance` and `set_by` change it. Both times are in microseconds.
    Fixed {
        wall: AtomicI64,
        monotonic: AtomicU64,
    },
}

impl Clock {
    pub fn fixed(at: Time) -> Self {
        Clock::Fixed {
            wall: AtomicI64::new(at.micros()),
            monotonic: AtomicU64::new(0),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that all other code reads"
    )]
    pub fn now(&self) -> Time {
        match self {
            Clock::System => Time::from_micros(jiff::Timestamp::now().as_microsecond()),
            Clock::Virtual(clock) => clock.now(),
            Clock::Fixed { wall, .. } => Time::from_micros(wall.load(Ordering::SeqCst)),
        }
    }

    /// Monotonic time, for timeouts and rate limits. Setting the system's clock does not affect it. Only the difference
    /// between two readings is meaningful.
    pub fn monotonic(&self) -> Duration {
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        match self {
            Clock::System => STARTED.elapsed(),
            Clock::Virtual(clock) => clock.monotonic(),
            Clock::Fixed { monotonic, .. } => Duration::from_micros(monotonic.load(Ordering::SeqCst)),
        }
    }

    /// The clock of test control; `None` for any other clock.
    pub fn as_virtual(&self) -> Option<&VirtualClock> {
        match self {
            Clock::Virtual(clock) => Some(clock),
            _ => None,
        }
    }

    /// Advances a fixed clock. Has no effect on the system's clock.
    pub fn advance(&self, seconds: i64) {
        if let Clock::Fixed { monotonic, .. } = self {
            let micros = u64::try_from(seconds).unwrap_or_default() * 1_000_000;
            monotonic.fetch_add(micros, Ordering::SeqCst);
            self.set_by(seconds);
        }
    }

    /// Sets the wall time of a fixed clock forward or back by a number of seconds. Monotonic time does not change.
    pub fn set_by(&self, seconds: i64) {
        if let Clock::Fixed { wall, .. } = self {
            wall.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }
}

pub enum RandomSource {
    System,
    /// A counter, for tests.
    Counting(AtomicU64),
}

impl RandomSource {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the source that all other code reads"
    )]
    pub fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0xab; 32];
        match self {
            RandomSource::System => {
                getrandom::fill(&mut bytes).expect("the operating system has a random source");
            }
            RandomSource::Counting(next) => {
                let count = next.fetch_add(1, Ordering::SeqCst);
                bytes[24..].copy_from_slice(&count.to_be_bytes());
            }
        }
        bytes
    }
}
