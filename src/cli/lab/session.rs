//! A running lab: starts the server, the agents and the instances, and then a shell in the first instance.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::lab_folder::LabFolder;
use super::network::{self, host_name, underlay};
use super::programs::search_path;
use super::tenant::{Instance, Tenant};
use crate::agent::state_folder::StateFolder;
use crate::agent_protocol::StatusReport;
use crate::cli::output::Output;

const PORT: u16 = 8080;
const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The instance in which the shell runs.
const FIRST_INSTANCE: &str = "web-1";
/// The number of log lines that explain a failure.
const LOG_LINES: usize = 5;

/// Runs a command in the network namespace with a name: an instance, a host or the server.
const ON_SCRIPT: &str = r#"#!/bin/sh
usage="usage: on NAME COMMAND…, where NAME is an instance, host-1, host-2, … or server"
[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
name=$1
shift
network=$LAB_FOLDER/networks/$name
[ -e "$network" ] || network=/run/netns/gi-$name
[ -e "$network" ] || { echo "there is no $name. $usage" >&2; exit 2; }
exec nsenter --net="$network" -- "$@"
"#;

pub struct Session {
    output: Output,
    folder: LabFolder,
    hosts: u8,
    /// The processes of the lab, in the order in which they were started.
    processes: Vec<(String, Child)>,
}

/// The command that runs a command, or a shell, in the first instance.
pub fn in_first_instance(folder: &LabFolder, command: &[OsString]) -> Vec<OsString> {
    let shell = || vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    let command = match command {
        [] => shell(),
        command => command.to_vec(),
    };
    let on: [OsString; 2] = [folder.join("bin/on").into(), FIRST_INSTANCE.into()];
    on.into_iter().chain(command).collect()
}

/// The environment of the commands of a user.
pub fn environment(folder: &LabFolder) -> anyhow::Result<HashMap<&'static str, OsString>> {
    let token = fs::read_to_string(folder.join("token")).context("the lab has not started yet")?;
    let mut path = folder.join("bin").into_os_string();
    path.push(":");
    path.push(search_path());
    Ok(HashMap::from([
        ("PATH", path),
        ("LAB_FOLDER", folder.path().into()),
        ("LAB_TOKEN", token.into()),
        ("GARTH_DATA", folder.join("data").into()),
        ("PS1", format!("lab {FIRST_INSTANCE} \\$ ").into()),
    ]))
}

impl Session {
    pub fn new(output: Output, folder: LabFolder, hosts: u8) -> Self {
        Self {
            output,
            folder,
            hosts,
            processes: Vec::new(),
        }
    }

    pub async fn run(mut self, command: &[OsString]) -> anyhow::Result<ExitCode> {
        let result = self.start_and_run(command).await;
        if result.is_err() {
            self.print_logs()?;
        }
        for (_, process) in &mut self.processes {
            // A process that has already ended needs no signal.
            let _ = process.kill();
            process.wait()?;
        }
        self.folder.remove()?;
        result
    }

    async fn start_and_run(&mut self, command: &[OsString]) -> anyhow::Result<ExitCode> {
        self.output
            .hint(&format!("starting a lab with {} hosts", self.hosts))?;
        network::create(self.hosts)?;
        self.start_server()?;
        for host in 1..=self.hosts {
            self.start_host(host)?;
        }
        self.wait_for("all hosts report to the server", |lab| {
            let hosts: Vec<serde_json::Value> =
                serde_json::from_str(&lab.garth(&["--json", "host", "list"])?)?;
            Ok(hosts.iter().all(|host| host["status"] == "online"))
        })?;
        let instances = self.start_instances().await?;
        self.write_names(&instances)?;
        self.wait_until_reachable(&instances)?;
        self.print_introduction(&instances)?;
        let arguments = in_first_instance(&self.folder, command);
        let mut command = Command::new(&arguments[0]);
        command.args(&arguments[1..]).envs(environment(&self.folder)?);
        let status = command.status().context("the command cannot be run")?;
        Ok(exit_code(status))
    }

    /// `garth …`, without the settings of the caller.
    fn command(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe().context("the path of this program")?);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GARTH_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).stdin(Stdio::null());
        command.env("GARTH_DATA", self.folder.join("data"));
        Ok(command)
    }

    /// The output of `garth …` on the store of the server.
    fn garth(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let done = self.command(arguments)?.output()?;
        let stderr = String::from_utf8_lossy(&done.stderr);
        ensure!(
            done.status.success(),
            "garth {}: {}",
            arguments.join(" "),
            stderr.trim()
        );
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// Starts a process of the lab in a network namespace, or in that of the server.
    fn start(&mut self, name: String, namespace: Option<&str>, mut command: Command) -> anyhow::Result<()> {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log(&name))?;
        command.stdout(log.try_clone()?).stderr(log);
        let process = match namespace {
            Some(namespace) => network::inside(namespace, || command.spawn())?,
            None => command.spawn()?,
        };
        self.processes.push((name, process));
        Ok(())
    }

    fn log(&self, name: &str) -> std::path::PathBuf {
        self.folder.join(&format!("{name}.log"))
    }

    fn start_server(&mut self) -> anyhow::Result<()> {
        let command = self.command(&["serve", "--listen", &format!("127.0.0.1:{PORT}")])?;
        self.start("server".to_owned(), None, command)?;
        self.wait_for("the server listens", |_| {
            Ok(TcpStream::connect((Ipv4Addr::LOCALHOST, PORT)).is_ok())
        })
    }

    /// Adds a host, and starts its agent.
    fn start_host(&mut self, host: u8) -> anyhow::Result<()> {
        let (name, address) = (host_name(host), underlay(host).to_string());
        network::relay(&name, PORT)?;
        let token = self.garth(&[
            "host",
            "add",
            &name,
            "--region",
            "us-east",
            "--underlay",
            &address,
        ])?;
        let state = self.folder.join(&name).display().to_string();
        let server = format!("http://127.0.0.1:{PORT}");
        let join = [
            "agent", "join", "--server", &server, "--token", &token, "--state", &state,
        ];
        let mut join = self.command(&join)?;
        let joined = network::inside(&name, || join.output())?;
        let stderr = String::from_utf8_lossy(&joined.stderr);
        ensure!(joined.status.success(), "garth agent join: {}", stderr.trim());
        let run = [
            "agent",
            "run",
            "--state",
            &state,
            "--driver",
            "netns",
            "--prefix",
            &format!("h{host}"),
        ];
        let run = self.command(&run)?;
        self.start(name.clone(), Some(&name), run)
    }

    async fn start_instances(&self) -> anyhow::Result<Vec<Instance>> {
        let token = self.garth(&["token", "create", "--user", "admin"])?;
        fs::write(self.folder.join("token"), &token)?;
        let tenant = Tenant::new(&format!("http://127.0.0.1:{PORT}"), token)?;
        let vpc = tenant.create(self.hosts).await?;
        let deadline = Instant::now() + START_TIMEOUT;
        while !tenant.are_running().await? {
            if Instant::now() > deadline {
                bail!("the instances do not run: {}", self.reasons());
            }
            sleep(POLL_INTERVAL);
        }
        tenant.instances(vpc).await
    }

    /// Why ports are not up, from the reports of the agents.
    fn reasons(&self) -> String {
        let report = |host| {
            let folder = StateFolder::open(&self.folder.join(&host_name(host))).ok()?;
            serde_json::from_slice::<StatusReport>(&folder.status().ok()?).ok()
        };
        let reports = (1..=self.hosts).filter_map(report);
        let ports = reports.flat_map(|report| report.ports);
        let mut reasons: Vec<String> = ports.filter_map(|port| port.reason).collect();
        reasons.sort();
        reasons.dedup();
        match reasons.is_empty() {
            true => "the agents report no reason".to_owned(),
            false => reasons.join("; "),
        }
    }

    /// Makes the names of instances known to all programs of the lab, and to the script `on`.
    fn write_names(&self, instances: &[Instance]) -> anyhow::Result<()> {
        let mut hosts = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
        let (networks, programs) = (self.folder.join("networks"), self.folder.join("bin"));
        fs::create_dir(&networks)?;
        fs::create_dir(&programs)?;
        for instance in instances {
            let path = format!("/run/netns/{}", instance.namespace());
            symlink(path, networks.join(&instance.label))?;
            for address in &instance.addresses {
                hosts += &format!("{address} {}\n", instance.label);
            }
        }
        for name in (1..=self.hosts).map(host_name) {
            symlink(format!("/run/netns/{name}"), networks.join(name))?;
        }
        symlink("/proc/1/ns/net", networks.join("server"))?;
        symlink(std::env::current_exe()?, programs.join("garth"))?;
        let mut options = OpenOptions::new();
        let script = options.write(true).create_new(true).mode(0o700);
        std::io::Write::write_all(&mut script.open(programs.join("on"))?, ON_SCRIPT.as_bytes())?;
        let file = self.folder.join("hosts");
        fs::write(&file, hosts)?;
        network::run("mount", &format!("--bind {} /etc/hosts", file.display()))
    }

    /// Waits until the first instance reaches all others: the kernel needs some time after a port is up.
    fn wait_until_reachable(&self, instances: &[Instance]) -> anyhow::Result<()> {
        let first = instances.iter().find(|instance| instance.label == FIRST_INSTANCE);
        let first = first.context("the first instance exists")?;
        for instance in instances {
            for address in &instance.addresses {
                let is_reachable = |_: &Self| {
                    let mut ping = Command::new("ping");
                    ping.args(["-n", "-q", "-c", "1", "-W", "1", &address.to_string()]);
                    let done = network::inside(&first.namespace(), || ping.output())?;
                    Ok(done.status.success())
                };
                let what = format!("{FIRST_INSTANCE} reaches {} at {address}", instance.label);
                self.wait_for(&what, is_reachable)?;
            }
        }
        Ok(())
    }

    fn print_introduction(&self, instances: &[Instance]) -> anyhow::Result<()> {
        let mut places = HashMap::new();
        for host in 1..=self.hosts {
            let folder = StateFolder::open(&self.folder.join(&host_name(host)))?;
            let vpcs = folder.desired()?.map(|state| state.vpcs).unwrap_or_default();
            let ports = vpcs.into_iter().flat_map(|vpc| vpc.ports);
            places.extend(ports.map(|port| (port.instance_id, host_name(host))));
        }
        let mut text = "\ninstance  host     addresses\n".to_owned();
        for instance in instances {
            let host = places.get(&instance.id).map_or("", String::as_str);
            let addresses: Vec<_> = instance.addresses.iter().map(ToString::to_string).collect();
            text += &format!("{:<9} {host:<8} {}\n", instance.label, addresses.join("  "));
        }
        let last = instances
            .last()
            .map_or("db-1", |instance| instance.label.as_str());
        text += &format!(
            "\nThis is {FIRST_INSTANCE}. Try:\n  \
             ping {last}                 reach another subnet, on another host\n  \
             on db-1 ping {FIRST_INSTANCE}         run a command in another instance\n  \
             on host-1 ip netns         run a command on a host\n  \
             garth host list            run a command of the operator\n  \
             garth host drain host-1    move the instances of a host\n  \
             on server curl -s http://127.0.0.1:{PORT}/v4/vpcs -H \"Authorization: Bearer $LAB_TOKEN\"\n\
             The lab ends with this shell, or with garth lab down.\n"
        );
        self.output.hint(&text)
    }

    /// Waits until a condition is met, while all processes of the lab are running.
    fn wait_for(&self, what: &str, condition: impl Fn(&Self) -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !condition(self)? {
            ensure!(
                Instant::now() < deadline,
                "not within {} seconds: {what}",
                START_TIMEOUT.as_secs()
            );
            sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn print_logs(&self) -> anyhow::Result<()> {
        for (name, _) in &self.processes {
            let log = fs::read_to_string(self.log(name)).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            for line in &lines[lines.len().saturating_sub(LOG_LINES)..] {
                self.output.hint(&format!("{name}: {line}"))?;
            }
        }
        Ok(())
    }
}

/// The exit code of a command, as a shell reports it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
