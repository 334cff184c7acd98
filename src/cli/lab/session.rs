//! A running lab: starts the server, the agents and the instances, and then a shell in the first instance.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::interruption::Interruption;
use super::lab_folder::LabFolder;
use super::machine::Machine;
use super::network::{self, MAX_HOSTS, host_name, underlay};
use super::programs::search_path;
use super::supervisor::exit_code;
use super::tenant::{Instance, Tenant};
use crate::agent::state_folder::StateFolder;
use crate::agent_protocol::StatusReport;
use crate::cli::output::Output;

const PORT: u16 = 8080;
const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// An agent that cannot run ends in this time.
const AGENT_START_TIME: Duration = Duration::from_millis(500);
const SERVER_LOG: &str = "server.log";
const LOCAL_NAMES: &str = "127.0.0.1 localhost\n::1 localhost\n";
/// A shell restores its terminal in this time, before the lab ends.
const HANGUP_TIME: Duration = Duration::from_secs(1);
/// The instance in which the shell runs.
const FIRST_INSTANCE: &str = "web-1";
/// The number of log lines that explain a failure.
const LOG_LINES: usize = 5;

/// Runs a command in an instance, on a host or on the server.
const ON_SCRIPT: &str = include_str!("on.sh");

pub struct Session {
    output: Output,
    folder: LabFolder,
    hosts: u8,
    processes: Vec<Child>,
    interruption: Interruption,
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
            interruption: Interruption::default(),
        }
    }

    pub async fn run(mut self, command: &[OsString]) -> anyhow::Result<ExitCode> {
        self.interruption.watch(&self.folder)?;
        let result = self.start_and_run(command).await;
        if result.is_err() && !self.interruption.has_happened() {
            self.print_logs()?;
        }
        for host in 1..=self.hosts {
            // A host can be stopped already.
            let _ = self.machine(host).stop();
        }
        for process in &mut self.processes {
            // A process that has already ended needs no signal.
            let _ = process.kill();
            process.wait()?;
        }
        self.folder.remove()?;
        match self.interruption.has_happened() {
            // The process that has ended the lab explains it.
            true => Ok(ExitCode::FAILURE),
            false => result,
        }
    }

    fn machine(&self, host: u8) -> Machine<'_> {
        Machine::new(&self.folder, host_name(host))
    }

    async fn start_and_run(&mut self, command: &[OsString]) -> anyhow::Result<ExitCode> {
        self.output
            .hint(&format!("starting a lab; number of hosts: {}", self.hosts))?;
        network::create(self.hosts)?;
        let names = self.folder.join("hosts");
        fs::write(&names, LOCAL_NAMES)?;
        network::run("mount", &format!("--bind {} /etc/hosts", names.display()))?;
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
        let process = command.spawn().context("the command cannot be run")?;
        self.folder.set_started()?;
        Ok(exit_code(self.wait_for_command(process)?))
    }

    /// Waits until the command has ended. Ends it if the lab is terminated.
    fn wait_for_command(&self, mut process: Child) -> anyhow::Result<ExitStatus> {
        loop {
            if let Some(status) = process.try_wait()? {
                return Ok(status);
            }
            if self.interruption.has_happened() {
                let deadline = Instant::now() + HANGUP_TIME;
                let _ = kill_process(Pid::from_child(&process), Signal::HUP);
                while process.try_wait()?.is_none() && Instant::now() < deadline {
                    sleep(POLL_INTERVAL);
                }
                // A process that has already ended needs no signal.
                let _ = process.kill();
                process.wait()?;
                bail!("terminated");
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// `garth …` on the store of the lab.
    fn command(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = garth(&self.folder)?;
        command.args(arguments).stdin(Stdio::null());
        // Ctrl-C in the terminal ends the lab in order, and not some of its processes before.
        command.process_group(0);
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

    fn start_server(&mut self) -> anyhow::Result<()> {
        let mut command = self.command(&["serve", "--listen", &format!("127.0.0.1:{PORT}")])?;
        let log = File::create(self.folder.join(SERVER_LOG))?;
        command.stdout(log.try_clone()?).stderr(log);
        self.processes.push(command.spawn()?);
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
        let keeper = self.machine(host).start()?;
        self.processes.push(keeper);
        let state = self.machine(host).state().display().to_string();
        let server = format!("http://127.0.0.1:{PORT}");
        let join = [
            "agent", "join", "--server", &server, "--token", &token, "--state", &state,
        ];
        let mut join = self.command(&join)?;
        let joined = network::inside(&name, || join.output())?;
        let stderr = String::from_utf8_lossy(&joined.stderr);
        ensure!(joined.status.success(), "garth agent join: {}", stderr.trim());
        let agent = self.machine(host).start_agent(garth(&self.folder)?, host)?;
        self.processes.push(agent);
        Ok(())
    }

    async fn start_instances(&self) -> anyhow::Result<Vec<Instance>> {
        let token = self.garth(&["token", "create", "--user", "admin"])?;
        fs::write(self.folder.join("token"), &token)?;
        let tenant = Tenant::new(&format!("http://127.0.0.1:{PORT}"), token)?;
        let vpc = tenant.create(self.hosts).await?;
        let deadline = Instant::now() + START_TIMEOUT;
        while !tenant.are_running().await? {
            self.interruption.check()?;
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
            let folder = StateFolder::open(&self.machine(host).state()).ok()?;
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
        let mut names = LOCAL_NAMES.to_owned();
        let (folder, programs) = (self.folder.join("instances"), self.folder.join("bin"));
        fs::create_dir(&folder)?;
        fs::create_dir(&programs)?;
        for instance in instances {
            fs::write(folder.join(&instance.label), instance.id.to_string())?;
            for address in &instance.addresses {
                names += &format!("{address} {}\n", instance.label);
            }
        }
        fs::write(self.folder.join("hosts"), names)?;
        symlink(std::env::current_exe()?, programs.join("garth"))?;
        let mut options = OpenOptions::new();
        let script = options.write(true).create_new(true).mode(0o700);
        Ok(script
            .open(programs.join("on"))?
            .write_all(ON_SCRIPT.as_bytes())?)
    }

    /// Waits until the first instance reaches all others: the kernel needs some time after a port is up.
    fn wait_until_reachable(&self, instances: &[Instance]) -> anyhow::Result<()> {
        for instance in instances {
            for address in &instance.addresses {
                let is_reachable = |_: &Self| {
                    let mut ping = Command::new(self.folder.join("bin/on"));
                    ping.args([FIRST_INSTANCE, "ping", "-n", "-q", "-c", "1", "-W", "1"]);
                    ping.arg(address.to_string()).process_group(0);
                    ping.env("LAB_FOLDER", self.folder.path());
                    Ok(ping.output()?.status.success())
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
            let folder = StateFolder::open(&self.machine(host).state())?;
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
        // The shell runs on the first host, so the others are those to experiment with.
        let (elsewhere, experiments) = match self.hosts {
            1 => ("", String::new()),
            last => (
                ", on another host",
                format!(
                    "  garth host drain host-{last}    move the instances of a host\n  \
                     garth lab stop host-{last}      let the power of a host fail\n"
                ),
            ),
        };
        let id = instances.first().map_or(1, |instance| instance.id);
        let other = instances.last().and_then(|instance| instance.addresses.first());
        let other = other.map(ToString::to_string).unwrap_or_default();
        text += &format!(
            "\nThis is {FIRST_INSTANCE}. Try:\n  \
             ping {last}                 reach another subnet{elsewhere}\n  \
             on db-1 ping {FIRST_INSTANCE}         run a command in another instance\n  \
             on host-1 ip netns         run a command on a host\n  \
             garth host list            run a command of the operator\n  \
             garth trace {id} {other:<14} explain the path of a packet\n  \
             on host-1 garth agent status   run a command of the agent\n\
             {experiments}  \
             on server curl -s http://127.0.0.1:{PORT}/v4/vpcs -H \"Authorization: Bearer $LAB_TOKEN\"\n\
             The lab ends with this shell, or with garth lab down.\n"
        );
        self.output.hint(&text)
    }

    /// Waits until a condition is met, while all processes of the lab are running.
    fn wait_for(&self, what: &str, condition: impl Fn(&Self) -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !condition(self)? {
            self.interruption.check()?;
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
        let hosts = (1..=self.hosts).map(|host| (host_name(host), self.machine(host).log()));
        let server = ("server".to_owned(), self.folder.join(SERVER_LOG));
        for (name, log) in std::iter::once(server).chain(hosts) {
            let log = fs::read_to_string(log).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            for line in &lines[lines.len().saturating_sub(LOG_LINES)..] {
                self.output.hint(&format!("{name}: {line}"))?;
            }
        }
        Ok(())
    }
}

/// `garth` on the store of the lab, without the settings of the caller.
fn garth(folder: &LabFolder) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("the path of this program")?);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GARTH_") {
            command.env_remove(name);
        }
    }
    command.env("GARTH_DATA", folder.join("data"));
    Ok(command)
}

/// The number of a host of the lab.
fn find_host(folder: &LabFolder, name: &str) -> anyhow::Result<u8> {
    let exists = |host: &u8| Machine::new(folder, host_name(*host)).state().exists();
    let hosts: Vec<u8> = (1..=MAX_HOSTS).filter(exists).collect();
    let found = hosts.iter().copied().find(|host| host_name(*host) == name);
    found.with_context(|| {
        let names: Vec<_> = hosts.into_iter().map(host_name).collect();
        format!("the lab has no host {name}; its hosts are {}", names.join(", "))
    })
}

/// Stops a host of the lab in which this command runs. Returns whether this command runs in one of its instances.
pub fn stop_host(folder: &LabFolder, name: &str) -> anyhow::Result<bool> {
    let host = find_host(folder, name)?;
    let machine = Machine::new(folder, host_name(host));
    let is_inside = machine.has_this_network();
    machine.stop()?;
    Ok(is_inside)
}

/// The ID of an instance of the tenant, in the lab in which this command runs.
pub async fn instance_id(label: &str) -> anyhow::Result<i64> {
    let token = std::env::var("LAB_TOKEN").context("LAB_TOKEN")?;
    let tenant = Tenant::new(&format!("http://127.0.0.1:{PORT}"), token)?;
    let id = tenant.instance_id(label).await?;
    id.with_context(|| format!("there is no instance {label}"))
}

/// Starts a host that was stopped, or the agent of a host. Both end with the lab.
pub fn start_host(folder: &LabFolder, name: &str) -> anyhow::Result<()> {
    let host = find_host(folder, name)?;
    let machine = Machine::new(folder, host_name(host));
    if !machine.is_running() {
        machine.start()?;
    }
    ensure!(!machine.has_agent()?, "{} is already running", host_name(host));
    let mut agent = machine.start_agent(garth(folder)?, host)?;
    sleep(AGENT_START_TIME);
    ensure!(
        agent.try_wait()?.is_none(),
        "the agent of {} does not start: see {}",
        host_name(host),
        machine.log().display()
    );
    Ok(())
}
