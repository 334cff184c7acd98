//! Whose turn it is to write. Of one account, a node writes one thing at a time: the database would only make
//! the others wait, or undo them, and each of them would keep a connection from other accounts
//! (decision 0016, point 2).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::store::error::StoreError;
use crate::store::task::WriteJob;
use crate::store::write_lock::WriteLock;

/// A write, and the lock that it holds while it runs.
pub struct Turn {
    pub job: Box<dyn WriteJob>,
    pub lock: Option<WriteLock>,
}

pub struct Turns {
    /// Those that can be run now.
    queue: Sender<Turn>,
    /// For each lock that is held, the writes that wait for it.
    behind: Mutex<HashMap<WriteLock, VecDeque<Box<dyn WriteJob>>>>,
    waiting: AtomicUsize,
    most: usize,
}

impl Turns {
    pub fn new(most: usize) -> (Self, Receiver<Turn>) {
        let (queue, ready) = unbounded();
        let turns = Self {
            queue,
            behind: Mutex::default(),
            waiting: AtomicUsize::new(0),
            most,
        };
        (turns, ready)
    }

    /// Takes a write on, unless too many wait already.
    pub fn join(&self, job: Box<dyn WriteJob>, lock: Option<WriteLock>) -> Result<(), StoreError> {
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= self.most {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err(StoreError::Full);
        }
        if let Some(lock) = lock {
            let mut behind = self.behind();
            if let Some(others) = behind.get_mut(&lock) {
                others.push_back(job);
                return Ok(());
            }
            behind.insert(lock, VecDeque::new());
        }
        self.call(Turn { job, lock })
    }

    /// A write is about to be run, and waits no more.
    pub fn begin(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// It is over: the next write with its lock goes to the end of the queue, behind others.
    pub fn end(&self, lock: Option<WriteLock>) {
        let Some(lock) = lock else { return };
        let mut behind = self.behind();
        match behind.get_mut(&lock).and_then(VecDeque::pop_front) {
            None => drop(behind.remove(&lock)),
            Some(job) => {
                let lock = Some(lock);
                let _ = self.call(Turn { job, lock });
            }
        }
    }

    fn call(&self, turn: Turn) -> Result<(), StoreError> {
        self.queue.send(turn).map_err(|_| StoreError::Stopped)
    }

    fn behind(&self) -> MutexGuard<'_, HashMap<WriteLock, VecDeque<Box<dyn WriteJob>>>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
