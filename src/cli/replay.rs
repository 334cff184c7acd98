//! `garth replay`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Args;

use super::output::Output;
use super::stop_signals::Interruption;
use super::store_args::StoreArgs;
use super::temporary_server::TemporaryServer;
use super::{certificate_file, secret_file};
use crate::exchange::{IgnoredFields, Recording, Report, Upstream, replay};
use crate::model::token::Secret;

/// The exit code if responses differ.
const EXIT_DIFFERENT: u8 = 1;
/// The exit code if the replay failed, or no response can be compared.
pub const EXIT_FAILED: u8 = 2;

#[derive(Args)]
pub struct Options {
    /// Recording of garth record
    file: PathBuf,
    /// URL of a running server [default: a new server with an empty store]
    #[arg(long, value_name = "URL", requires = "token_file")]
    server: Option<String>,
    /// File with a token for the server
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,
    /// PEM file with the certificate of the server or of its authority, if the system does not trust it
    #[arg(long, value_name = "FILE", requires = "server")]
    certificate: Option<PathBuf>,
    /// Field that is not compared, such as body.data.*.region; can be repeated
    ///
    /// A path begins with status, headers or body. * stands for one name or index, and a path includes everything below
    /// it.
    #[arg(long, value_name = "PATH")]
    ignore: Vec<String>,
}

pub async fn run(store: &StoreArgs, output: Output, options: Options) -> anyhow::Result<ExitCode> {
    let recording = Recording::read(&options.file)?;
    let ignored = IgnoredFields::parse(&options.ignore).map_err(|reason| anyhow!("--ignore: {reason}"))?;
    let report = match (&options.server, &options.token_file) {
        (Some(url), Some(token_file)) => {
            let certificate = certificate_file::read(options.certificate.as_deref())?;
            let server = Upstream::new(url, certificate.as_deref());
            let server = server.map_err(|reason| anyhow!("--server: {reason}"))?;
            let token = secret_file::read("--token-file", token_file)?;
            replay(&recording, &server, &token, &ignored).await?
        }
        _ => replay_on_new_server(store, &recording, &ignored).await?,
    };
    if output.json {
        output.text(&serde_json::to_string_pretty(&report)?)?;
    } else {
        output.text(&report.to_text())?;
    }
    let summary = &report.summary;
    match (summary.different, summary.equal) {
        (1.., _) => Ok(ExitCode::from(EXIT_DIFFERENT)),
        (0, 1..) => Ok(ExitCode::SUCCESS),
        (0, 0) => bail!("no response can be compared"),
    }
}

/// Replays on a server that is removed afterward, even if a signal ends the command.
async fn replay_on_new_server(
    store: &StoreArgs,
    recording: &Recording,
    ignored: &IgnoredFields,
) -> anyhow::Result<Report> {
    let mut interruption = Interruption::listen()?;
    let server = TemporaryServer::start(store).await?;
    let upstream = Upstream::new(server.url(), None).map_err(|reason| anyhow!("{reason}"))?;
    let token = Secret::new(server.token().to_owned());
    let report = tokio::select! {
        report = replay(recording, &upstream, &token, ignored) => report,
        _ = interruption.wait() => Err(anyhow!("the replay was interrupted")),
    };
    server.stop().await;
    report
}
