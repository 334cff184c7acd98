//! The continuous archive of the embedded store (decision 0028, `docs/archive-format.md`).
//!
//! The store copies its write-ahead log into a local queue of segments. The archiver uploads them, makes snapshots and
//! deletes what is older than the retention. A restore replays segments on a snapshot.

pub mod archiver;
mod attachments;
pub mod catalog;
pub mod format;
mod init;
pub mod queue;
pub mod restore;
mod retention;
mod segment;
mod snapshot;
pub mod status;
pub mod target;
