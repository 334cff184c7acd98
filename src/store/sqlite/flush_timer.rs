//! Measures how long commits take to reach the disk.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct FlushTimer {
    started: Mutex<Option<Instant>>,
}

impl FlushTimer {
    /// Runs a flush and measures its duration. `flush` returns whether it has written pages. If it has not,
    /// the duration is not recorded.
    pub fn time<E>(&self, flush: impl FnOnce() -> Result<bool, E>) -> Result<(), E> {
        let started = Instant::now();
        self.set(Some(started));
        let flushed = flush();
        self.set(None);
        if flushed? {
            metrics::histogram!("garth_store_flush_seconds").record(started.elapsed());
        }
        Ok(())
    }

    /// The time since the current flush started, if there is one.
    pub fn running_for(&self) -> Option<Duration> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.map(|started| started.elapsed())
    }

    fn set(&self, started: Option<Instant>) {
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = started;
    }
}
