//! The end of a lab by the process that has started it, which receives the signals (`supervisor`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::ensure;
use rustix::fs::{FlockOperation, flock};

use super::lab_folder::LabFolder;

/// Whether the lab must end.
#[derive(Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Watches in another thread, because the start of a lab blocks.
    pub fn watch(&self, folder: &LabFolder) -> anyhow::Result<()> {
        let (flag, lock) = (self.0.clone(), folder.open_lock()?);
        thread::spawn(move || {
            // The other process holds the lock while the lab shall run.
            while flock(&lock, FlockOperation::LockExclusive) == Err(rustix::io::Errno::INTR) {}
            flag.store(true, Ordering::Relaxed);
        });
        Ok(())
    }

    pub fn has_happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.has_happened(), "interrupted");
        Ok(())
    }
}
