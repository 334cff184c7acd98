//! Backup archives: a whole store and its attachments in one file, for either engine (`docs/backup-format.md`).
//!
//! The code is synchronous, like the tar and zstd libraries: it runs on a blocking thread and waits for the store and
//! the attachment storage. Options, messages and the choice of files are in `cli`.

mod attachments;
mod checksum;
pub mod create;
pub mod format;
mod load;
pub mod reader;
pub mod restore;
mod rows;
mod snapshot;
pub mod temporary;
pub mod verify;
mod writer;

/// Shows the progress of a backup or a restore.
pub trait Progress: Send + Sync {
    /// A step begins that has this number of units.
    fn begin(&self, step: &'static str, units: u64);
    /// Some units of the current step are complete.
    fn advance(&self, units: u64);
}
