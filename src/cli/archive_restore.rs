//! `garth restore` from a continuous archive (decision 0028).

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Serialize;

use super::output::Output;
use super::policy::policy_of;
use super::progress::Bar;
use super::restore::{Options, context, refuse_used};
use super::settings::Settings;
use super::store_args::StoreArgs;
use super::{bucket_keys, data_folder};
use crate::archiving::catalog;
use crate::archiving::format::precise;
use crate::archiving::restore::{Restore, Restored};
use crate::archiving::target::Target;
use crate::files::Files;
use crate::store::restore_target::TargetLocation;

/// A moment that was restored.
#[derive(Serialize)]
struct RestoredView {
    generation: String,
    /// The time of the last restored write.
    last_write: String,
    segments: u64,
    attachments: u64,
    /// The problems that --accept-findings accepted.
    findings: Vec<String>,
}

/// Whether a path names a continuous archive, and not a file of `garth backup`.
pub fn is_continuous(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().contains("://")
}

pub async fn run(
    args: &StoreArgs,
    settings: Settings,
    output: Output,
    options: Options,
) -> anyhow::Result<()> {
    let keys = bucket_keys::read(&settings.attachments)?;
    let url = options.archive.file.to_string_lossy().into_owned();
    let target = Target::open(&url, keys.as_ref()).context("cannot open the archive")?;
    if options.list {
        return list(output, &target).await;
    }
    if args.database(&settings)?.is_some() {
        bail!(
            "a continuous archive can be restored only into a folder: restore it with --data, then move the store with \
             `garth copy`"
        );
    }
    let folder = args.folder(&settings);
    let policy = policy_of(&settings)?;
    let _lock = data_folder::lock_for_restore(&folder)?;
    refuse_used(&TargetLocation::Folder(folder.clone()))?;
    let bar = Arc::new(Bar::new());
    let restore = Restore {
        target,
        at: options.at,
        data: folder.clone(),
        context: Box::new(move || context(&policy)),
        open_files: Box::new(move || {
            let url = settings.attachments.url.as_deref();
            Files::open_with(url, &folder, keys.as_ref()).context("cannot open the attachment storage")
        }),
        accept_findings: options.accept_findings,
        progress: bar.clone(),
    };
    let restored = restore.run().await;
    bar.clear();
    report(output, restored?)
}

async fn list(output: Output, target: &Target) -> anyhow::Result<()> {
    let generations = catalog::read(target).await?;
    let views: Vec<_> = generations.iter().map(|generation| generation.view()).collect();
    let header = ["GENERATION", "FROM", "TO", "SNAPSHOTS", "SEGMENTS", "MISSING"];
    output.many(&views, &header, |view| {
        vec![
            view.generation.clone(),
            view.from.clone(),
            view.to.clone(),
            view.snapshots.to_string(),
            view.last_segment.to_string(),
            view.missing_segment
                .map_or(String::new(), |order| order.to_string()),
        ]
    })
}

fn report(output: Output, restored: Restored) -> anyhow::Result<()> {
    let view = RestoredView {
        generation: restored.generation,
        last_write: precise(restored.last_commit),
        segments: restored.segments,
        attachments: restored.attachments,
        findings: restored
            .findings
            .iter()
            .map(|finding| format!("{}: {} {}", finding.invariant, finding.object, finding.problem))
            .collect(),
    };
    let message = format!(
        "restored the store as of its last write at {}, with {} attachments, from {} segments of generation {}",
        view.last_write, view.attachments, view.segments, view.generation
    );
    output.one(&view, &message)?;
    if !restored.with_attachments {
        output.hint(
            "The archive has no attachments, because they were in a bucket. Select it with --attachments.",
        )?;
    }
    for finding in &view.findings {
        output.hint(finding)?;
    }
    Ok(())
}
