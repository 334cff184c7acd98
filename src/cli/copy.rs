//! `garth copy`: copies a store from one database engine to the other.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::{Context, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::data_folder::{self, FolderLock};
use super::output::Output;
use super::policy::policy_of;
use super::store_args::{StoreArgs, describe_error, open_shared};
use crate::rules::Error;
use crate::store::context::{Clock, RandomSource};
use crate::store::copy::{self, Part, TableChecksum};
use crate::store::{Database, Store, StoreContext, StoreError, WriteTx};

#[derive(Args)]
pub struct Options {
    /// Source store: a folder, or postgres://user@host/name
    #[arg(long, value_name = "FOLDER|URL", hide_env_values = true)]
    from: String,
    /// Destination store, which must have no accounts or users: a folder, or postgres://user@host/name
    #[arg(long, value_name = "FOLDER|URL", hide_env_values = true)]
    to: String,
}

pub async fn run(store: &StoreArgs, output: Output, options: Options) -> anyhow::Result<()> {
    let (source, _source_lock) = open(store, &options.from, true)?;
    let (destination, _destination_lock) = open(store, &options.to, false)?;
    if !destination.read(is_empty).await.map_err(describe_error)? {
        bail!("the destination already has accounts: choose a new folder or an empty database with --to");
    }
    let total = source.read(|tx| Ok::<_, Error>(copy::count(tx)?)).await;
    let bar = ProgressBar::new(total.map_err(describe_error)?);
    let style = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} rows, {msg}");
    bar.set_style(style.expect("the template is valid"));

    let (parts, received_parts) = sync_channel(4);
    let send = source.read_once(move |tx| Ok::<_, Error>(copy::send(tx, &parts)?));
    let receive = destination.write(receive(received_parts, bar.clone()));
    let (sent, received) = tokio::join!(send, receive);
    bar.finish_and_clear();
    // If the source fails, the destination only reports that the rows ended early. Report the source's error first.
    sent.map_err(describe_error).context("reading the source")?;
    let tables = received
        .map_err(describe_error)
        .context("writing to the destination, which is unchanged")?;
    destination.close().await?;

    let views: Vec<_> = tables
        .iter()
        .map(|(table, sum)| CopiedView {
            table,
            rows: sum.rows,
        })
        .collect();
    output.many(&views, &["TABLE", "ROWS"], |view| {
        vec![view.table.to_owned(), view.rows.to_string()]
    })?;
    let has_attachments = tables
        .iter()
        .any(|(table, sum)| *table == "attachment" && sum.rows > 0);
    match has_attachments {
        true => output.hint(
            "Attachment files are not part of the store and were not copied. Leave them where they are, or copy them \
             under the same names to a new location. Select the location with --attachments.",
        ),
        false => Ok(()),
    }
}

/// A table that was copied and verified.
#[derive(Serialize)]
struct CopiedView {
    table: &'static str,
    rows: u64,
}

/// Writes the received rows to the destination. If the database requires a retry, the copy fails, because the
/// rows can be received only once.
fn receive(
    parts: Receiver<Part>,
    bar: ProgressBar,
) -> impl FnMut(&mut WriteTx) -> Result<Vec<(&'static str, TableChecksum)>, Error> + Send {
    let mut parts = Some(parts);
    move |tx| {
        let conflict = || StoreError::Unavailable("another client is writing to the destination".to_owned());
        let parts = parts.take().ok_or_else(conflict)?;
        let tables = copy::receive(tx, &parts, |table, rows| {
            bar.set_message(table);
            bar.inc(rows as u64);
        });
        Ok(tables?)
    }
}

fn is_empty(tx: &mut crate::store::ReadTx) -> Result<bool, Error> {
    Ok(crate::rules::accounts::list(tx)?.is_empty() && crate::store::users::is_empty(tx)?)
}

/// Opens the source or the destination. A folder is locked, so that no server can use it. A database cannot
/// be locked, so the operator must stop its servers.
fn open(store: &StoreArgs, location: &str, must_exist: bool) -> anyhow::Result<(Store, Option<FolderLock>)> {
    let context = StoreContext {
        clock: Clock::System,
        random: RandomSource::System,
        policy: policy_of(&store.settings_file()?)?,
    };
    if location.contains("://") {
        return Ok((open_shared(&Database::at(location), context)?, None));
    }
    // A malformed database URL may contain a password, so it is not printed.
    ensure!(
        !location.contains('@') && !location.starts_with("postgres"),
        "--from and --to must be folders or URLs such as postgres://user@host/name"
    );
    let folder = PathBuf::from(location);
    if must_exist && !folder.join("garth.db").exists() {
        bail!("there is no store in {}", folder.display());
    }
    let lock = data_folder::lock(&folder)?;
    let store = Store::open_embedded(&folder, context)
        .with_context(|| format!("cannot open the store in {}", folder.display()))?;
    Ok((store, Some(lock)))
}
