//! The hosts of a lab as machines, whose power can fail.
//!
//! A host has its own mount namespace with its own `/run`, so that its network namespaces are those of another machine.
//! Without its processes, the kernel removes them.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::lab_folder::LabFolder;
use super::network;
use crate::agent::state_folder::{AGENT_LOCK, StateFolder};

/// Prepares `/run` and keeps the mount namespace. The folder `/run/host` shows that `/run` is ready.
const KEEP: &str = "mount -t tmpfs -o mode=755 run /run && mkdir /run/netns /run/host && exec sleep infinity";
const TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub struct Machine<'a> {
    folder: &'a LabFolder,
    name: String,
}

impl<'a> Machine<'a> {
    pub fn new(folder: &'a LabFolder, name: String) -> Self {
        Self { folder, name }
    }

    /// The folder of its agent.
    pub fn state(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join(&format!("{}.log", self.name))
    }

    /// The file with the ID of the process that keeps the mount namespace. The script `on` uses it.
    fn process_file(&self) -> PathBuf {
        self.folder.join("machines").join(&self.name)
    }

    /// The process that keeps the mount namespace, if the machine is running.
    fn keeper(&self) -> Option<Pid> {
        let number = fs::read_to_string(self.process_file()).ok()?;
        let process = Pid::from_raw(number.trim().parse().ok()?)?;
        is_ready(process).then_some(process)
    }

    pub fn is_running(&self) -> bool {
        self.keeper().is_some()
    }

    /// Whether its agent is running.
    pub fn has_agent(&self) -> anyhow::Result<bool> {
        let folder = StateFolder::open(&self.state())?;
        Ok(folder.try_lock(AGENT_LOCK)?.is_none())
    }

    /// Whether this process is in the network namespace of one of its instances.
    pub fn has_this_network(&self) -> bool {
        let Some(keeper) = self.keeper() else {
            return false;
        };
        let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
        let own = identity(Path::new("/proc/self/ns/net"));
        let names = fs::read_dir(format!("/proc/{}/root/run/netns", keeper.as_raw_nonzero()));
        let mut names = names.into_iter().flatten().flatten();
        own.is_some() && names.any(|name| identity(&name.path()) == own)
    }

    /// Starts the machine, without its agent.
    pub fn start(&self) -> anyhow::Result<Child> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-c", KEEP]);
        let log = OpenOptions::new().create(true).append(true).open(self.log())?;
        command.process_group(0).stdin(Stdio::null());
        // It must not hold the output of the command that starts the machine.
        command.stdout(log.try_clone()?).stderr(log);
        let process = network::inside(&self.name, || command.spawn())?;
        let keeper = Pid::from_child(&process);
        fs::create_dir_all(self.folder.join("machines"))?;
        fs::write(self.process_file(), keeper.as_raw_nonzero().to_string())?;
        let deadline = Instant::now() + TIMEOUT;
        while !is_ready(keeper) {
            ensure!(
                Instant::now() < deadline,
                "{} does not start: see {}",
                self.name,
                self.log().display()
            );
            sleep(POLL_INTERVAL);
        }
        Ok(process)
    }

    /// Starts the agent, which has joined the server.
    pub fn start_agent(&self, mut garth: Command, number: u8) -> anyhow::Result<Child> {
        let keeper = self.keeper().context("the host is not running")?;
        garth.args(["agent", "run", "--driver", "netns"]);
        garth
            .args(["--prefix", &format!("h{number}"), "--state"])
            .arg(self.state());
        let mut command = Command::new("nsenter");
        command.args([
            "--target",
            &keeper.as_raw_nonzero().to_string(),
            "--mount",
            "--net",
            "--",
        ]);
        command.arg(garth.get_program()).args(garth.get_args());
        for (name, value) in garth.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let log = OpenOptions::new().create(true).append(true).open(self.log())?;
        command.process_group(0).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        command.spawn().context("nsenter")
    }

    /// Ends all processes of the machine. The kernel then removes its networks.
    pub fn stop(&self) -> anyhow::Result<()> {
        let keeper = self.keeper();
        let namespace = keeper.and_then(mount_namespace);
        ensure!(namespace.is_some(), "{} is not running", self.name);
        for entry in fs::read_dir("/proc")?.flatten() {
            let number = entry.file_name().to_string_lossy().parse().ok();
            let Some(process) = number.and_then(Pid::from_raw) else {
                continue;
            };
            if mount_namespace(process) == namespace {
                // A process that has already ended needs no signal.
                let _ = kill_process(process, Signal::KILL);
            }
        }
        let deadline = Instant::now() + TIMEOUT;
        while self.keeper().is_some() {
            ensure!(Instant::now() < deadline, "{} does not stop", self.name);
            sleep(POLL_INTERVAL);
        }
        Ok(fs::remove_file(self.process_file())?)
    }
}

fn is_ready(keeper: Pid) -> bool {
    Path::new(&format!("/proc/{}/root/run/host", keeper.as_raw_nonzero())).exists()
}

fn mount_namespace(process: Pid) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{}/ns/mnt", process.as_raw_nonzero())).ok()
}
