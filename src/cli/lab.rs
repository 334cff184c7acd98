//! `garth lab …`: hosts, a server and a tenant with instances on one machine.
//!
//! The lab has its own user, network, mount and process namespaces. So it needs no root, does not change the network of
//! the machine, and ends with all of its processes and networks when its first process ends.

mod interruption;
mod isolation;
mod lab_folder;
mod machine;
mod network;
mod programs;
mod session;
mod supervisor;
mod tenant;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::arguments::integer;
use super::output::Output;
use lab_folder::LabFolder;
use network::MAX_HOSTS;
use session::Session;

const DEFAULT_HOSTS: u8 = 3;

#[derive(Subcommand)]
pub enum Command {
    /// Start a lab, and open a shell in one of its instances
    ///
    /// Creates network namespaces as hosts, with an agent each, a server, and a tenant with a VPC, two subnets and
    /// instances. Needs no root, and does not change the network of this machine. The lab ends with the shell. If the lab
    /// is already running, opens another shell in it.
    Up {
        /// Number of hosts [default: 3]
        #[arg(long, value_parser = integer(1..=MAX_HOSTS))]
        hosts: Option<u8>,
        #[command(flatten)]
        location: Location,
        /// Command to run instead of the shell; its exit code is that of garth lab up
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// End a lab, with all of its processes, networks and files
    Down {
        #[command(flatten)]
        location: Location,
    },
    /// Stop a host of a lab, as if its power had failed
    Stop(HostOf),
    /// Start a host of a lab that was stopped
    Start(HostOf),
    /// Print the ID of an instance with a label, for the script `on`
    #[command(hide = true)]
    Instance { label: String },
    /// The first process in the namespaces of a lab
    #[command(hide = true)]
    Inside {
        #[arg(long)]
        hosts: u8,
        #[command(flatten)]
        location: Location,
        #[arg(last = true)]
        command: Vec<OsString>,
    },
}

#[derive(Args)]
pub struct HostOf {
    /// The host: host-1, host-2, …
    #[arg(value_name = "HOST")]
    host: String,
    #[command(flatten)]
    location: Location,
}

#[derive(Args)]
pub struct Location {
    /// Folder for the store, the agents and the logs of the lab, which is removed with the lab; by default in the folder
    /// for temporary files
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Location {
    fn open(self) -> anyhow::Result<LabFolder> {
        LabFolder::new(self.folder)
    }
}

pub async fn run(output: Output, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Up {
            hosts,
            location,
            command,
        } => up(output, hosts, location.open()?, &command).await,
        Command::Down { location } => down(output, &location.open()?),
        Command::Stop(host) => in_lab(output, &host, "stop", |folder| {
            let is_inside = session::stop_host(folder, &host.host)?;
            let view = json!({"host": host.host, "status": "stopped"});
            output.one(&view, &format!("{} has stopped", host.host))?;
            if is_inside {
                output.hint(
                    "this shell was in an instance on this host, and has no network any more: move the instance with \
                     garth host drain, or start the host again, and then open another shell with garth lab up",
                )?;
            }
            Ok(())
        }),
        Command::Start(host) => in_lab(output, &host, "start", |folder| {
            session::start_host(folder, &host.host)?;
            let view = json!({"host": host.host, "status": "started"});
            output.one(&view, &format!("{} has started", host.host))
        }),
        Command::Instance { label } => {
            let id = session::instance_id(&label).await?;
            output.text(&id.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Inside {
            hosts,
            location,
            command,
        } => Session::new(output, location.open()?, hosts).run(&command).await,
    }
}

/// Runs the lab until its shell ends, or replaces this process by a command in the lab that is already running.
async fn up(
    output: Output,
    hosts: Option<u8>,
    folder: LabFolder,
    command: &[OsString],
) -> anyhow::Result<ExitCode> {
    programs::require_all()?;
    if let Some(process) = folder.running() {
        output.hint(match hosts {
            None => "the lab is already running: this is another shell, which ends with the lab",
            Some(_) => "the lab is already running, and keeps its number of hosts: this is another shell",
        })?;
        let mut entering = isolation::enter(process)?;
        // The mount namespace begins in its root.
        entering.args(["sh", "-c", r#"cd "$0"; exec "$@""#]);
        entering.arg(std::env::current_dir().context("the current folder")?);
        entering.args(session::in_first_instance(&folder, command));
        entering.envs(session::environment(&folder)?);
        // The host of the first instance can be stopped.
        entering.env("LAB_OR_SERVER", "1");
        return Err(entering.exec()).context("nsenter");
    }
    let mut creating = isolation::create()?;
    folder.create()?;
    let garth = std::env::current_exe().context("the path of this program")?;
    creating.arg(garth).args(["lab", "inside", "--folder"]);
    creating
        .arg(folder.path())
        .args(["--hosts", &hosts.unwrap_or(DEFAULT_HOSTS).to_string(), "--"]);
    creating.args(command);
    supervisor::run(output, creating, &folder).await
}

/// Runs an action on a host in the namespaces of the lab. A shell of the lab has the variable `LAB_FOLDER`.
fn in_lab(
    output: Output,
    host: &HostOf,
    verb: &str,
    action: impl FnOnce(&LabFolder) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    if let (None, Some(inside)) = (&host.location.folder, std::env::var_os("LAB_FOLDER")) {
        action(&LabFolder::new(Some(inside.into()))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = LabFolder::new(host.location.folder.clone())?;
    let process = folder.running().context("no lab is running")?;
    let mut entering = isolation::enter(process)?;
    entering.arg(folder.join("bin/garth"));
    if output.json {
        entering.arg("--json");
    }
    entering.args(["lab", verb, "--"]).arg(&host.host);
    entering.envs(session::environment(&folder)?);
    Err(entering.exec()).context("nsenter")
}

fn down(output: Output, folder: &LabFolder) -> anyhow::Result<ExitCode> {
    match folder.running() {
        Some(process) => {
            isolation::end(process)?;
            folder.remove()?;
            output.one(&json!({"status": "ended"}), "the lab has ended")?;
        }
        None => {
            folder.remove()?;
            output.one(&json!({"status": "not_running"}), "no lab is running")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
