//! `garth backup`: writes a store and its attachments to one archive.

use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::archive_file::{ArchiveArgs, ArchiveOutput, refuse_own_files};
use super::output::Output;
use super::progress::Bar;
use super::settings::Settings;
use super::stop_signals::Interruption;
use super::store_args::StoreArgs;
use super::{bucket_keys, serve};
use crate::backup::create::{Created, Origin, Source, create};
use crate::backup::format::{MissingFile, MissingReason};
use crate::backup::verify::verify_base;
use crate::files::Files;
use crate::store::Schema;

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    archive: ArchiveArgs,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// A server on the same machine takes precedence over a backup.
const NICENESS: i32 = 10;

/// An archive that was created.
#[derive(Serialize)]
struct BackupView {
    /// The identity, which an incremental archive names as its base.
    archive: String,
    file: String,
    bytes: u64,
    snapshot: String,
    schema: i64,
    engine: String,
    rows: u64,
    attachments: u64,
    attachment_bytes: u64,
    /// The number of attachments whose content only the base has.
    base_attachments: u64,
    missing: Vec<MissingFile>,
    /// Tables with values of the wrong type, which are archived as null.
    mistyped_tables: Vec<String>,
}

pub async fn run(args: &StoreArgs, output: Output, options: Options) -> anyhow::Result<ExitCode> {
    // Threads inherit the priority of the thread that starts them.
    let _ = rustix::process::nice(NICENESS);
    let settings = serve::merge_settings(args, Settings::from_environment()?)?;
    let data_folder = args
        .database(&settings)?
        .is_none()
        .then(|| args.folder(&settings));
    refuse_own_files(
        &options.archive.file,
        options.archive.base.as_deref(),
        data_folder.as_deref(),
    )?;
    let mut interruption = Interruption::listen()?;
    let destination = ArchiveOutput::open(&options.archive.file, options.force)?;
    let (is_pipe, discard) = (destination.is_pipe(), destination.discard());
    let base = match &options.archive.base {
        Some(path) => Some(File::open(path).with_context(|| format!("cannot open {}", path.display()))?),
        None => None,
    };
    let source = open_source(args)?;
    let bar = Arc::new(Bar::new());
    let progress = bar.clone();
    let creating = tokio::task::spawn_blocking(move || {
        let base = match base {
            Some(mut base) => Some(verify_base(&mut base, &*progress)?),
            None => None,
        };
        create(source, destination, base.as_ref(), progress)
    });
    let created = tokio::select! {
        created = creating => created,
        code = interruption.wait() => {
            bar.clear();
            // The thread that writes the archive ends with the process.
            discard.run();
            output.hint("backup stopped: nothing was written")?;
            std::process::exit(code);
        }
    };
    bar.clear();
    let Created {
        destination,
        identity,
        bytes,
        header,
        tables,
        mistyped,
        files,
    } = created??;
    destination.commit()?;
    let view = BackupView {
        archive: identity,
        file: options.archive.file.display().to_string(),
        bytes,
        snapshot: header.snapshot,
        schema: header.schema,
        engine: header.engine,
        rows: tables.iter().map(|table| table.rows).sum(),
        attachments: files.count,
        attachment_bytes: files.bytes,
        base_attachments: files.base_count,
        missing: files.missing,
        mistyped_tables: mistyped.into_iter().map(|(table, _)| table).collect(),
    };
    report(output, is_pipe, &view)
}

fn open_source(args: &StoreArgs) -> anyhow::Result<Source> {
    let opened = args.open_with(&Schema::as_stored())?;
    let settings = serve::merge_settings(args, Settings::from_environment()?)?;
    let keys = bucket_keys::read(&settings.attachments)?;
    let folder = args.folder(&settings);
    let origin = Origin {
        engine: if opened.folder().is_some() {
            "sqlite"
        } else {
            "postgres"
        },
        with_attachments: true,
    };
    let open_files = move || {
        Files::open_existing(settings.attachments.url.as_deref(), &folder, keys.as_ref())
            .context("cannot open the attachment storage")
    };
    Ok(Source {
        store: opened.store().clone(),
        origin,
        open_files: Box::new(open_files),
    })
}

/// Prints the result to standard output, or to standard error if standard output has the archive.
fn report(output: Output, is_pipe: bool, view: &BackupView) -> anyhow::Result<ExitCode> {
    let text = match output.json {
        true => serde_json::to_string_pretty(view)?,
        false => format!(
            "{} rows and {} attachments in {}, {} bytes, archive {}",
            view.rows,
            view.attachments + view.base_attachments,
            view.file,
            view.bytes,
            view.archive
        ),
    };
    match is_pipe {
        true => output.hint(&text)?,
        false => output.text(&text)?,
    }
    let mut code = ExitCode::SUCCESS;
    for file in &view.missing {
        let problem = match file.reason {
            MissingReason::Deleted => continue,
            MissingReason::Missing => "its file is missing",
            MissingReason::Damaged => "content differs from the hash",
        };
        code = ExitCode::FAILURE;
        output.hint(&format!(
            "attachment {} of ticket {} is not in the archive: {problem}",
            file.attachment, file.ticket
        ))?;
    }
    for table in &view.mistyped_tables {
        code = ExitCode::FAILURE;
        output.hint(&format!(
            "table {table} has values of the wrong type, which are archived as null: run `garth check`"
        ))?;
    }
    Ok(code)
}
