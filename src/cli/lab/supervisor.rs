//! The process that starts a lab, outside of its namespaces, and ends it on a signal.
//!
//! `unshare` ignores SIGTERM. Therefore this process holds a lock while the lab shall run. When the lock is released, also
//! because this process was killed, the first process of the lab ends the lab.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use super::lab_folder::LabFolder;

/// Runs the command that creates the namespaces, until the lab has ended.
pub async fn run(creating: Command, folder: &LabFolder) -> anyhow::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // Ctrl-C reaches the processes of the lab, too. This process waits for them.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut lock = Some(folder.lock()?);
    let mut lab = tokio::process::Command::from(creating)
        .spawn()
        .context("unshare")?;
    if let Some(process) = lab.id() {
        folder.set_process(process)?;
    }
    loop {
        tokio::select! {
            status = lab.wait() => return Ok(exit_code(status?)),
            _ = terminate.recv() => drop(lock.take()),
            _ = hangup.recv() => drop(lock.take()),
            _ = interrupt.recv() => {}
        }
    }
}

/// The exit code of a command, as a shell reports it.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
