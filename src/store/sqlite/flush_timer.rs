//! How long commits take to reach the disk, and how long the one that runs now has taken so far.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct FlushClock {
    started: Mutex<Option<Instant>>,
}

impl FlushClock {
    /// Times a flush. Work that has written nothing is not recorded.
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

    /// For how long the flush that runs now has been running.
    pub fn running_for(&self) -> Option<Duration> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.map(|started| started.elapsed())
    }

    fn set(&self, started: Option<Instant>) {
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = started;
    }
}
