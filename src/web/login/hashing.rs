//! The queue for password hashing, which uses much memory and a full core.
//!
//! Known devices have priority, then the addresses with the fewest failures, so that an attack mainly delays itself. When
//! the queue is full, the job with the lowest priority is rejected with 503. Every second permit goes to an unknown device
//! if one waits, so that known devices cannot starve the others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::web::login_throttle::Known;

/// The number of passwords that are hashed in parallel.
const MAX_RUNNING: usize = 2;
const MAX_WAITING: usize = 256;
/// The number of places in the queue per holder.
const MAX_WAITING_PER_HOLDER: usize = 4;

/// The origin of a job in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Known(Known),
    Address(IpAddr),
}

/// The place in the queue that a job requests.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub holder: Holder,
    /// Lower values go first; equal ones in the order of their arrival.
    pub rank: u32,
}

impl Place {
    pub fn known(known: Known) -> Self {
        Self {
            holder: Holder::Known(known),
            rank: 0,
        }
    }

    /// The place of an address with this number of failures.
    pub fn address(address: IpAddr, failures: u32) -> Self {
        Self {
            holder: Holder::Address(address),
            rank: failures.saturating_add(1),
        }
    }
}

#[derive(Clone, Default)]
pub struct HashingQueue(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    running: usize,
    waiting: BTreeMap<(u32, u64), Waiting>,
    next: u64,
    /// Whether the last job to start was that of a known device.
    known_before: bool,
}

impl State {
    fn pop(&mut self) -> Option<Waiting> {
        let first = *self.waiting.first_key_value()?.0;
        let other = || self.waiting.range((1, 0)..).next().map(|(key, _)| *key);
        let key = match first.0 == 0 && self.known_before {
            true => other().unwrap_or(first),
            false => first,
        };
        self.known_before = key.0 == 0;
        self.waiting.remove(&key)
    }
}

struct Waiting {
    holder: Holder,
    start: oneshot::Sender<Permit>,
}

impl HashingQueue {
    /// Waits until the job may run; `None` if there is no place in the queue, or no longer one.
    pub async fn permit(&self, place: Place) -> Option<Permit> {
        let (key, started) = match self.enter(place)? {
            Entered::Started(permit) => return Some(permit),
            Entered::Waiting(key, started) => (key, started),
        };
        let _leave = Leave { queue: self, key };
        started.await.ok()
    }

    fn enter(&self, place: Place) -> Option<Entered> {
        let mut refused = None;
        let mut state = self.lock();
        if state.running < MAX_RUNNING {
            state.running += 1;
            return Some(Entered::Started(Permit(self.clone())));
        }
        let own = state
            .waiting
            .values()
            .filter(|waiting| waiting.holder == place.holder);
        if own.count() >= MAX_WAITING_PER_HOLDER {
            return None;
        }
        if state.waiting.len() >= MAX_WAITING {
            let last = state.waiting.last_entry()?;
            if last.key().0 <= place.rank {
                return None;
            }
            refused = Some(last.remove());
        }
        state.next += 1;
        let key = (place.rank, state.next);
        let (start, started) = oneshot::channel();
        let holder = place.holder;
        state.waiting.insert(key, Waiting { holder, start });
        drop(state);
        // The refused job wakes up and leaves; it needs the lock for that.
        drop(refused);
        Some(Entered::Waiting(key, started))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entered {
    Started(Permit),
    Waiting((u32, u64), oneshot::Receiver<Permit>),
}

/// Gives up a place when its job has started, or its request has ended.
struct Leave<'a> {
    queue: &'a HashingQueue,
    key: (u32, u64),
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let left = self.queue.lock().waiting.remove(&self.key);
        drop(left);
    }
}

/// The right to hash one password. When it ends, the next job starts.
pub struct Permit(HashingQueue);

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.lock();
            let next = state.pop();
            if next.is_none() {
                state.running -= 1;
            }
            next
        };
        if let Some(next) = next {
            // If the request has ended, its permit comes back here and is dropped, which starts the next one.
            drop(next.start.send(Permit(self.0.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8, failures: u32) -> Place {
        Place::address(IpAddr::from([192, 0, 2, last]), failures)
    }

    fn waits(queue: &HashingQueue, place: Place) -> tokio::task::JoinHandle<Option<Permit>> {
        let queue = queue.clone();
        tokio::spawn(async move { queue.permit(place).await })
    }

    #[tokio::test]
    async fn known_devices_go_first_and_then_the_fewest_failures() {
        let queue = HashingQueue::default();
        let (first, second) = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let guesses = waits(&queue, from(2, 7));
        let fresh = waits(&queue, from(3, 0));
        let known = waits(&queue, Place::known(Known::Device([1; 16])));
        while queue.lock().waiting.len() < 3 {
            tokio::task::yield_now().await;
        }
        drop(first);
        let known = known.await.expect("it runs").expect("a permit");
        assert!(!fresh.is_finished() && !guesses.is_finished());
        drop(known);
        let fresh = fresh.await.expect("it runs").expect("a permit");
        drop((fresh, second));
        drop(guesses.await.expect("it runs").expect("a permit"));
        assert_eq!(queue.lock().running, 0);
    }

    #[tokio::test]
    async fn known_devices_do_not_keep_others_out() {
        let queue = HashingQueue::default();
        let (mut running, second) = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let fresh: Vec<_> = (2..5).map(|last| waits(&queue, from(last, 0))).collect();
        let known: Vec<_> = (2..40)
            .map(|id| waits(&queue, Place::known(Known::Device([id; 16]))))
            .collect();
        while queue.lock().waiting.len() < 41 {
            tokio::task::yield_now().await;
        }
        let mut fresh = fresh.into_iter();
        for known in known.into_iter().take(3) {
            drop(running.take());
            running = known.await.expect("it runs");
            drop(running.take());
            running = fresh.next().expect("three of them").await.expect("it runs");
        }
        assert!(running.is_some() && second.is_some());
    }

    #[tokio::test]
    async fn an_address_has_few_places_and_a_full_queue_refuses_the_last() {
        let queue = HashingQueue::default();
        let running = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let many: Vec<_> = (0..200).map(|_| waits(&queue, from(1, 3))).collect();
        while queue.lock().next < 4 || !many[199].is_finished() {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.lock().waiting.len(), MAX_WAITING_PER_HOLDER);
        let others: Vec<_> = (0..MAX_WAITING)
            .map(|n| waits(&queue, from((n / 4 + 2) as u8, 2)))
            .collect();
        while queue.lock().waiting.len() < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        let fresh = waits(&queue, from(250, 0));
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.lock().waiting.len(), MAX_WAITING);
        drop(running);
        let fresh = fresh.await.expect("it runs");
        assert!(fresh.is_some(), "it took the place of a guess");
        drop(fresh);
        for waiting in many.into_iter().chain(others) {
            drop(waiting.await.expect("it runs"));
        }
        assert_eq!(queue.lock().running, 0);
    }

    #[tokio::test]
    async fn a_request_that_ends_leaves_the_queue() {
        let queue = HashingQueue::default();
        let running = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let gone = waits(&queue, from(2, 0));
        while queue.lock().waiting.is_empty() {
            tokio::task::yield_now().await;
        }
        gone.abort();
        assert!(gone.await.is_err());
        assert!(queue.lock().waiting.is_empty());
        drop(running);
        assert_eq!(queue.lock().running, 0);
        assert!(queue.permit(from(2, 0)).await.is_some());
    }
}
