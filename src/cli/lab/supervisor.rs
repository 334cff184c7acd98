//! The process that starts a lab, outside of its namespaces, and ends it on a signal.
//!
//! `unshare` ignores SIGTERM, and the first process of a process namespace ignores signals without a handler. Therefore
//! this process holds a lock while the lab shall run. When the lock is released, also because this process was killed, the
//! first process of the lab ends the lab.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use super::lab_folder::LabFolder;
use crate::cli::output::Output;

/// The exit codes of commands that SIGINT and other signals end.
const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;

/// Runs the command that creates the namespaces, until the lab has ended.
pub async fn run(output: Output, creating: Command, folder: &LabFolder) -> anyhow::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut lock = Some(folder.lock()?);
    let mut lab = tokio::process::Command::from(creating)
        .spawn()
        .context("unshare")?;
    if let Some(process) = lab.id() {
        folder.set_process(process)?;
    }
    let mut ended_by = None;
    let status = loop {
        tokio::select! {
            status = lab.wait() => break status?,
            _ = terminate.recv() => ended_by = Some(TERMINATED),
            _ = hangup.recv() => ended_by = Some(TERMINATED),
            // Ctrl-C is for the command of the user as soon as it runs.
            _ = interrupt.recv() => if !folder.has_started() { ended_by = Some(INTERRUPTED) },
        }
        if ended_by.is_some() {
            drop(lock.take());
        }
    };
    let Some(code) = ended_by else {
        return Ok(exit_code(status));
    };
    // A signal can end the lab before it removes its folder.
    folder.remove()?;
    output.hint("interrupted: the lab has ended")?;
    Ok(ExitCode::from(code))
}

/// The exit code of a command, as a shell reports it.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
