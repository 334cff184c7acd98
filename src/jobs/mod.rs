//! Background work (decision 0024): one runner on each node leases jobs that are due, runs them, and retries those that
//! failed.
//!
//! Rules schedule jobs in their own transactions (`store/jobs.rs`). A job that changes only the store runs in one
//! transaction with its own removal, so its changes are made exactly once. A job that touches files runs at least once.

mod metrics;
mod runner;
mod scrub;
mod sweep;

pub use runner::{Runner, Work};
