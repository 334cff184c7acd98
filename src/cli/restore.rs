//! `garth restore`: restores an archive into an empty store.

use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use super::archive_file::{ArchiveArgs, PIPE, open_input};
use super::output::Output;
use super::policy::policy_of;
use super::progress::Bar;
use super::settings::Settings;
use super::store_args::StoreArgs;
use super::{archive_restore, bucket_keys, data_folder, serve};
use crate::backup::format::MissingFile;
use crate::backup::restore::{Restore, Restored};
use crate::files::Files;
use crate::model::policy::Policy;
use crate::model::time::Time;
use crate::store::context::{Clock, RandomSource};
use crate::store::restore_target::TargetLocation;
use crate::store::unfinished_restore::TargetState;
use crate::store::{Schema, StoreContext};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pub archive: ArchiveArgs,
    /// Moment of a continuous archive to restore, in UTC, such as 2026-11-16T20:00:00 [default: the newest]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub at: Option<Time>,
    /// List the times that a continuous archive covers, and restore nothing
    #[arg(long, conflicts_with = "at")]
    pub list: bool,
    /// Restore a store in which the final check finds problems, instead of refusing it
    #[arg(long)]
    pub accept_findings: bool,
}

fn time(raw: &str) -> Result<Time, String> {
    Time::parse(raw).ok_or_else(|| "must be a time in UTC, such as 2026-11-16T20:00:00".to_owned())
}

/// A store that was restored.
#[derive(Serialize)]
struct RestoreView {
    /// The identity of the archive.
    archive: String,
    snapshot: String,
    rows: u64,
    attachments: u64,
    /// Attachments whose files were already missing in the backup.
    missing: Vec<MissingFile>,
    /// The problems that --accept-findings accepted.
    findings: Vec<String>,
}

pub async fn run(args: &StoreArgs, output: Output, options: Options) -> anyhow::Result<()> {
    let settings = serve::merge_settings(args, Settings::from_environment()?)?;
    if archive_restore::is_continuous(&options.archive.file) {
        return archive_restore::run(args, settings, output, options).await;
    }
    let file = &options.archive.file;
    ensure!(
        file.as_os_str() == PIPE || file.exists(),
        "{} does not exist",
        file.display()
    );
    ensure!(
        options.at.is_none() && !options.list,
        "--at and --list need a continuous archive, which is a folder or an s3:// URL: {} is neither",
        file.display()
    );
    let policy = policy_of(&settings)?;
    let keys = bucket_keys::read(&settings.attachments)?;
    let folder = args.folder(&settings);
    let (target, _lock) = match args.database(&settings)? {
        Some(database) => (TargetLocation::Database(Box::new(database)), None),
        None => (
            TargetLocation::Folder(folder.clone()),
            Some(data_folder::lock_for_restore(&folder)?),
        ),
    };
    refuse_used(&target)?;
    let archive = open_input(&options.archive.file)?;
    let base = options.archive.base.as_deref().map(open_input).transpose()?;
    let bar = Arc::new(Bar::new());
    let restore = Restore {
        archive,
        base,
        target,
        schema: Schema::current(),
        context: Box::new(move || context(&policy)),
        open_files: Box::new(move || {
            let url = settings.attachments.url.as_deref();
            Files::open_with(url, &folder, keys.as_ref()).context("cannot open the attachment storage")
        }),
        accept_findings: options.accept_findings,
        progress: bar.clone(),
    };
    let restored = tokio::task::spawn_blocking(move || restore.run()).await;
    bar.clear();
    report(output, restored??)
}

/// Refuses a target that is not empty, before the archive is read.
pub fn refuse_used(target: &TargetLocation) -> anyhow::Result<()> {
    match target.state()? {
        TargetState::Unfinished(_) => {}
        state => drop(state.check("")?),
    }
    match target {
        TargetLocation::Folder(folder) => data_folder::refuse_other_files(folder),
        TargetLocation::Database(_) => Ok(()),
    }
}

pub fn context(policy: &Policy) -> StoreContext {
    StoreContext {
        clock: Clock::System,
        random: RandomSource::System,
        policy: policy.clone().into(),
    }
}

fn report(output: Output, restored: Restored) -> anyhow::Result<()> {
    let Restored {
        contents,
        files,
        findings,
    } = restored;
    let view = RestoreView {
        archive: contents.identity,
        snapshot: contents.header.snapshot,
        rows: contents.manifest.tables.iter().map(|table| table.rows).sum(),
        attachments: files,
        missing: contents.manifest.missing,
        findings: findings
            .iter()
            .map(|finding| format!("{}: {} {}", finding.invariant, finding.object, finding.problem))
            .collect(),
    };
    let message = format!(
        "restored {} rows and {} attachments, as of {}",
        view.rows, view.attachments, view.snapshot
    );
    output.one(&view, &message)?;
    for file in &view.missing {
        output.hint(&format!(
            "attachment {} of ticket {} has no file: it was not in the backup",
            file.attachment, file.ticket
        ))?;
    }
    for finding in &view.findings {
        output.hint(finding)?;
    }
    Ok(())
}
