//! What the store needs of a database.

use std::time::Duration;

use tokio::sync::watch;

use super::error::StoreError;
use super::task::{ReadJob, WriteJob};
use super::write_lock::WriteLock;

/// What a database must do for the store.
pub trait Engine: Send + Sync {
    /// Runs work that looks on the thread that asks, if it is over in no time: true if it is.
    fn read_at_once(&self, _: &mut dyn ReadJob) -> bool {
        false
    }
    fn read(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError>;
    /// Runs work that shows whether the database answers, without waiting for other reads.
    fn probe(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError>;
    /// For how long the flush that runs now has been running, if the engine flushes and one runs.
    fn flushing(&self) -> Option<Duration> {
        None
    }
    /// Of the writes with the same lock, one runs at a time.
    fn write(&self, job: Box<dyn WriteJob>, lock: Option<WriteLock>) -> Result<(), StoreError>;
    /// Becomes true when the store can no longer promise that what it wrote is kept.
    fn failed(&self) -> watch::Receiver<bool>;
    /// Tidies up with the next write.
    fn close(&self);
    /// Reads all of the database and says what is wrong with its structure, if the engine is the one to do that. It
    /// takes as long as reading does.
    fn check(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
}
