//! Load shedding, based on the number of tasks that wait for a thread.
//!
//! The store's queues are bounded, but short reads bypass the queues: a short read runs as soon as a thread
//! has read the request. Under overload, short reads therefore wait for a thread, not in a queue.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Handle;

/// The number of waiting tasks above which the server is overloaded. Below it, the server handles every request, even
/// if the response is slow.
const MAX_WAITING_TASKS: usize = 4096;
/// An overloaded server refuses every fourth request. A refusal takes almost as long as a short read, so more
/// refusals would leave less time for other requests. If the server refused all requests, it could stay
/// overloaded: clients that retry immediately would hold the number of waiting tasks above the maximum.
const REFUSED_ONE_IN: u64 = 4;

/// Whether to refuse the current request because the server is overloaded.
pub fn sheds_request() -> bool {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    is_overloaded()
        && REQUESTS
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(REFUSED_ONE_IN)
}

fn is_overloaded() -> bool {
    Handle::current().metrics().global_queue_depth() > MAX_WAITING_TASKS
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_server_is_overloaded_while_thousands_of_tasks_wait_for_a_thread() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let (begin, begun) = mpsc::channel::<()>();
        let busy = runtime.spawn(async move { begun.recv().unwrap_err() });
        let waiting: Vec<_> = (0..MAX_WAITING_TASKS + 300)
            .map(|_| runtime.spawn(async {}))
            .collect();
        assert!(is_overloaded());
        let shed = (0..12).filter(|_| sheds_request()).count();
        assert_eq!(shed, 3, "three quarters of the requests are handled");
        drop(begin);
        runtime.block_on(async {
            busy.await.unwrap();
            for task in waiting {
                task.await.unwrap();
            }
        });
        assert!(!is_overloaded() && !sheds_request());
    }
}
