//! Ctrl-C while a lab starts, and SIGTERM to the process that has started it. The first process of a process namespace
//! ignores signals without a handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anyhow::{Context, ensure};
use rustix::fs::{FlockOperation, flock};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::lab_folder::LabFolder;

/// The exit codes of commands that SIGINT and SIGTERM end.
const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;

/// The exit code of the lab; 0 before an interruption.
#[derive(Clone, Default)]
pub struct Interruption(Arc<AtomicU8>);

impl Interruption {
    /// Watches in other threads, because the start of a lab blocks.
    pub fn watch(&self, folder: &LabFolder) -> anyhow::Result<()> {
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let mut interrupts = {
            let _context = runtime.enter();
            signal(SignalKind::interrupt()).context("the handler of SIGINT")?
        };
        let flag = self.0.clone();
        thread::spawn(move || {
            while runtime.block_on(interrupts.recv()).is_some() {
                // SIGTERM stays SIGTERM.
                let _ = flag.compare_exchange(0, INTERRUPTED, Ordering::Relaxed, Ordering::Relaxed);
            }
        });
        let (flag, lock) = (self.0.clone(), folder.open_lock()?);
        thread::spawn(move || {
            // The other process holds the lock while the lab shall run.
            while flock(&lock, FlockOperation::LockExclusive) == Err(rustix::io::Errno::INTR) {}
            flag.store(TERMINATED, Ordering::Relaxed);
        });
        Ok(())
    }

    pub fn exit_code(&self) -> Option<u8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|code| *code != 0)
    }

    /// Whether the lab must end, also while its shell runs. Ctrl-C in the shell does not end the lab.
    pub fn is_terminated(&self) -> bool {
        self.exit_code() == Some(TERMINATED)
    }

    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(self.exit_code().is_none(), "interrupted");
        Ok(())
    }
}
