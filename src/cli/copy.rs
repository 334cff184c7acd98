//! `garth copy`: copies a store from one database engine to the other, as a backup and a restore without attachments.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::Serialize;

use super::data_folder::{self, FolderLock};
use super::output::Output;
use super::policy::policy_of;
use super::progress::Bar;
use super::restore::context;
use super::store_args::StoreArgs;
use crate::backup::create::{Destination, Origin, Source, create};
use crate::backup::format::TableSummary;
use crate::backup::restore::Restore;
use crate::backup::temporary;
use crate::model::policy::Policy;
use crate::store::restore_target::TargetLocation;
use crate::store::unfinished_restore::TargetState;
use crate::store::{Database, Schema, Store};

#[derive(Args)]
pub struct Options {
    /// Source store: a folder, or postgres://user@host/name
    #[arg(long, value_name = "FOLDER|URL", hide_env_values = true)]
    from: String,
    /// Destination store, which must be empty: a folder, or postgres://user@host/name
    #[arg(long, value_name = "FOLDER|URL", hide_env_values = true)]
    to: String,
}

/// A table that was copied and verified.
#[derive(Serialize)]
struct CopiedView {
    table: String,
    rows: u64,
}

pub async fn run(store: &StoreArgs, output: Output, options: Options) -> anyhow::Result<()> {
    let policy = policy_of(&store.settings_file()?)?;
    let (from, to) = (location(&options.from)?, location(&options.to)?);
    refuse_same(&options, &from, &to)?;
    let (source, _source_lock) = open_source(&from, &policy)?;
    let _lock = match &to {
        TargetLocation::Folder(folder) => Some(data_folder::lock(folder)?),
        TargetLocation::Database(_) => None,
    };
    if let TargetState::InUse(content) = to.state()? {
        bail!(
            "the destination already has accounts or other content ({content}): choose a new folder or an empty database \
             with --to"
        );
    }
    let bar = Arc::new(Bar::new());
    let progress = bar.clone();
    let copying = tokio::task::spawn_blocking(move || {
        let archive = create(source, CopyFile(temporary::file()?), None, progress.clone())
            .context("reading the source")?;
        let restore = Restore {
            archive: archive.destination.0,
            base: None,
            target: to,
            schema: Schema::current(),
            context: Box::new(move || context(&policy)),
            open_files: Box::new(|| bail!("a copy has no files")),
            accept_findings: true,
            progress,
        };
        restore.run().context("writing to the destination")
    });
    let copied = copying.await;
    bar.clear();
    print_tables(output, copied??.contents.manifest.tables)
}

/// Refuses a copy of a store to itself.
fn refuse_same(options: &Options, from: &TargetLocation, to: &TargetLocation) -> anyhow::Result<()> {
    let is_same = match (from, to) {
        (TargetLocation::Folder(from), TargetLocation::Folder(to)) => {
            from == to
                || from
                    .canonicalize()
                    .is_ok_and(|from| to.canonicalize().is_ok_and(|to| from == to))
        }
        _ => options.from == options.to,
    };
    ensure!(
        !is_same,
        "--from and --to name the same store: choose another one with --to"
    );
    Ok(())
}

fn print_tables(output: Output, tables: Vec<TableSummary>) -> anyhow::Result<()> {
    let view = |table: TableSummary| CopiedView {
        table: table.name,
        rows: table.rows,
    };
    let views: Vec<_> = tables.into_iter().map(view).collect();
    output.many(&views, &["TABLE", "ROWS"], |view| {
        vec![view.table.clone(), view.rows.to_string()]
    })?;
    match views.iter().any(|view| view.table == "attachment" && view.rows > 0) {
        true => output.hint(
            "Attachment files are not part of the store and were not copied. Leave them where they are, or copy them \
             under the same names to a new location. Select the location with --attachments.",
        ),
        false => Ok(()),
    }
}

/// The temporary file between the backup and the restore.
struct CopyFile(File);

impl Write for CopyFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Destination for CopyFile {}

fn location(given: &str) -> anyhow::Result<TargetLocation> {
    if given.contains("://") {
        return Ok(TargetLocation::Database(Box::new(Database::at(given))));
    }
    // A malformed database URL may contain a password, so it is not printed.
    ensure!(
        !given.contains('@') && !given.starts_with("postgres"),
        "--from and --to must be folders or URLs such as postgres://user@host/name"
    );
    Ok(TargetLocation::Folder(PathBuf::from(given)))
}

/// Opens the source. A folder is locked, so that no server changes it after the copy. A database cannot be locked, so
/// the operator must stop its servers.
fn open_source(from: &TargetLocation, policy: &Policy) -> anyhow::Result<(Source, Option<FolderLock>)> {
    let schema = Schema::as_stored();
    let (store, lock, engine) = match from {
        TargetLocation::Database(database) => {
            let opened = Store::open_shared_with(database, &schema, context(policy));
            let store = opened.with_context(|| format!("cannot open the store at {}", database.shown()))?;
            (store, None, "postgres")
        }
        TargetLocation::Folder(folder) => {
            ensure!(
                folder.join("garth.db").exists(),
                "there is no store in {}",
                folder.display()
            );
            let lock = data_folder::lock(folder)?;
            let store = Store::open_embedded_with(folder, &schema, context(policy))
                .with_context(|| format!("cannot open the store in {}", folder.display()))?;
            (store, Some(lock), "sqlite")
        }
    };
    let source = Source {
        store,
        origin: Origin {
            engine,
            with_attachments: false,
        },
        open_files: Box::new(|| bail!("a copy has no files")),
    };
    Ok((source, lock))
}
