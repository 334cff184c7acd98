//! How it is run: one binary, `garth`.
//!
//! Every command finds the store by the same options, and may work on it while a server
//! runs: what it changes takes effect there at once.

mod account;
mod address;
mod bootstrap_token;
mod bucket_keys;
mod client;
mod copy;
mod data_folder;
mod database;
mod demo;
mod desk;
mod entity;
mod greeting;
mod huge_pages;
mod jobs;
mod logging;
mod open_files;
mod output;
mod place;
mod policy;
mod secret_file;
mod serve;
mod settings;
mod stop_signals;
mod token;
mod user;
mod wake;

use std::time::Duration;

use clap::{Parser, Subcommand};

use output::Output;
use place::Place;

pub use policy::policy_of;
pub use settings::Settings;

/// A virtual-private-cloud and support-desk service that anyone can run.
#[derive(Parser)]
#[command(name = "garth", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    place: Place,

    /// Print JSON, with the same names as on the wire
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(Box<Settings>),
    /// Run the server on a small company to look around in, made in ./garth-demo if it is not there yet
    Demo(Box<demo::Options>),
    /// Make and list accounts, and set their quotas
    #[command(subcommand)]
    Account(account::Command),
    /// Make and list OAuth clients, of accounts and the provider's own
    #[command(subcommand)]
    Client(client::Command),
    /// Make users, and grant them what restricted ones may do
    #[command(subcommand)]
    User(user::Command),
    /// Make, list and revoke tokens
    #[command(subcommand)]
    Token(token::Command),
    /// Work on tickets as one of the provider's staff
    Desk(desk::Desk),
    /// Name what accounts have in other services
    #[command(subcommand)]
    Entity(entity::Command),
    /// List background jobs, and retry or drop those that failed
    #[command(subcommand)]
    Jobs(jobs::Command),
    /// Copy a whole store into a new one, from a folder to a database or back
    Copy(copy::Copy),
    /// Print the interface's description (OpenAPI 3.1, JSON)
    Openapi,
}

/// Runs the command line.
pub fn run() -> anyhow::Result<()> {
    let cli = Cli::parse();
    data_folder::set_umask();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let output = Output { json: cli.json };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve(settings) => serve::run(&cli.place, *settings).await,
            Command::Demo(options) => demo::run(&cli.place, *options).await,
            Command::Account(command) => account::run(&cli.place, output, command).await,
            Command::Client(command) => client::run(&cli.place, output, command).await,
            Command::User(command) => user::run(&cli.place, output, command).await,
            Command::Token(command) => token::run(&cli.place, output, command).await,
            Command::Desk(desk) => desk::run(&cli.place, output, desk).await,
            Command::Entity(command) => entity::run(&cli.place, output, command).await,
            Command::Jobs(command) => jobs::run(&cli.place, output, command).await,
            Command::Copy(wish) => copy::run(&cli.place, output, wish).await,
            Command::Openapi => output.text(crate::api::openapi_json()),
        }
    });
    // Work on other threads that was given up, such as a read of a slow disk, must not hold up the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}
