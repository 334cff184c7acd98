//! What a transaction knows besides its data: the time, chance, and the provider's policy.
//!
//! Rules take all three from their transaction, so that a test can set the clock and the dice.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::model::policy::Policy;
use crate::model::time::Time;

pub struct World {
    pub clock: Clock,
    pub chance: Chance,
    pub policy: Policy,
}

pub enum Clock {
    System,
    /// Stands still until it is set; for tests.
    Fixed(AtomicI64),
}

impl Clock {
    pub fn fixed(at: Time) -> Self {
        Clock::Fixed(AtomicI64::new(at.micros()))
    }

    pub fn now(&self) -> Time {
        match self {
            Clock::System => Time::from_micros(jiff::Timestamp::now().as_microsecond()),
            Clock::Fixed(at) => Time::from_micros(at.load(Ordering::SeqCst)),
        }
    }

    /// Moves a fixed clock; the system's clock is nobody's to move.
    pub fn advance(&self, seconds: i64) {
        if let Clock::Fixed(at) = self {
            at.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }
}

pub enum Chance {
    System,
    /// Counts up; for tests.
    Counting(AtomicU64),
}

impl Chance {
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
