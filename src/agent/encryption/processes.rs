//! The processes of tunnels in user space. They continue when the agent ends, so that packets flow while it restarts.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use super::files;
use crate::agent::state_folder::StateFolder;

/// The lock of a tunnel's process; `None` if a process has it.
pub fn try_lock(folder: &StateFolder, generation: u32) -> io::Result<Option<File>> {
    folder.try_lock(&files::lock_name(generation))
}

pub fn is_running(folder: &StateFolder, generation: u32) -> bool {
    let has_file = folder.path().join(files::lock_name(generation)).exists();
    has_file && matches!(try_lock(folder, generation), Ok(None))
}

/// Starts the process of a tunnel, unless it runs. Returns whether it was started.
pub fn start(folder: &StateFolder, generation: u32) -> io::Result<bool> {
    if is_running(folder, generation) {
        return Ok(false);
    }
    // The program of this process, even if an upgrade has replaced its file.
    let mut child = Command::new("/proc/self/exe")
        .args([
            "agent",
            "tunnel",
            "--generation",
            &generation.to_string(),
            "--state",
        ])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()?;
    tracing::info!(generation, "tunnel started");
    thread::Builder::new()
        .name("tunnel".to_owned())
        .spawn(move || match child.wait() {
            // Its configuration was removed, at the end of a rotation.
            Ok(status) if status.success() => tracing::debug!(generation, "tunnel ended"),
            Ok(status) => tracing::warn!(generation, status = %status, "tunnel ended"),
            Err(error) => tracing::warn!(generation, error = %error, "tunnel ended"),
        })?;
    Ok(true)
}
