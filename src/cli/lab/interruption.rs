//! Ctrl-C while a lab starts. The first process of a process namespace ignores signals without a handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, ensure};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Watches for the signal in another thread, because the start of a lab blocks.
    pub fn watch(&self) -> anyhow::Result<()> {
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let mut interrupts = {
            let _context = runtime.enter();
            signal(SignalKind::interrupt()).context("the handler of SIGINT")?
        };
        let flag = self.0.clone();
        thread::spawn(move || {
            while runtime.block_on(interrupts.recv()).is_some() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        Ok(())
    }

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.is_requested(), "interrupted");
        Ok(())
    }
}
