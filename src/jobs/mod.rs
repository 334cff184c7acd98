//! Background jobs (decision 0024): a runner on each node leases due jobs, runs them, and retries failed
//! jobs.
//!
//! Rules schedule jobs in their own transactions (`store/jobs.rs`). A job that changes only the store is removed in the
//! same transaction that makes its changes, so the changes are committed exactly once. A job that accesses files runs
//! at least once.

pub mod mails;
mod metrics;
mod runner;
mod scrub;
mod sweep;

pub use runner::{JobContext, Runner};
