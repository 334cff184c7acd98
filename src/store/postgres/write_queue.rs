//! The queue of writes. A node runs at most one write to an account at a time. PostgreSQL would block or
//! abort concurrent writes to an account, and each of them would occupy a connection that other accounts
//! could use (decision 0016, point 2).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::store::error::StoreError;
use crate::store::task::WriteJob;
use crate::store::write_lock::WriteLock;

/// A write, and the lock that it holds while it runs.
pub struct QueuedWrite {
    pub job: Box<dyn WriteJob>,
    pub lock: Option<WriteLock>,
}

pub struct WriteQueue {
    /// The writes that can run now.
    ready: Sender<QueuedWrite>,
    /// For each lock that is held, the writes that wait for it.
    blocked: Mutex<HashMap<WriteLock, VecDeque<Box<dyn WriteJob>>>>,
    /// The number of writes that have not started. They are ready or blocked.
    queued: AtomicUsize,
    max_queued: usize,
}

impl WriteQueue {
    pub fn new(max_queued: usize) -> (Self, Receiver<QueuedWrite>) {
        let (ready, receiver) = unbounded();
        let queue = Self {
            ready,
            blocked: Mutex::default(),
            queued: AtomicUsize::new(0),
            max_queued,
        };
        (queue, receiver)
    }

    /// Adds a write, unless the queue is full.
    pub fn push(&self, job: Box<dyn WriteJob>, lock: Option<WriteLock>) -> Result<(), StoreError> {
        if self.queued.fetch_add(1, Ordering::SeqCst) >= self.max_queued {
            self.queued.fetch_sub(1, Ordering::SeqCst);
            return Err(StoreError::Full);
        }
        if let Some(lock) = lock {
            let mut blocked = self.blocked();
            if let Some(waiting) = blocked.get_mut(&lock) {
                waiting.push_back(job);
                return Ok(());
            }
            blocked.insert(lock, VecDeque::new());
        }
        self.make_ready(QueuedWrite { job, lock })
    }

    /// Records that a write starts and is no longer queued.
    pub fn start(&self) {
        self.queued.fetch_sub(1, Ordering::SeqCst);
    }

    /// Releases the lock of a write that has ended. The next write that waits for this lock becomes ready, behind all
    /// other ready writes.
    pub fn release(&self, lock: Option<WriteLock>) {
        let Some(lock) = lock else { return };
        let mut blocked = self.blocked();
        match blocked.get_mut(&lock).and_then(VecDeque::pop_front) {
            None => drop(blocked.remove(&lock)),
            Some(job) => {
                let lock = Some(lock);
                let _ = self.make_ready(QueuedWrite { job, lock });
            }
        }
    }

    fn make_ready(&self, write: QueuedWrite) -> Result<(), StoreError> {
        self.ready.send(write).map_err(|_| StoreError::Stopped)
    }

    fn blocked(&self) -> MutexGuard<'_, HashMap<WriteLock, VecDeque<Box<dyn WriteJob>>>> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
