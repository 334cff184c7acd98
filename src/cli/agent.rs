//! `garth agent …`: the host agent.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand, ValueEnum};

use super::logging::LogSettings;
use super::output::Output;
use super::{logging, stop_signals};
use crate::agent::kernel::{Kernel, command_of};
use crate::agent::layout;
use crate::agent::names::Prefix;
use crate::agent::reconcile::Agent;
use crate::agent::run;
use crate::agent::state_folder::StateFolder;

#[derive(Subcommand)]
pub enum Command {
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
    },
    /// Print the commands that a pass of the agent would run now; changes nothing
    Plan {
        #[command(flatten)]
        options: Options,
    },
    /// Print the report of the last pass, as JSON
    Status {
        #[command(flatten)]
        options: Options,
    },
    /// Remove everything that the agent has created in the kernel
    Purge {
        #[command(flatten)]
        options: Options,
    },
}

#[derive(Args)]
pub struct Options {
    /// Folder with the desired state (desired.json) and the records of the agent
    #[arg(long, value_name = "FOLDER")]
    state: PathBuf,
    /// How instances are attached
    #[arg(long, value_enum, default_value_t = Driver::Netns)]
    driver: Driver,
    /// Prefix of names in the kernel, different for each agent on the same machine
    #[arg(long, default_value_t = Prefix::default())]
    prefix: Prefix,
}

#[derive(Clone, Copy, ValueEnum)]
enum Driver {
    /// A veth pair into the network namespace gi-ID of the instance
    Netns,
    /// A tap device for a virtual machine
    Tap,
}

impl Options {
    fn open(self) -> anyhow::Result<(Agent, StateFolder)> {
        let folder = StateFolder::open(&self.state);
        let folder = folder.with_context(|| format!("folder {}", self.state.display()))?;
        let driver = match self.driver {
            Driver::Netns => layout::Driver::Netns,
            Driver::Tap => layout::Driver::Tap,
        };
        let kernel = Kernel::new(self.prefix.clone(), folder.record_file());
        let agent = Agent {
            kernel,
            driver,
            prefix: self.prefix,
        };
        Ok((agent, folder))
    }
}

pub async fn run(output: Output, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run {
            options,
            resync_seconds,
        } => {
            let (agent, folder) = options.open()?;
            logging::start(&LogSettings::default(), None)?;
            let mut signaled = stop_signals::listen()?;
            // An error means that the signal thread has ended, which it does not before the process.
            let stop = async move { drop(signaled.wait_for(|signaled| *signaled).await) };
            run::run(agent, folder, Duration::from_secs(resync_seconds), stop).await;
        }
        Command::Plan { options } => {
            let (agent, folder) = options.open()?;
            let state = folder.desired().context("desired state")?;
            let state = state.context("the folder has no desired.json")?;
            let steps = agent.plan(&state).map_err(|error| anyhow!(error))?;
            for step in steps {
                let namespace = step.namespace.name(&agent.prefix);
                let namespace = namespace.as_deref().unwrap_or("the host");
                output.text(&format!("{namespace}: {}", command_of(&agent.prefix, &step)))?;
            }
        }
        Command::Status { options } => {
            let (_, folder) = options.open()?;
            output.bytes(&folder.status().context("no pass has ended yet")?)?;
        }
        Command::Purge { options } => {
            let (agent, _) = options.open()?;
            let failures = agent.purge().map_err(|error| anyhow!(error))?;
            for reason in failures.values() {
                output.text(reason)?;
            }
            if !failures.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
