//! `garth agent …`: the host agent.

use std::fs::File;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use tokio::sync::watch;

use super::logging::LogSettings;
use super::output::Output;
use super::{logging, stop_signals};
use crate::agent::capture::Capture;
use crate::agent::credential::Credential;
use crate::agent::encryption::{EncryptedTunnels, tunnel};
use crate::agent::hook::{HookSettings, Hooks};
use crate::agent::kernel::{Kernel, command_of};
use crate::agent::layout::{self, HostOptions};
use crate::agent::names::Prefix;
use crate::agent::reconcile::Agent;
use crate::agent::run;
use crate::agent::server_link::{self, ServerLink};
use crate::agent::state_folder::{AGENT_LOCK, StateFolder};
use crate::agent::uplink_filter;
use crate::agent_protocol::{IpRange, StatusReport};

#[derive(Subcommand)]
pub enum Command {
    /// Join as the agent of a host, with the token of garth host add
    ///
    /// Stores the credential of the host in the folder, readable only for its owner.
    Join {
        /// URL of the server; http:// is accepted only for a loopback address
        #[arg(long, value_name = "URL")]
        server: String,
        /// Join token, which can be used once
        #[arg(long)]
        token: String,
        /// Folder of the agent
        #[arg(long, value_name = "FOLDER")]
        state: PathBuf,
        /// PEM file with the certificate of the server or of its authority, if the system does not trust it
        #[arg(long, value_name = "FILE")]
        certificate: Option<PathBuf>,
        /// Join even if the folder is that of another host than the token, or of another server
        #[arg(long)]
        replace: bool,
    },
    /// Make this host's interfaces, tunnels and filters match the desired state, until stopped
    ///
    /// Needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, and the programs ip, bridge and nft. The network remains when the
    /// agent stops.
    Run {
        #[command(flatten)]
        options: Options,
        /// Seconds between checks for changes that other programs have made
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
        resync_seconds: u64,
        #[command(flatten)]
        hook: HookOptions,
    },
    /// Print the commands that a pass of the agent would run now; changes nothing
    Plan {
        #[command(flatten)]
        options: Options,
    },
    /// Print the report of the last pass, as JSON
    ///
    /// The field server_problem says why the agent cannot use the server. If the server refuses the host, left_on_host
    /// has the ports, namespaces and links that remain until garth agent purge.
    Status {
        #[command(flatten)]
        options: Options,
    },
    /// Write the frames of a port to standard output, in the format of pcap
    ///
    /// Includes frames of the instance that the filters drop. Ends with Ctrl-C, or when the reader ends:
    /// garth agent capture 5 | tcpdump -n -r -
    Capture {
        /// ID of the interface
        interface: i64,
        /// End after this many frames
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        count: Option<u64>,
        /// Prefix of the agent
        #[arg(long, env = "GARTH_AGENT_PREFIX", default_value_t = Prefix::default())]
        prefix: Prefix,
    },
    /// Encrypt the packets between hosts with one generation of keys, until its configuration is removed
    ///
    /// The agent starts this process if the kernel has no WireGuard. It continues when the agent ends.
    Tunnel {
        /// Folder of the agent
        #[arg(long, value_name = "FOLDER")]
        state: PathBuf,
        /// Generation of keys
        #[arg(long, value_name = "N")]
        generation: u32,
    },
    /// Remove everything that the agent has created in the kernel, and the stored state (desired.json)
    Purge {
        #[command(flatten)]
        options: Options,
    },
}

#[derive(Args)]
pub struct HookOptions {
    /// Program to run when a port appears, changes or goes, with a JSON document on standard input
    ///
    /// It gets no arguments and is not run by a shell. A port is up when the program has ended with exit status 0.
    /// Otherwise the port has an error, and the program is run again later.
    #[arg(long, value_name = "PROGRAM")]
    hook: Option<PathBuf>,
    /// Seconds after which the program has failed
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600), requires = "hook")]
    hook_timeout_seconds: u64,
}

impl HookOptions {
    fn open(self, folder: &Arc<StateFolder>) -> anyhow::Result<Option<Arc<Hooks>>> {
        let Some(program) = self.hook else {
            return Ok(None);
        };
        // A relative path, or a program that does not exist, would fail for each port.
        let program = program
            .canonicalize()
            .with_context(|| format!("hook {}", program.display()))?;
        let settings = HookSettings {
            program,
            timeout: Duration::from_secs(self.hook_timeout_seconds),
        };
        let hooks = Hooks::new(settings, folder.clone()).context("hooks.json")?;
        Ok(Some(Arc::new(hooks)))
    }
}

#[derive(Args)]
pub struct Options {
    /// Folder of the agent: the credential, the desired state (desired.json) and records
    #[arg(long, value_name = "FOLDER", env = "GARTH_AGENT_STATE")]
    state: PathBuf,
    /// How instances are attached
    #[arg(long, value_enum, default_value_t = Driver::Netns)]
    driver: Driver,
    /// Prefix of names in the kernel, different for each agent on the same machine
    #[arg(long, env = "GARTH_AGENT_PREFIX", default_value_t = Prefix::default())]
    prefix: Prefix,
    /// Private network outside of VPCs that instances with 1:1 NAT or public IPv6 networks may reach, such as
    /// 10.20.0.0/16; can be repeated
    ///
    /// They reach no other private network, not their own host, and no underlay address of a host.
    #[arg(long = "allow-network", value_name = "RANGE", value_parser = uplink_filter::parse_allowed)]
    allow_networks: Vec<IpRange>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Driver {
    /// A veth pair into the network namespace gi-ID of the instance
    Netns,
    /// A tap device for a virtual machine
    Tap,
}

impl Options {
    /// Opens the folder, which must exist.
    fn open_existing(self) -> anyhow::Result<(Agent, Arc<StateFolder>)> {
        if !self.state.is_dir() {
            bail!("the folder {} does not exist", self.state.display());
        }
        self.open()
    }

    fn open(self) -> anyhow::Result<(Agent, Arc<StateFolder>)> {
        let folder = StateFolder::open(&self.state);
        let folder = Arc::new(folder.with_context(|| format!("folder {}", self.state.display()))?);
        let driver = match self.driver {
            Driver::Netns => layout::Driver::Netns,
            Driver::Tap => layout::Driver::Tap,
        };
        let kernel = Kernel::new(self.prefix.clone(), folder.record_file());
        let agent = Agent {
            kernel,
            tunnels: EncryptedTunnels::new(self.prefix.clone(), folder.clone()),
            options: HostOptions {
                driver,
                prefix: self.prefix,
                allowed_networks: self.allow_networks,
            },
        };
        Ok((agent, folder))
    }
}

pub async fn run(output: Output, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Join {
            server,
            token,
            state,
            certificate,
            replace,
        } => {
            let folder = StateFolder::open(&state);
            let folder = folder.with_context(|| format!("folder {}", state.display()))?;
            let read = |path: PathBuf| {
                std::fs::read_to_string(&path).with_context(|| format!("certificate {}", path.display()))
            };
            let certificate = certificate.map(read).transpose()?;
            let old = folder.credential().ok().flatten();
            let expected = old.as_ref().filter(|_| !replace);
            // Hosts of different servers can have the same ID.
            if let Some(old) = expected.filter(|old| !is_same_server(&old.server, &server)) {
                bail!(
                    "the folder is that of host {} ({}) of {}, and the token was not used: use another folder, or \
                     --replace. Use --replace also if {server} is another URL of the same server",
                    old.host_id,
                    old.label,
                    old.server
                );
            }
            let expected = expected.map(|old| old.host_id);
            let joined = server_link::join(&server, &token, certificate, expected).await;
            let credential = joined.map_err(|error| anyhow!(error))?;
            let is_same = |old: &Credential| {
                old.host_id == credential.host_id && is_same_server(&old.server, &credential.server)
            };
            if let Some(old) = old.filter(|old| !is_same(old)) {
                folder.forget_desired().context("desired state")?;
                output.hint(&format!(
                    "the folder was that of host {} ({}) of {}",
                    old.host_id, old.label, old.server
                ))?;
            }
            folder.set_credential(&credential).context("credential")?;
            folder.set_refused(false).context("refusal")?;
            output.text(&format!(
                "joined as host {} ({})",
                credential.host_id, credential.label
            ))?;
        }
        Command::Run {
            options,
            resync_seconds,
            hook,
        } => {
            let (agent, folder) = options.open()?;
            let _lock = lock(&folder)?;
            logging::start(&LogSettings::default(), None)?;
            let mut signaled = stop_signals::listen()?;
            let resync = Duration::from_secs(resync_seconds);
            let hooks = hook.open(&folder)?;
            let (reports, reported) = watch::channel(StatusReport::default());
            let mut stopping = signaled.clone();
            // An error means that the signal thread has ended, which it does not before the process.
            let stop = async move { drop(signaled.wait_for(|signaled| *signaled).await) };
            match folder.credential().context("credential")? {
                // Without a server, another program writes the desired state into the folder.
                None => {
                    if folder.desired().is_ok_and(|state| state.is_none()) {
                        tracing::warn!("the folder has no credential and no state: run `garth agent join`");
                    }
                    run::run(agent, folder, hooks, resync, None, reports, stop).await
                }
                Some(credential) => {
                    let link = ServerLink::new(credential, folder.clone());
                    let link = link.map_err(|error| anyhow!(error))?;
                    let answer = Some(link.first_answer());
                    let passes = run::run(agent, folder, hooks, resync, answer, reports, stop);
                    let stop = async move { drop(stopping.wait_for(|stopping| *stopping).await) };
                    tokio::join!(passes, link.run(reported, stop));
                }
            }
        }
        Command::Plan { options } => {
            let (agent, folder) = options.open_existing()?;
            let state = folder.desired().context("desired state")?;
            let state = state.context("the folder has no desired.json")?;
            let steps = agent.plan(&state).map_err(|error| anyhow!(error))?;
            let prefix = &agent.options.prefix;
            if steps.is_empty() {
                output.hint("the kernel has the desired state: a pass would run no command")?;
            }
            for step in steps {
                let namespace = step.namespace.name(prefix);
                let namespace = namespace.as_deref().unwrap_or("the host");
                output.text(&format!("{namespace}: {}", command_of(prefix, &step)))?;
            }
        }
        Command::Status { options } => {
            let (agent, folder) = options.open_existing()?;
            print_status(output, &agent, &folder)?;
        }
        Command::Capture {
            interface,
            count,
            prefix,
        } => capture(output, &prefix, interface, count)?,
        Command::Tunnel { state, generation } => {
            let folder = StateFolder::open(&state);
            let folder = folder.with_context(|| format!("folder {}", state.display()))?;
            tunnel::run(folder, generation).await?;
        }
        Command::Purge { options } => {
            let (agent, folder) = options.open_existing()?;
            let _lock = lock(&folder)?;
            let (steps, failures) = agent.purge().map_err(|error| anyhow!(error))?;
            let prefix = &agent.options.prefix;
            output.hint(&match steps {
                0 => format!("there is nothing with the prefix {prefix}"),
                1 => format!("1 command has removed what had the prefix {prefix}"),
                steps => format!("{steps} commands have removed what had the prefix {prefix}"),
            })?;
            folder.forget_desired().context("desired.json")?;
            for reason in failures.values() {
                output.text(reason)?;
            }
            if !failures.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
            folder.forget_status().context("status.json")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The URL of the API, which ends with the version, names the same server.
fn is_same_server(one: &str, other: &str) -> bool {
    let root = |url: &str| {
        let url = url.trim_end_matches('/').to_ascii_lowercase();
        url.trim_end_matches("/v4").trim_end_matches("/v4beta").to_owned()
    };
    root(one) == root(other)
}

/// The report of the last pass, why the server cannot be used, and the objects that remain on a host that it refuses.
fn print_status(output: Output, agent: &Agent, folder: &StateFolder) -> anyhow::Result<()> {
    let problem = folder.server_problem().ok().flatten();
    let mut status: Value = match folder.status() {
        Ok(report) => serde_json::from_slice(&report).context("status.json")?,
        Err(_) if problem.is_some() => Value::Object(Default::default()),
        Err(error) => return Err(error).context("no pass has ended yet"),
    };
    if let Some(problem) = problem {
        status["server_problem"] = Value::String(problem);
    }
    if folder.is_refused() {
        status["left_on_host"] = serde_json::to_value(agent.remains(folder))?;
    }
    output.text(&serde_json::to_string_pretty(&status)?)
}

/// Only one agent uses a folder, and nothing is removed while it runs: it would create everything again.
fn lock(folder: &StateFolder) -> anyhow::Result<File> {
    let lock = folder.try_lock(AGENT_LOCK).context(AGENT_LOCK)?;
    lock.with_context(|| {
        format!(
            "an agent runs with the folder {}: stop it first",
            folder.path().display()
        )
    })
}

fn capture(output: Output, prefix: &Prefix, interface: i64, count: Option<u64>) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout();
    if stdout.is_terminal() {
        bail!("standard output is a terminal: use a file, or a pipe to tcpdump -n -r -");
    }
    let stopped = stop_signals::listen()?;
    let mut capture = Capture::open(prefix, interface).map_err(|error| anyhow!(error))?;
    let frames = capture
        .write(&mut stdout, count, || *stopped.borrow())
        .with_context(|| format!("port of interface {interface}"))?;
    let word = if frames == 1 { "frame" } else { "frames" };
    output.hint(&format!("{frames} {word} captured"))
}
