//! The command line of `garth`.
//!
//! All commands share the options that select the store, and can use the store while a server is running. Changes made
//! by a command take effect with the server's next request.

mod account;
mod account_choice;
mod agent;
mod announcement;
mod apply;
mod archive_file;
mod archive_restore;
mod arguments;
mod attachment_storage;
mod backup;
mod bootstrap_token;
mod branding;
mod bucket_keys;
mod certificate_file;
mod check;
mod client;
mod continuous_archive;
mod copy;
mod data_folder;
mod database;
mod demo;
mod desk;
mod desk_attach;
mod desk_text;
mod doctor;
mod draining;
mod encryption;
mod entity;
mod environment;
mod export;
mod host;
mod huge_pages;
mod jobs;
mod lab;
mod listeners;
mod logging;
mod mail;
mod mail_templates;
mod man;
mod open_files;
mod outbox;
mod outgoing_mail;
mod output;
mod plan;
mod policy;
mod progress;
mod record;
mod region;
mod replay;
mod restore;
mod saved_views;
mod secret_file;
mod serve;
mod server_notification;
mod server_options;
mod server_url;
mod settings;
mod settings_file;
mod startup_message;
mod stop_signals;
mod store_args;
mod temporary_server;
mod test_mode;
mod token;
mod trace;
mod user;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use output::Output;
use store_args::StoreArgs;

pub use policy::policy_of;
pub use settings::Settings;
pub use test_mode::changed_policy;

/// Self-hosted VPC and support desk service, compatible with the Linode API v4
#[derive(Parser)]
#[command(name = "garth", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    store: StoreArgs,

    /// Print JSON, with the field names of the API
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(Box<Settings>),
    /// Run the server with sample data, created in ./garth-demo on the first run
    Demo(Box<demo::Options>),
    /// Create and list accounts, and set their quotas
    #[command(subcommand)]
    Account(account::Command),
    /// Manage OAuth clients
    #[command(subcommand)]
    Client(client::Command),
    /// Manage users, their passwords and their grants
    #[command(subcommand)]
    User(user::Command),
    /// Create, list and revoke API tokens
    #[command(subcommand)]
    Token(token::Command),
    /// Work on support tickets as a member of the provider's staff
    Desk(desk::Desk),
    /// Manage entities of other services, so that tickets can refer to them
    #[command(subcommand)]
    Entity(entity::Command),
    /// Announce maintenance and outages to all customers
    #[command(subcommand)]
    Announcement(announcement::Command),
    /// Set the name, the logo and the colors of the console
    #[command(subcommand)]
    Branding(branding::Command),
    /// List, add, change and retire regions
    #[command(subcommand)]
    Region(region::Command),
    /// List, add, change and retire plans of instances
    #[command(subcommand)]
    Plan(plan::Command),
    /// Manage the hosts that run instances
    #[command(subcommand)]
    Host(host::Command),
    /// Deliver messages to the support desk, and show mails that Garth sends
    #[command(subcommand)]
    Mail(mail::Command),
    /// List, retry and drop background jobs
    #[command(subcommand)]
    Jobs(jobs::Command),
    /// Run the agent of a host that carries the packets of VPCs
    #[command(subcommand)]
    Agent(agent::Command),
    /// Try the data plane on this machine: hosts, a server and instances in namespaces
    #[command(subcommand)]
    Lab(lab::Command),
    /// Show the path of a packet from an instance to an address, hop by hop
    ///
    /// Uses the desired state of the hosts and the reports of their agents; sends nothing. Exit code 0: the packet is
    /// delivered or leaves the VPC, or a host does not report its current state. 1: it is dropped, for the reason that is
    /// shown. 2: the path is not known, for example because the instance does not exist or the store cannot be read.
    Trace(trace::Options),
    /// Check the integrity of a store and of its attachments
    ///
    /// Can be run while a server is running. The location of the attachments is read from the settings file or from
    /// GARTH_ATTACHMENTS_URL. Exit code 0: no problems found. 1: problems found and listed. 2: nothing can be checked.
    Check(check::Options),
    /// Find what an operator should fix: settings, permissions, limits, disk, database, failed work
    ///
    /// Changes nothing, and can be run while a server is running. Exit code 0: no problems found. 1: problems found and
    /// listed with their fixes.
    Doctor,
    /// Write a store and its attachments to one archive
    ///
    /// Can be run while a server is running: the archive has the state of one moment. The location of the attachments is
    /// read from the settings file or from GARTH_ATTACHMENTS_URL. The archive contains personal data, password hashes and
    /// keys, so the file is readable only for its owner. Exit code 1: the backup failed, or the file of an attachment is
    /// missing or damaged; the archive then has everything else.
    Backup(backup::Options),
    /// Restore an archive of garth backup, or a moment of a continuous archive, into an empty store
    ///
    /// The store is the folder of --data or the database of --database, and either can be empty or missing. The archive
    /// is verified completely before anything is written, and the store is checked before it can be used. If a restore
    /// is interrupted, run it again. A continuous archive (garth serve --archive) can be restored only into a folder.
    Restore(restore::Options),
    /// Print the networks, instances and users of an account as a document for garth apply
    ///
    /// The document has no secrets, and the order is fixed: the same state gives the same bytes.
    Export(export::Options),
    /// Make an account match a document: networks, instances, users and grants
    ///
    /// Creates missing objects and changes those that differ, in one transaction: after an error, nothing is changed. Can be
    /// run while a server is running. Objects are found by label, and users by username. The lines of the output begin
    /// with + (created), ~ (changed) or - (deleted).
    Apply(apply::Options),
    /// Record the exchanges of clients with a service of this interface, without secrets
    ///
    /// Runs a proxy on a loopback address. It passes requests to the service, and writes each request and response to the
    /// file when the response is complete. Tokens, passwords and other secrets are replaced by numbers, and uploads by
    /// their name, size and SHA-256. Ends with Ctrl-C.
    Record(record::Options),
    /// Send the requests of a recording to Garth, and compare the responses with the recorded ones
    ///
    /// Without --server, the requests are sent to a server with an empty store, which is deleted afterward. IDs, times,
    /// addresses and secrets that the server chooses are mapped to those of the recording. Exit code 0: all compared
    /// responses are equal. 1: responses differ. 2: the replay failed, or no response can be compared.
    Replay(replay::Options),
    /// Copy a store between a folder and a database, without the files of attachments
    Copy(copy::Options),
    /// Print the completion script of a shell
    ///
    /// For bash: garth completions bash > /etc/bash_completion.d/garth
    Completions { shell: Shell },
    /// Write the manual pages into a folder: garth.1, and one page for each command
    Man {
        /// Folder for the pages; created if it does not exist
        folder: PathBuf,
    },
    /// Print the OpenAPI 3.1 document of the API, as JSON
    Openapi,
}

/// A command that failed: the error to print, and the exit code.
pub struct Failure {
    pub error: anyhow::Error,
    pub exit_code: ExitCode,
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            error,
            exit_code: ExitCode::FAILURE,
        }
    }
}

/// Runs the command line.
pub fn run() -> Result<ExitCode, Failure> {
    let cli = Cli::try_parse();
    let cli = cli.unwrap_or_else(|error| environment::explain(error, Cli::command()).exit());
    data_folder::set_umask();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(anyhow::Error::from)?;
    let result = runtime.block_on(run_command(cli));
    // Blocking tasks that were abandoned, such as a read from a slow disk, must not delay the exit.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result.map_err(|failure| Failure {
        error: environment::explain_setting(failure.error),
        ..failure
    })
}

async fn run_command(cli: Cli) -> Result<ExitCode, Failure> {
    let output = Output { json: cli.json };
    match cli.command {
        Command::Serve(settings) => serve::run(&cli.store, *settings).await?,
        Command::Demo(options) => demo::run(&cli.store, *options).await?,
        Command::Account(command) => account::run(&cli.store, output, command).await?,
        Command::Client(command) => client::run(&cli.store, output, command).await?,
        Command::User(command) => user::run(&cli.store, output, command).await?,
        Command::Token(command) => token::run(&cli.store, output, command).await?,
        Command::Desk(desk) => desk::run(&cli.store, output, desk).await?,
        Command::Entity(command) => entity::run(&cli.store, output, command).await?,
        Command::Announcement(command) => announcement::run(&cli.store, output, command).await?,
        Command::Branding(command) => branding::run(&cli.store, output, command).await?,
        Command::Region(command) => region::run(&cli.store, output, command).await?,
        Command::Plan(command) => plan::run(&cli.store, output, command).await?,
        Command::Host(command) => host::run(&cli.store, output, command).await?,
        Command::Mail(command) => return mail::run(&cli.store, output, command).await,
        Command::Jobs(command) => jobs::run(&cli.store, output, command).await?,
        Command::Agent(command) => return Ok(agent::run(output, command).await?),
        Command::Trace(options) => {
            let traced = trace::run(&cli.store, output, options).await;
            return traced.map_err(|error| Failure {
                error,
                exit_code: ExitCode::from(trace::EXIT_FAILED),
            });
        }
        Command::Lab(command) => return Ok(lab::run(output, command).await?),
        Command::Check(options) => {
            let checked = check::run(&cli.store, output, options).await;
            return checked.map_err(|error| Failure {
                error,
                exit_code: ExitCode::from(check::EXIT_NOT_CHECKED),
            });
        }
        Command::Doctor => return Ok(doctor::run(&cli.store, output).await?),
        Command::Backup(options) => return Ok(backup::run(&cli.store, output, options).await?),
        Command::Restore(options) => restore::run(&cli.store, output, options).await?,
        Command::Export(options) => export::run(&cli.store, output, options).await?,
        Command::Apply(options) => apply::run(&cli.store, output, options).await?,
        Command::Record(options) => record::run(output, options).await?,
        Command::Replay(options) => {
            let replayed = replay::run(&cli.store, output, options).await;
            return replayed.map_err(|error| Failure {
                error,
                exit_code: ExitCode::from(replay::EXIT_FAILED),
            });
        }
        Command::Copy(options) => copy::run(&cli.store, output, options).await?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "garth", &mut script);
            output.bytes(&script)?;
        }
        Command::Man { folder } => man::write(Cli::command(), &folder)?,
        Command::Openapi => output.text(crate::api::openapi_json())?,
    }
    Ok(ExitCode::SUCCESS)
}
