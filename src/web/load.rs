//! Overload detection by the number of tasks that wait for a thread.
//!
//! The store's queues are bounded, but short reads bypass them: they run as soon as a thread has read the
//! request. Under overload, connections wait for a thread instead.

use tokio::runtime::Handle;

/// The maximum number of tasks that wait for a thread. Below it every request is answered, however late.
const MOST: usize = 4096;

pub fn is_too_much() -> bool {
    Handle::current().metrics().global_queue_depth() > MOST
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn it_is_too_much_while_thousands_of_tasks_wait_for_a_thread_and_no_longer() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let (begin, begun) = mpsc::channel::<()>();
        let busy = runtime.spawn(async move { begun.recv().unwrap_err() });
        let waiting: Vec<_> = (0..MOST + 300).map(|_| runtime.spawn(async {})).collect();
        assert!(is_too_much());
        drop(begin);
        runtime.block_on(async {
            busy.await.unwrap();
            for task in waiting {
                task.await.unwrap();
            }
        });
        assert!(!is_too_much());
    }
}
