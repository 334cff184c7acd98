//! The signals that stop the server or a command. A separate thread receives those of the server, so that the process ends
//! in time even if all other threads are busy.

use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The process exits this long after a signal, even if the shutdown is not complete. As after a crash, all
/// acknowledged writes are durable.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(25);

/// Installs the signal handlers. The returned value becomes true when the process must stop.
pub fn listen() -> anyhow::Result<watch::Receiver<bool>> {
    let (signaled, stop) = watch::channel(false);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    drop(guard);
    let wait = move || {
        runtime.block_on(async {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
        });
        signaled.send_replace(true);
        std::thread::sleep(SHUTDOWN_TIMEOUT);
        tracing::error!("shutdown timed out");
        std::process::exit(1);
    };
    let spawned = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    spawned.context("cannot start the signal thread")?;
    Ok(stop)
}

/// The exit code of a process that a signal has ended is this plus the number of the signal, as in a shell.
const SIGNAL_CODE: i32 = 128;

/// The signals that interrupt a command which must clean up.
pub struct Interruption {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Interruption {
    /// From now on, the signals no longer end the process by themselves.
    pub fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal. Returns the exit code.
    pub async fn wait(&mut self) -> i32 {
        let kind = tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.hangup.recv() => SignalKind::hangup(),
        };
        SIGNAL_CODE + kind.as_raw_value()
    }
}
