//! Restores the store of a moment from a continuous archive into an empty data folder.
//!
//! The database is built and checked in the folder `restoring` of the data folder, and moved out of it at the end. After
//! a crash, the same restore can be started again.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use futures_util::stream::{self, StreamExt};
use sha2::{Digest, Sha256};

use super::attachments;
use super::catalog::{self, Generation};
use super::format::{SnapshotInfo, precise, segment_path, snapshot_path};
use super::segment::{self, SegmentHeader};
use super::target::Target;
use crate::backup::Progress;
use crate::files::Files;
use crate::model::time::Time;
use crate::model::token::hex;
use crate::rules::Error;
use crate::store::check::{self, Finding};
use crate::store::log_archive::FrameReplay;
use crate::store::{CheckDepth, Store, StoreContext};
use crate::uploads::check::check_files;

const FOLDER: &str = "restoring";
const DATABASE: &str = "garth.db";
const MAX_CONCURRENT_DOWNLOADS: usize = 16;

pub struct Restore {
    pub target: Target,
    /// The moment to restore, or the newest state.
    pub at: Option<Time>,
    /// The empty data folder.
    pub data: PathBuf,
    pub context: Box<dyn Fn() -> StoreContext + Send + Sync>,
    /// Opens the attachment storage, and creates its folders.
    pub open_files: Box<dyn Fn() -> anyhow::Result<Files> + Send + Sync>,
    pub accept_findings: bool,
    pub progress: Arc<dyn Progress>,
}

pub struct Restored {
    pub generation: String,
    /// The time of the last restored commit, or of the snapshot.
    pub last_commit: Time,
    pub segments: u64,
    pub attachments: u64,
    pub with_attachments: bool,
    pub findings: Vec<Finding>,
}

impl Restore {
    pub async fn run(self) -> anyhow::Result<Restored> {
        let generations = catalog::read(&self.target).await?;
        let (generation, snapshot) = catalog::choose(&generations, self.at)?;
        let folder = self.data.join(FOLDER);
        let files = (self.open_files)()?;
        if snapshot.with_attachments && !folder.exists() {
            refuse_used(&files).await?;
        }
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        match self.fill(&folder, generation, snapshot, &files).await {
            Ok(restored) => Ok(restored),
            Err(cause) => {
                // The database was not moved to its place, so that the data folder is still empty.
                if snapshot.with_attachments {
                    remove_files(&folder, &files, &self.context).await;
                }
                let _ = std::fs::remove_dir_all(&folder);
                Err(cause)
            }
        }
    }

    async fn fill(
        &self,
        folder: &Path,
        generation: &Generation,
        snapshot: &SnapshotInfo,
        files: &Files,
    ) -> anyhow::Result<Restored> {
        let database = folder.join(DATABASE);
        self.load_snapshot(snapshot, &database).await?;
        let (last_commit, segments) = self.replay(generation, snapshot, &database).await?;
        let store = Store::open_embedded(folder, (self.context)())?;
        let mut stored = 0;
        if snapshot.with_attachments {
            stored = self.load_files(&store, files).await?;
        }
        // A bucket also has the files of later attachments, which the check would report.
        let files_to_check = snapshot.with_attachments.then_some(files);
        let findings = self.check(&store, files_to_check).await?;
        if !findings.is_empty() && !self.accept_findings {
            bail!(describe(&findings));
        }
        store.close().await?;
        drop(store);
        std::fs::rename(&database, self.data.join(DATABASE)).context("cannot move the database")?;
        File::open(&self.data)?.sync_all()?;
        let _ = std::fs::remove_dir_all(folder);
        Ok(Restored {
            generation: generation.name.clone(),
            last_commit: last_commit.unwrap_or(snapshot.time()),
            segments,
            attachments: stored,
            with_attachments: snapshot.with_attachments,
            findings,
        })
    }

    async fn load_snapshot(&self, snapshot: &SnapshotInfo, database: &Path) -> anyhow::Result<()> {
        let path = snapshot_path(&snapshot.generation, &snapshot.file);
        self.progress.begin("reading the snapshot", snapshot.bytes);
        let mut chunks = self.target.read(&path).await?;
        let mut decoder = zstd::stream::write::Decoder::new(File::create(database)?)?;
        let mut hash = Sha256::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.with_context(|| format!("cannot read {path}"))?;
            hash.update(&chunk);
            decoder
                .write_all(&chunk)
                .with_context(|| format!("{path} is damaged"))?;
            self.progress.advance(chunk.len() as u64);
        }
        decoder.flush().with_context(|| format!("{path} is damaged"))?;
        let earlier = "restore an earlier time with --at, which uses an earlier snapshot";
        ensure!(
            hex(&hash.finalize()) == snapshot.sha256,
            "{path} is damaged: its content differs from its hash: {earlier}"
        );
        Ok(())
    }

    /// Writes the commits up to the time into the database. Returns the time of the last one, and the number of
    /// segments.
    async fn replay(
        &self,
        generation: &Generation,
        snapshot: &SnapshotInfo,
        database: &Path,
    ) -> anyhow::Result<(Option<Time>, u64)> {
        let until = self.at.unwrap_or(Time::from_micros(i64::MAX));
        let file = File::options().read(true).write(true).open(database)?;
        let mut replay = FrameReplay::new(file, until);
        let last = generation.last_segment;
        self.progress.begin(
            "replaying segments",
            last + 1 - snapshot.first_segment.min(last + 1),
        );
        let mut segments = stream::iter(snapshot.first_segment..=last)
            .map(|order| self.read_segment(&generation.name, order))
            .buffered(MAX_CONCURRENT_DOWNLOADS);
        let (mut previous, mut count): (Option<SegmentHeader>, _) = (None, 0);
        while let Some(read) = segments.next().await {
            let (header, frames) = match read {
                Ok(read) => read,
                Err(cause) => {
                    let last = restorable(snapshot, previous.as_ref(), &replay);
                    if self.at.is_some_and(|at| last >= Some(at)) {
                        break;
                    }
                    return Err(limit(cause, snapshot, previous.as_ref(), &replay));
                }
            };
            if previous
                .as_ref()
                .is_some_and(|previous| !header.follows(previous))
            {
                let cause = anyhow!("segment {} does not follow the previous one", header.order);
                return Err(limit(cause, snapshot, previous.as_ref(), &replay));
            }
            let commits = header.commit_times();
            let is_before = replay.write(header.page_size, header.first_frame, &frames, &commits);
            count += 1;
            self.progress.advance(1);
            if !is_before.context("cannot write the database")? {
                return Ok((replay.finish()?, count));
            }
            previous = Some(header);
        }
        if let (Some(missing), None) = (generation.missing_segment, self.at) {
            let cause = anyhow!("segment {missing} of generation {} is missing", generation.name);
            return Err(limit(cause, snapshot, previous.as_ref(), &replay));
        }
        Ok((replay.finish()?, count))
    }

    async fn read_segment(&self, generation: &str, order: u64) -> anyhow::Result<(SegmentHeader, Vec<u8>)> {
        let path = segment_path(generation, order);
        let name = || format!("segment {order} of generation {generation} ({path})");
        match self.target.get(&path).await? {
            None => bail!("{} is missing", name()),
            Some(bytes) => {
                segment::decode(&bytes, generation, order).with_context(|| format!("{} is damaged", name()))
            }
        }
    }

    async fn load_files(&self, store: &Store, files: &Files) -> anyhow::Result<u64> {
        let rows = all_attachments(store).await?;
        self.progress.begin("attachments", rows.len() as u64);
        for attachment in &rows {
            let restored = attachments::restore(attachment, &self.target, files).await;
            if let Err(cause) = restored {
                let text = format!("attachment {} of ticket {}", attachment.id.0, attachment.ticket.0);
                match self.accept_findings {
                    true => tracing::warn!(error = format!("{cause:#}"), "{text} not restored"),
                    false => return Err(cause.context(format!("{text} cannot be restored"))),
                }
            }
            self.progress.advance(1);
        }
        Ok(rows.len() as u64)
    }

    async fn check(&self, store: &Store, files: Option<&Files>) -> anyhow::Result<Vec<Finding>> {
        let invariants = check::invariants().count() as u64;
        self.progress.begin("checking the store", invariants);
        if let Some(problem) = store.check(CheckDepth::Full).await?.first() {
            bail!("the restored database is damaged: {problem}");
        }
        let progress = self.progress.clone();
        let checked = store.read_once(move |tx| {
            let findings = check::check_all(tx, |_| progress.advance(1));
            Ok::<_, Error>(findings?)
        });
        let failed = |cause: Error| anyhow!("the store cannot be checked: {cause}");
        let mut findings = checked.await.map_err(failed)?;
        // A restore can run without the settings of the server.
        findings.retain(|finding| !check::depends_on_settings(finding));
        if let Some(files) = files {
            findings.extend(check_files(store, files).await.map_err(failed)?);
        }
        Ok(findings)
    }
}

/// Adds the time up to which the archive can be restored.
fn limit(
    cause: anyhow::Error,
    snapshot: &SnapshotInfo,
    previous: Option<&SegmentHeader>,
    replay: &FrameReplay,
) -> anyhow::Error {
    let time = precise(snapshot.time());
    match restorable(snapshot, previous, replay) {
        None => anyhow!("{cause:#}. The snapshot of {time} needs it: restore a time before {time} with --at"),
        Some(last) => {
            let last = precise(last);
            anyhow!("{cause:#}. The archive can be restored up to {last}: run the restore with --at {last}")
        }
    }
}

/// The last moment that can be restored with the segments so far. `None` if the snapshot is not consistent yet.
fn restorable(
    snapshot: &SnapshotInfo,
    previous: Option<&SegmentHeader>,
    replay: &FrameReplay,
) -> Option<Time> {
    let order = previous.map_or(snapshot.first_segment.saturating_sub(1), |previous| {
        previous.order
    });
    let time = snapshot.time();
    (order >= snapshot.last_segment).then(|| replay.last_commit.map_or(time, |last| last.max(time)))
}

async fn all_attachments(store: &Store) -> anyhow::Result<Vec<crate::model::attachment::Attachment>> {
    let read = store.read_once(|tx| Ok::<_, Error>(crate::store::attachments::all(tx)?));
    read.await.map_err(|cause| anyhow!("the store failed: {cause}"))
}

async fn refuse_used(files: &Files) -> anyhow::Result<()> {
    let listed = files.list().await;
    let listed = listed.map_err(|cause| anyhow!("the attachment storage failed: {cause}"))?;
    match listed.first() {
        None => Ok(()),
        Some((key, _)) => bail!(
            "the attachment storage is not empty: it has {} files, such as {key}. Choose an empty storage with \
             GARTH_ATTACHMENTS_URL",
            listed.len()
        ),
    }
}

/// Removes the files of a failed restore. Their keys are in its database, if that can be opened.
async fn remove_files(folder: &Path, files: &Files, context: &(dyn Fn() -> StoreContext + Send + Sync)) {
    if !folder.join(DATABASE).exists() {
        return;
    }
    let Ok(store) = Store::open_embedded(folder, context()) else {
        return;
    };
    for attachment in all_attachments(&store).await.unwrap_or_default() {
        let _ = files.remove(&attachment.key).await;
    }
}

fn describe(findings: &[Finding]) -> String {
    const MAX_SHOWN: usize = 5;
    let shown = findings.iter().take(MAX_SHOWN);
    let shown: Vec<_> = shown
        .map(|finding| format!("{}: {} {}", finding.invariant, finding.object, finding.problem))
        .collect();
    format!(
        "the restored store has {} problems. --accept-findings restores it anyway. The first problems:\n{}",
        findings.len(),
        shown.join("\n")
    )
}
