//! The interface of a database engine.

use std::time::Duration;

use tokio::sync::watch;

use super::context::StoreContext;
use super::error::StoreError;
use super::task::{ReadJob, WriteJob};
use super::write_lock::WriteLock;

/// The extent of a check of the database's structure.
#[derive(Clone, Copy, Debug)]
pub enum CheckDepth {
    /// Checks only the tables.
    Quick,
    /// Checks the tables, and whether the indexes match the tables.
    Full,
}

/// A copy of a whole database.
pub trait DatabaseCopy: Send + Sync {
    fn read(&self, job: &mut dyn ReadJob, context: &StoreContext) -> Result<(), StoreError>;
    /// Replaces the content of the database with one durable commit.
    fn restore(&self) -> Result<(), StoreError>;
}

pub trait Engine: Send + Sync {
    /// Runs a read on the thread of the caller. Returns false if the engine does not support inline reads, or
    /// if the read takes too long.
    fn try_read_inline(&self, _: &mut dyn ReadJob) -> bool {
        false
    }
    fn read(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError>;
    /// Runs a read that checks whether the database responds. The read does not wait for other reads.
    fn probe(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError>;
    /// The time since the current flush started, if the engine is flushing.
    fn flushing(&self) -> Option<Duration> {
        None
    }
    /// Runs a write. Writes with the same lock run one at a time.
    fn write(&self, job: Box<dyn WriteJob>, lock: Option<WriteLock>) -> Result<(), StoreError>;
    /// Becomes true when a flush has failed and the store can no longer guarantee durability.
    fn failed(&self) -> watch::Receiver<bool>;
    /// Requests that the engine empty its write-ahead log after the next write. An engine without a log does
    /// nothing.
    fn close(&self);
    /// Reads the whole database and returns the errors in its structure. An engine without such a check returns none.
    fn check(&self, _: CheckDepth) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
    /// Copies the whole database. `None` if the engine cannot do this.
    fn copy(&self) -> Result<Option<Box<dyn DatabaseCopy>>, StoreError> {
        Ok(None)
    }
}
