//! What a transaction knows besides its data: the time, chance, and the provider's policy.
//!
//! Rules take all three from their transaction, so that a test can set the clock and the dice.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::model::policy::Policy;
use crate::model::time::Time;

pub struct World {
    pub clock: Clock,
    pub chance: Chance,
    pub policy: Policy,
}

pub enum Clock {
    System,
    /// Stands still until it is moved; for tests. Both in microseconds.
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

    #[expect(clippy::disallowed_methods, reason = "this is the clock that all else asks")]
    pub fn now(&self) -> Time {
        match self {
            Clock::System => Time::from_micros(jiff::Timestamp::now().as_microsecond()),
            Clock::Fixed { wall, .. } => Time::from_micros(wall.load(Ordering::SeqCst)),
        }
    }

    /// Time that only moves forward, for waits and limits: setting the system's clock changes neither. Only differences
    /// between two readings mean something.
    pub fn monotonic(&self) -> Duration {
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        match self {
            Clock::System => STARTED.elapsed(),
            Clock::Fixed { monotonic, .. } => Duration::from_micros(monotonic.load(Ordering::SeqCst)),
        }
    }

    /// Lets time pass on a fixed clock; the system's clock is not ours to move.
    pub fn advance(&self, seconds: i64) {
        if let Clock::Fixed { monotonic, .. } = self {
            let micros = u64::try_from(seconds).unwrap_or_default() * 1_000_000;
            monotonic.fetch_add(micros, Ordering::SeqCst);
            self.set_by(seconds);
        }
    }

    /// Sets a fixed clock forward or back, while no time passes.
    pub fn set_by(&self, seconds: i64) {
        if let Clock::Fixed { wall, .. } = self {
            wall.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }
}

pub enum Chance {
    System,
    /// Counts up; for tests.
    Counting(AtomicU64),
}

impl Chance {
    #[expect(clippy::disallowed_methods, reason = "this is the source that all else asks")]
    pub fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0xab; 32];
        match self {
            Chance::System => {
                getrandom::fill(&mut bytes).expect("the operating system has a random source");
            }
            Chance::Counting(next) => {
                let count = next.fetch_add(1, Ordering::SeqCst);
                bytes[24..].copy_from_slice(&count.to_be_bytes());
            }
        }
        bytes
    }
}
