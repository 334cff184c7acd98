//! The signals that stop the server. They are received on a thread of their own: however busy the server's threads are,
//! the process ends in time.

use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How long after a signal the process has ended in any case. Nothing that was acknowledged is lost by that: it is like
/// a crash.
const LONGEST_STOP: Duration = Duration::from_secs(25);

/// Becomes true when the process is to stop. From then on it has 25 seconds.
pub fn listen() -> anyhow::Result<watch::Receiver<bool>> {
    let (signaled, stop) = watch::channel(false);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let inside = runtime.enter();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    drop(inside);
    let wait = move || {
        runtime.block_on(async {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
        });
        signaled.send_replace(true);
        std::thread::sleep(LONGEST_STOP);
        tracing::error!("stopping took too long; exiting");
        std::process::exit(1);
    };
    let spawned = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    spawned.context("starting the thread for signals")?;
    Ok(stop)
}
