//! `garth copy`: a whole store from one engine to the other.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::{Context, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::data_folder::{self, FolderLock};
use super::output::Output;
use super::place::{Place, in_words, open_shared};
use super::policy::policy_of;
use crate::rules::Error;
use crate::store::context::{Clock, RandomSource};
use crate::store::copy::{self, Part, Sum};
use crate::store::{Database, Store, StoreContext, StoreError, WriteTx};

#[derive(Args)]
pub struct Copy {
    /// The store to copy: a folder, or postgres://user@host/name
    #[arg(long, value_name = "FOLDER|URL", hide_env_values = true)]
    from: String,
    /// The store to fill, in which there must be nobody yet: a folder, or postgres://user@host/name
    #[arg(long, value_name = "FOLDER|URL", hide_env_values = true)]
    to: String,
}

pub async fn run(place: &Place, output: Output, wish: Copy) -> anyhow::Result<()> {
    let (source, _source_lock) = open(place, &wish.from, true)?;
    let (target, _target_lock) = open(place, &wish.to, false)?;
    if !target.read(is_unused).await.map_err(in_words)? {
        bail!("there are accounts in the target already: copy into a new one");
    }
    let all = source.read(|tx| Ok::<_, Error>(copy::count(tx)?)).await;
    let bar = ProgressBar::new(all.map_err(in_words)?);
    let style = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} rows, {msg}");
    bar.set_style(style.expect("the template is right"));

    let (parts, arriving) = sync_channel(4);
    let sending = source.read_once(move |tx| Ok::<_, Error>(copy::send(tx, &parts)?));
    let receiving = target.write(receive(arriving, bar.clone()));
    let (sent, received) = tokio::join!(sending, receiving);
    bar.finish_and_clear();
    // If the source failed, the target could only say that it ended too soon.
    sent.map_err(in_words).context("reading the source")?;
    let tables = received
        .map_err(in_words)
        .context("filling the target; it is as it was before")?;
    target.close().await?;

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
    let files = tables
        .iter()
        .any(|(table, sum)| *table == "attachment" && sum.rows > 0);
    match files {
        true => output.aside(
            "The files of attachments are not in the store and were not copied: keep them where they are, or copy \
             them under the same names to where --attachments will point.",
        ),
        false => Ok(()),
    }
}

/// What was copied, read back and compared.
#[derive(Serialize)]
struct CopiedView {
    table: &'static str,
    rows: u64,
}

/// The work that fills the target. The database may ask for it to be run again, but the rows come only once.
fn receive(
    arriving: Receiver<Part>,
    bar: ProgressBar,
) -> impl FnMut(&mut WriteTx) -> Result<Vec<(&'static str, Sum)>, Error> + Send {
    let mut arriving = Some(arriving);
    move |tx| {
        let again = || StoreError::Unavailable("somebody else writes to the target".to_owned());
        let arriving = arriving.take().ok_or_else(again)?;
        let told = copy::receive(tx, &arriving, |table, rows| {
            bar.set_message(table);
            bar.inc(rows as u64);
        });
        Ok(told?)
    }
}

fn is_unused(tx: &mut crate::store::ReadTx) -> Result<bool, Error> {
    Ok(crate::rules::accounts::list(tx)?.is_empty() && crate::store::users::is_empty(tx)?)
}

/// Opens either end. Nobody may serve from a folder meanwhile; for a database whoever copies has to see to that.
fn open(place: &Place, at: &str, must_be_there: bool) -> anyhow::Result<(Store, Option<FolderLock>)> {
    let context = StoreContext {
        clock: Clock::System,
        random: RandomSource::System,
        policy: policy_of(&place.file()?)?,
    };
    if at.contains("://") {
        return Ok((open_shared(&Database::at(at), context)?, None));
    }
    // What looks like the URL of a database, but is none, may have a password in it.
    ensure!(
        !at.contains('@') && !at.starts_with("postgres"),
        "--from and --to are folders, or URLs like postgres://user@host/name"
    );
    let folder = PathBuf::from(at);
    if must_be_there && !folder.join("garth.db").exists() {
        bail!("there is no store in {}", folder.display());
    }
    let lock = data_folder::lock(&folder)?;
    let store = Store::open_embedded(&folder, context)
        .with_context(|| format!("opening the store in {}", folder.display()))?;
    Ok((store, Some(lock)))
}
