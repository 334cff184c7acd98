//! The namespaces of a lab: creates, enters and ends them.

use std::fs;
use std::io;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::programs::search_path;

/// The namespaces of a lab. Its processes end when `unshare` ends, and its networks with them.
const NAMESPACES: [&str; 6] = [
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
];
/// A user namespace, in which the calling user has the rights of root.
const USER_NAMESPACE: [&str; 2] = ["--user", "--map-root-user"];
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The command that runs its arguments in new namespaces.
pub fn create() -> anyhow::Result<Command> {
    let unshare = |options: &[&str]| {
        let mut command = Command::new("unshare");
        command.env("PATH", search_path()).args(options).args(NAMESPACES);
        command
    };
    let tried = unshare(&USER_NAMESPACE).arg("true").output().context("unshare")?;
    if tried.status.success() {
        return Ok(unshare(&USER_NAMESPACE));
    }
    if geteuid().is_root() {
        let tried = unshare(&[]).arg("true").output().context("unshare")?;
        if tried.status.success() {
            return Ok(unshare(&[]));
        }
    }
    let reason = String::from_utf8_lossy(&tried.stderr);
    bail!(
        "this system does not allow the namespaces of a lab: {}. Run the command as root, or allow user namespaces \
         (kernel.unprivileged_userns_clone=1 on Debian, kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)",
        reason.trim()
    )
}

/// The command that runs its arguments in the namespaces of a running lab.
pub fn enter(unshare: Pid) -> anyhow::Result<Command> {
    let first = first_process(unshare).context("the lab has no process")?;
    let mut command = Command::new("nsenter");
    command.env("PATH", search_path());
    command.args(["--target", &first.as_raw_nonzero().to_string()]);
    let user_namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/user"));
    if user_namespace(&first.as_raw_nonzero().to_string())? != user_namespace("self")? {
        command.args(["--user", "--preserve-credentials"]);
    }
    command.args(["--mount", "--pid", "--net", "--"]);
    Ok(command)
}

/// Ends all processes of a lab, and waits until they have ended.
pub fn end(unshare: Pid) -> anyhow::Result<()> {
    let first = first_process(unshare);
    // `unshare` ignores other signals. The kernel ends its child, and with it all processes of the namespace.
    match kill_process(unshare, Signal::KILL) {
        Err(error) if error != rustix::io::Errno::SRCH => {
            return Err(error).context("the lab cannot be ended");
        }
        _ => {}
    }
    let deadline = Instant::now() + END_TIMEOUT;
    while first.is_some_and(is_alive) {
        ensure!(
            Instant::now() < deadline,
            "the lab has not ended within {END_TIMEOUT:?}"
        );
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The child of `unshare`, which is the first process in the namespaces.
fn first_process(unshare: Pid) -> Option<Pid> {
    let number = unshare.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

/// Whether a process exists and has not ended.
fn is_alive(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    is_alive_in(&stat)
}

fn is_alive_in(stat: &io::Result<String>) -> bool {
    let state = |stat: &String| stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    stat.as_ref().is_ok_and(|stat| state(stat).flatten() != Some('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_waits_for_its_parent_has_ended() {
        let stat = |state: &str| Ok(format!("7 (a) b) {state} 1 7 7 0"));
        assert!(is_alive_in(&stat("S")));
        assert!(!is_alive_in(&stat("Z")));
        assert!(!is_alive_in(&Err(io::ErrorKind::NotFound.into())));
    }
}
