//! Random faults. The seed, the operation and the number of the request determine the fault, so the same requests with
//! the same seed get the same faults.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;

use super::faults::{Effect, Fault};
use super::random_fraction::random_fraction;

/// How many requests get a fault, and how long delays are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChaosLevel {
    Light,
    Heavy,
}

impl ChaosLevel {
    const fn word(self) -> &'static str {
        match self {
            ChaosLevel::Light => "light",
            ChaosLevel::Heavy => "heavy",
        }
    }

    /// The probability of each effect. There are four of them.
    const fn effect_probability(self) -> f64 {
        match self {
            ChaosLevel::Light => 0.01,
            ChaosLevel::Heavy => 0.05,
        }
    }

    const fn delay_probability(self) -> f64 {
        match self {
            ChaosLevel::Light => 0.1,
            ChaosLevel::Heavy => 0.3,
        }
    }

    const fn max_delay(self) -> Duration {
        match self {
            ChaosLevel::Light => Duration::from_millis(200),
            ChaosLevel::Heavy => Duration::from_millis(1000),
        }
    }
}

/// A source of faults.
#[derive(Debug)]
pub struct Chaos {
    level: ChaosLevel,
    seed: u64,
    max_delay: Duration,
    /// The number of requests so far, by operation.
    requests: Mutex<HashMap<&'static str, u64>>,
}

impl Chaos {
    pub fn new(level: ChaosLevel, seed: u64) -> Self {
        Self {
            level,
            seed,
            max_delay: level.max_delay(),
            requests: Mutex::default(),
        }
    }

    /// Shortens all delays, so that the tests of chaos are fast.
    pub fn with_max_delay(self, max_delay: Duration) -> Self {
        Self { max_delay, ..self }
    }

    /// Parses `light` or `heavy`, which get a random seed, or a seed: `light-7`, `heavy-7`, or `7` for `light-7`.
    pub fn parse(raw: &str, random_seed: u64) -> Option<Self> {
        let (level, seed) = match raw.split_once('-') {
            Some((level, seed)) => (level, seed.parse().ok()?),
            None => match raw.parse() {
                Ok(seed) => ("light", seed),
                Err(_) => (raw, random_seed),
            },
        };
        let levels = [ChaosLevel::Light, ChaosLevel::Heavy];
        let level = levels.into_iter().find(|known| known.word() == level)?;
        Some(Self::new(level, seed))
    }

    /// The fault of the next request to an operation.
    pub fn choose(&self, operation: &'static str) -> Fault {
        let number = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            let number = requests.entry(operation).or_default();
            *number += 1;
            *number
        };
        let draw = |purpose: &str| random_fraction(self.seed, &format!("{purpose} {operation}"), number);
        let delay = match draw("delay") < self.level.delay_probability() {
            true => self.max_delay.mul_f64(draw("length")),
            false => Duration::ZERO,
        };
        let effects = [
            Effect::Status(StatusCode::TOO_MANY_REQUESTS),
            Effect::Status(StatusCode::SERVICE_UNAVAILABLE),
            Effect::DropBefore,
            Effect::DropAfter,
        ];
        let chosen = (draw("effect") / self.level.effect_probability()) as usize;
        Fault {
            delay,
            rule: None,
            effect: effects.get(chosen).copied(),
        }
    }

    /// The delay before the next part of an event stream.
    pub fn event_delay(&self, part: u64) -> Duration {
        self.max_delay.mul_f64(random_fraction(self.seed, "event", part))
    }

    /// Starts the sequence of faults again.
    pub fn restart(&self) {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// The value that `--chaos` accepts to repeat the faults.
impl fmt::Display for Chaos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.level.word(), self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_seed_repeats_the_faults_and_another_seed_does_not() {
        let faults = |raw: &str| -> Vec<Fault> {
            let chaos = Chaos::parse(raw, 5).expect(raw);
            (0..1000).map(|_| chaos.choose("getVpcs")).collect()
        };
        let printed = Chaos::parse("heavy", 5).unwrap().to_string();
        assert_eq!(printed, "heavy-5");
        assert_eq!(faults(&printed), faults("heavy"));
        assert_ne!(faults("heavy-6"), faults("heavy"));
        assert_eq!(faults("7"), faults("light-7"));
        for invalid in ["", "medium", "light-", "light-x", "-1", "heavy-5-5"] {
            assert!(Chaos::parse(invalid, 5).is_none(), "{invalid}");
        }
    }

    #[test]
    fn every_effect_occurs_about_as_often_as_its_probability() {
        for (level, expected) in [(ChaosLevel::Light, 100), (ChaosLevel::Heavy, 500)] {
            let chaos = Chaos::new(level, 1);
            let faults: Vec<_> = (0..10_000).map(|_| chaos.choose("getVpcs").effect).collect();
            for effect in [
                Effect::Status(StatusCode::TOO_MANY_REQUESTS),
                Effect::Status(StatusCode::SERVICE_UNAVAILABLE),
                Effect::DropBefore,
                Effect::DropAfter,
            ] {
                let count = faults.iter().filter(|found| **found == Some(effect)).count();
                assert!(
                    (expected / 2..expected * 2).contains(&count),
                    "{effect:?}: {count}"
                );
            }
        }
    }
}
