//! The queue for password hashing. Hashing a password uses much memory and a full core.
//!
//! Known clients have priority over unknown clients. Among unknown clients, addresses with few failures have
//! priority, so that an attacker mainly delays itself. When the queue is full, the request with the lowest
//! priority is rejected with 503. While unknown clients wait, they get every second permit, so that known
//! clients cannot starve them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::web::login_throttle::KnownClient;

/// The maximum number of passwords that are hashed in parallel.
const MAX_PERMITS: usize = 2;
const MAX_WAITING: usize = 256;
const MAX_WAITING_PER_CLIENT: usize = 4;

/// The client that requests a permit. The number of its waiting requests is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    Known(KnownClient),
    Address(IpAddr),
}

/// A request to hash one password.
#[derive(Clone, Copy, Debug)]
pub struct PermitRequest {
    pub client: Client,
    /// Lower ranks go first. Requests with equal ranks go in the order of their arrival. Known clients have rank 0.
    pub rank: u32,
}

impl PermitRequest {
    pub fn from_known(client: KnownClient) -> Self {
        Self {
            client: Client::Known(client),
            rank: 0,
        }
    }

    /// A request from an address with this number of failures.
    pub fn from_address(address: IpAddr, failures: u32) -> Self {
        Self {
            client: Client::Address(address),
            rank: failures.saturating_add(1),
        }
    }
}

#[derive(Clone, Default)]
pub struct HashingQueue(Arc<Mutex<State>>);

/// The rank of a waiting request, and a number that increases with each arrival.
type QueueKey = (u32, u64);

#[derive(Default)]
struct State {
    permits_in_use: usize,
    waiting: BTreeMap<QueueKey, Waiting>,
    last_arrival: u64,
    /// Whether a known client received the last permit that went to a waiting request.
    known_was_last: bool,
}

impl State {
    /// Removes and returns the request that gets the next permit.
    fn pop(&mut self) -> Option<Waiting> {
        let first = *self.waiting.first_key_value()?.0;
        let first_unknown = || self.waiting.range((1, 0)..).next().map(|(key, _)| *key);
        let key = match first.0 == 0 && self.known_was_last {
            true => first_unknown().unwrap_or(first),
            false => first,
        };
        self.known_was_last = key.0 == 0;
        self.waiting.remove(&key)
    }
}

struct Waiting {
    client: Client,
    permit: oneshot::Sender<Permit>,
}

impl HashingQueue {
    /// Waits for a permit. Returns `None` if the queue is full, or if a request with a higher priority replaces this
    /// request.
    pub async fn permit(&self, request: PermitRequest) -> Option<Permit> {
        let (key, permit) = match self.admit(request)? {
            Admission::Immediate(permit) => return Some(permit),
            Admission::Queued(key, permit) => (key, permit),
        };
        let _dequeue = DequeueOnDrop { queue: self, key };
        permit.await.ok()
    }

    fn admit(&self, request: PermitRequest) -> Option<Admission> {
        let mut replaced = None;
        let mut state = self.lock();
        if state.permits_in_use < MAX_PERMITS {
            state.permits_in_use += 1;
            return Some(Admission::Immediate(Permit(self.clone())));
        }
        let of_client = state
            .waiting
            .values()
            .filter(|waiting| waiting.client == request.client);
        if of_client.count() >= MAX_WAITING_PER_CLIENT {
            return None;
        }
        if state.waiting.len() >= MAX_WAITING {
            let last = state.waiting.last_entry()?;
            if last.key().0 <= request.rank {
                return None;
            }
            replaced = Some(last.remove());
        }
        state.last_arrival += 1;
        let key = (request.rank, state.last_arrival);
        let (sender, receiver) = oneshot::channel();
        let waiting = Waiting {
            client: request.client,
            permit: sender,
        };
        state.waiting.insert(key, waiting);
        drop(state);
        // Dropping the sender wakes the replaced request, which locks the state. So unlock the state first.
        drop(replaced);
        Some(Admission::Queued(key, receiver))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Admission {
    Immediate(Permit),
    Queued(QueueKey, oneshot::Receiver<Permit>),
}

/// Removes a request from the queue if its client disconnects. In all other cases, the request has already left the
/// queue.
struct DequeueOnDrop<'a> {
    queue: &'a HashingQueue,
    key: QueueKey,
}

impl Drop for DequeueOnDrop<'_> {
    fn drop(&mut self) {
        let removed = self.queue.lock().waiting.remove(&self.key);
        drop(removed);
    }
}

/// The right to hash one password. When it is dropped, the next request gets a permit.
pub struct Permit(HashingQueue);

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.lock();
            let next = state.pop();
            if next.is_none() {
                state.permits_in_use -= 1;
            }
            next
        };
        if let Some(next) = next {
            // If the client of that request has disconnected, `send` returns the permit. Dropping the permit then
            // passes it on to the next request.
            drop(next.permit.send(Permit(self.0.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8, failures: u32) -> PermitRequest {
        PermitRequest::from_address(IpAddr::from([192, 0, 2, last]), failures)
    }

    fn request_permit(
        queue: &HashingQueue,
        request: PermitRequest,
    ) -> tokio::task::JoinHandle<Option<Permit>> {
        let queue = queue.clone();
        tokio::spawn(async move { queue.permit(request).await })
    }

    #[tokio::test]
    async fn known_clients_go_first_and_then_the_fewest_failures() {
        let queue = HashingQueue::default();
        let (first, second) = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let failing = request_permit(&queue, from(2, 7));
        let unknown = request_permit(&queue, from(3, 0));
        let known = request_permit(&queue, PermitRequest::from_known(KnownClient::Device([1; 16])));
        while queue.lock().waiting.len() < 3 {
            tokio::task::yield_now().await;
        }
        drop(first);
        let known = known.await.expect("the task does not panic").expect("a permit");
        assert!(!unknown.is_finished() && !failing.is_finished());
        drop(known);
        let unknown = unknown.await.expect("the task does not panic").expect("a permit");
        drop((unknown, second));
        drop(failing.await.expect("the task does not panic").expect("a permit"));
        assert_eq!(queue.lock().permits_in_use, 0);
    }

    #[tokio::test]
    async fn known_clients_do_not_starve_others() {
        let queue = HashingQueue::default();
        let (mut running, second) = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let unknown: Vec<_> = (2..5).map(|last| request_permit(&queue, from(last, 0))).collect();
        let known: Vec<_> = (2..40)
            .map(|id| request_permit(&queue, PermitRequest::from_known(KnownClient::Device([id; 16]))))
            .collect();
        while queue.lock().waiting.len() < 41 {
            tokio::task::yield_now().await;
        }
        let mut unknown = unknown.into_iter();
        for known in known.into_iter().take(3) {
            drop(running.take());
            running = known.await.expect("the task does not panic");
            drop(running.take());
            running = unknown
                .next()
                .expect("one of three unknown clients")
                .await
                .expect("the task does not panic");
        }
        assert!(running.is_some() && second.is_some());
    }

    #[tokio::test]
    async fn a_client_has_few_waiting_requests_and_a_full_queue_drops_the_lowest_priority() {
        let queue = HashingQueue::default();
        let running = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let many: Vec<_> = (0..200).map(|_| request_permit(&queue, from(1, 3))).collect();
        while queue.lock().last_arrival < 4 || !many[199].is_finished() {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.lock().waiting.len(), MAX_WAITING_PER_CLIENT);
        let others: Vec<_> = (0..MAX_WAITING)
            .map(|n| request_permit(&queue, from((n / 4 + 2) as u8, 2)))
            .collect();
        while queue.lock().waiting.len() < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        let unknown = request_permit(&queue, from(250, 0));
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.lock().waiting.len(), MAX_WAITING);
        drop(running);
        let unknown = unknown.await.expect("the task does not panic");
        assert!(
            unknown.is_some(),
            "the request replaces a request with a lower priority"
        );
        drop(unknown);
        for waiting in many.into_iter().chain(others) {
            drop(waiting.await.expect("the task does not panic"));
        }
        assert_eq!(queue.lock().permits_in_use, 0);
    }

    #[tokio::test]
    async fn an_aborted_request_leaves_the_queue() {
        let queue = HashingQueue::default();
        let running = (queue.permit(from(1, 0)).await, queue.permit(from(1, 0)).await);
        let aborted = request_permit(&queue, from(2, 0));
        while queue.lock().waiting.is_empty() {
            tokio::task::yield_now().await;
        }
        aborted.abort();
        assert!(aborted.await.is_err());
        assert!(queue.lock().waiting.is_empty());
        drop(running);
        assert_eq!(queue.lock().permits_in_use, 0);
        assert!(queue.permit(from(2, 0)).await.is_some());
    }
}
