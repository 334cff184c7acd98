//! `garth export`

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::account_choice::AccountChoice;
use super::output::Output;
use super::store_args::StoreArgs;
use crate::declared;

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    account: AccountChoice,
    /// Format of the document [default: yaml, or json with --json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

pub async fn run(store: &StoreArgs, output: Output, options: Options) -> anyhow::Result<()> {
    let store = store.open()?;
    let account = options.account.find(&store).await?;
    let exported = store.read(move |tx| declared::export(tx, account)).await;
    let document = exported.with_context(|| format!("account {account}"))?;
    let default = if output.json { Format::Json } else { Format::Yaml };
    let text = match options.format.unwrap_or(default) {
        Format::Yaml => declared::to_yaml(&serde_json::to_value(&document)?),
        Format::Json => serde_json::to_string_pretty(&document)? + "\n",
    };
    output.bytes(text.as_bytes())
}
