//! Runs the program of the hook, with a time limit.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::HookSettings;

/// The part of standard error that may be reported.
const MAX_MESSAGE_BYTES: u64 = 4096;
const MAX_REASON_CHARS: usize = 300;
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(200);

/// Runs the program with a document on standard input. It succeeds with exit status 0.
pub async fn run(settings: &HookSettings, input: &[u8]) -> Result<(), String> {
    let mut command = Command::new(&settings.program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // The program and its children are ended together.
        .process_group(0)
        .kill_on_drop(true);
    let program = settings.program.display();
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    match timeout(settings.timeout, finish(&mut child, input)).await {
        Ok(result) => result,
        Err(_) => {
            if let Some(group) = group {
                // An error means that the program has just ended.
                let _ = kill_process_group(group, Signal::KILL);
            }
            Err(format!("no end after {} s", settings.timeout.as_secs()))
        }
    }
}

async fn finish(child: &mut Child, input: &[u8]) -> Result<(), String> {
    let (mut stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let write = async move {
        if let Some(stdin) = &mut stdin {
            // A program that does not read its input may succeed.
            let _ = stdin.write_all(input).await;
        }
        drop(stdin);
    };
    let read = tokio::spawn(async move {
        let mut message = Vec::new();
        if let Some(stderr) = stderr {
            let _ = stderr.take(MAX_MESSAGE_BYTES).read_to_end(&mut message).await;
        }
        message
    });
    let (_, status) = tokio::join!(write, child.wait());
    let status = status.map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    // A process that the program has left behind may keep standard error open.
    let message = timeout(MESSAGE_TIMEOUT, read).await;
    let message = message.ok().and_then(Result::ok).unwrap_or_default();
    let message = String::from_utf8_lossy(&message);
    match message.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => {
            let line: String = line.trim().chars().take(MAX_REASON_CHARS).collect();
            Err(format!("{status}: {line}"))
        }
        None => Err(status.to_string()),
    }
}
