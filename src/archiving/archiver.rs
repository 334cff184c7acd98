//! The archiver of a running server: cuts and uploads segments, and makes snapshots.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use metrics::{counter, gauge};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::attachments::ArchivedFiles;
use super::format::{Heartbeat, VERSION, heartbeat_path, segment_path};
use super::init;
use super::queue::{Pending, Queue};
use super::retention;
use super::snapshot::Snapshotter;
use super::status::Status;
use super::target::{Target, Written};
use crate::files::Files;
use crate::model::time::Time;
use crate::store::Store;
use crate::store::log_archive::LogCopier;

/// The time from the beginning of a segment to that of the next one.
const CUT_INTERVAL: Duration = Duration::from_millis(250);
/// The minimum pause between two segments.
const MIN_PAUSE: Duration = Duration::from_millis(50);
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
const HEARTBEAT_INTERVAL_SECONDS: i64 = 30;
const SNAPSHOT_RETRY_SECONDS: i64 = 10;
/// The maximum time between two snapshots, if there are changes.
const SNAPSHOT_INTERVAL_SECONDS: i64 = 24 * 3600;
/// A snapshot is due when the segments since the last one are larger than this, and larger than the database.
const SNAPSHOT_MIN_BYTES: u64 = 256 * 1024 * 1024;
const MAX_CONCURRENT_UPLOADS: usize = 8;
/// When the server stops, it waits at most this long for the last upload.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// What an archiver needs from its server.
pub struct Parts {
    pub target: Arc<Target>,
    pub queue: Queue,
    pub copier: Arc<LogCopier>,
    pub store: Store,
    /// The attachment storage. `None` if it is a bucket, which the archive does not copy.
    pub files: Option<Files>,
    pub data: PathBuf,
    pub retention_seconds: i64,
}

pub struct Archiver {
    parts: Parts,
    status: Arc<Status>,
    /// The files in the archive. `None` until the archive was examined.
    archived_files: Option<ArchivedFiles>,
    shipped: watch::Sender<(String, u64)>,
    snapshot: SnapshotState,
    last_heartbeat: Time,
    is_failing: bool,
    /// The generation that has a complete snapshot.
    restorable: Option<String>,
}

#[derive(Default)]
struct SnapshotState {
    running: Option<JoinHandle<anyhow::Result<String>>>,
    /// The generation, the last segment and the time of the last snapshot.
    last: Option<(String, u64, Time)>,
    /// The size of all segments at the last snapshot.
    frame_bytes: u64,
    next_attempt: Option<Time>,
}

impl Archiver {
    pub fn new(parts: Parts) -> Self {
        let status = Arc::new(Status::new(&parts.data, parts.store.context().clock.now()));
        Self {
            parts,
            status,
            archived_files: None,
            shipped: watch::Sender::new((String::new(), 0)),
            snapshot: SnapshotState::default(),
            last_heartbeat: Time::from_micros(0),
            is_failing: false,
            restorable: None,
        }
    }

    /// Archives until `stop` becomes true, and then the rest.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let publishing = tokio::spawn(publish(self.status.clone(), self.parts.store.clone()));
        loop {
            let started = Instant::now();
            self.run_round().await;
            let wait = match self.is_failing {
                true => RETRY_INTERVAL,
                false => CUT_INTERVAL.saturating_sub(started.elapsed()).max(MIN_PAUSE),
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        if let Some(running) = self.snapshot.running.take() {
            running.abort();
        }
        publishing.abort();
        self.last_heartbeat = Time::from_micros(0);
        if tokio::time::timeout(STOP_TIMEOUT, self.run_round())
            .await
            .is_err()
        {
            tracing::warn!("archive upload not finished, continues after the next start");
        }
        self.status.write_file();
    }

    async fn run_round(&mut self) {
        match self.archive().await {
            Ok(until) => {
                self.is_failing = false;
                // Without a snapshot, segments cannot be restored.
                if self.restorable.as_ref() == Some(&self.parts.queue.state().0.generation) {
                    self.status.succeeded(until);
                }
                self.manage_snapshots().await;
            }
            Err(cause) => {
                self.is_failing = true;
                self.status.failed(&cause, self.pending_bytes());
            }
        }
        gauge!("garth_archive_pending_bytes").set(self.pending_bytes() as f64);
    }

    /// Uploads everything. Returns the time before which the archive has all commits.
    async fn archive(&mut self) -> anyhow::Result<Time> {
        if self.archived_files.is_none() {
            self.examine().await?;
        }
        // While the archive is unreachable, only checkpoints cut segments, so that there are few large ones.
        if self.is_failing {
            self.upload().await?;
        }
        let copier = self.parts.copier.clone();
        let until = tokio::task::spawn_blocking(move || copier.copy()).await??;
        self.upload().await?;
        if until >= self.last_heartbeat.plus_seconds(HEARTBEAT_INTERVAL_SECONDS) {
            self.write_heartbeat(until).await?;
        }
        Ok(until)
    }

    /// Compares the queue with the archive. A missing segment cannot be replaced, so a generation begins.
    async fn examine(&mut self) -> anyhow::Result<()> {
        let Parts { target, queue, .. } = &self.parts;
        let found = init::examine(target, queue).await?;
        if found.has_gap {
            tracing::warn!("archive has lost a segment, archive begins a new generation");
            let copier = self.parts.copier.clone();
            tokio::task::spawn_blocking(move || copier.begin_generation()).await??;
        } else {
            let generation = queue.state().0.generation;
            self.shipped.send_replace((generation.clone(), found.shipped));
            if let Some(info) = found.last_snapshot {
                self.restorable = Some(generation.clone());
                self.snapshot.last = Some((generation, info.last_segment, info.time()));
            }
        }
        self.archived_files = Some(match &self.parts.files {
            Some(_) => ArchivedFiles::list(target).await?,
            None => ArchivedFiles::default(),
        });
        Ok(())
    }

    /// Uploads the queued segments, after the attachments that they refer to.
    async fn upload(&mut self) -> anyhow::Result<()> {
        let pending = self.parts.queue.pending().context("cannot read the queue")?;
        if pending.is_empty() {
            return Ok(());
        }
        let Parts { target, store, .. } = &self.parts;
        if let (Some(files), Some(archived)) = (&self.parts.files, &mut self.archived_files) {
            let bytes = archived.copy_new(store, files, target).await?;
            counter!("garth_archive_bytes_total").increment(bytes);
        }
        let mut uploads = stream::iter(pending)
            .map(|pending| upload_segment(target, pending))
            .buffered(MAX_CONCURRENT_UPLOADS);
        while let Some(uploaded) = uploads.try_next().await? {
            let shipped = (uploaded.generation, uploaded.order);
            std::fs::remove_file(&uploaded.path).context("cannot delete an uploaded segment")?;
            self.shipped.send_replace(shipped);
        }
        Ok(())
    }

    async fn write_heartbeat(&mut self, until: Time) -> anyhow::Result<()> {
        let (generation, last_segment) = self.shipped.borrow().clone();
        let (state, _) = self.parts.queue.state();
        if generation != state.generation && state.order > 0 {
            return Ok(());
        }
        let heartbeat = Heartbeat {
            version: VERSION,
            last_segment: if generation == state.generation {
                last_segment
            } else {
                0
            },
            time_micros: until.micros(),
        };
        let path = heartbeat_path(&state.generation);
        self.parts.target.put_json(&path, &heartbeat).await?;
        self.last_heartbeat = until;
        self.status.write_file();
        Ok(())
    }

    /// Ends a complete snapshot, and starts one if it is due.
    async fn manage_snapshots(&mut self) {
        let now = self.parts.store.context().clock.now();
        if let Some(running) = self.snapshot.running.take_if(|running| running.is_finished()) {
            match running.await.map_err(anyhow::Error::from).flatten() {
                Ok(generation) => self.restorable = Some(generation),
                Err(cause) => {
                    counter!("garth_archive_failures_total").increment(1);
                    tracing::error!(
                        error = format!("{cause:#}"),
                        "archive snapshot failed, will be retried"
                    );
                    self.snapshot.last = None;
                    self.snapshot.next_attempt = Some(now.plus_seconds(SNAPSHOT_RETRY_SECONDS));
                }
            }
        }
        let is_waiting = self.snapshot.next_attempt.is_some_and(|next| now < next);
        if self.snapshot.running.is_some() || is_waiting || !self.is_snapshot_due(now) {
            return;
        }
        let (state, frame_bytes) = self.parts.queue.state();
        // A generation without segments has its first number in the archive.
        self.shipped.send_if_modified(|shipped| {
            let is_new = shipped.0 != state.generation && state.order == 0;
            if is_new {
                *shipped = (state.generation.clone(), 0);
            }
            is_new
        });
        self.snapshot.last = Some((state.generation, state.order, now));
        self.snapshot.frame_bytes = frame_bytes;
        let cutoff = now.plus_seconds(-self.parts.retention_seconds);
        self.snapshot.running = Some(tokio::spawn(make_snapshot(self.snapshotter(), cutoff)));
    }

    fn is_snapshot_due(&self, now: Time) -> bool {
        let (state, frame_bytes) = self.parts.queue.state();
        let Some((generation, order, time)) = &self.snapshot.last else {
            return true;
        };
        if *generation != state.generation {
            return true;
        }
        let interval = SNAPSHOT_INTERVAL_SECONDS.min(self.parts.retention_seconds);
        let database_bytes = std::fs::metadata(self.database()).map_or(0, |file| file.len());
        let new_bytes = frame_bytes.saturating_sub(self.snapshot.frame_bytes);
        state.order > *order
            && (now >= time.plus_seconds(interval) || new_bytes >= database_bytes.max(SNAPSHOT_MIN_BYTES))
    }

    fn snapshotter(&self) -> Snapshotter {
        Snapshotter {
            target: self.parts.target.clone(),
            queue: self.parts.queue.clone(),
            copier: self.parts.copier.clone(),
            database: self.database(),
            with_attachments: self.parts.files.is_some(),
            shipped: self.shipped.subscribe(),
        }
    }

    fn database(&self) -> PathBuf {
        self.parts.data.join("garth.db")
    }

    fn pending_bytes(&self) -> u64 {
        let pending = self.parts.queue.pending().unwrap_or_default();
        let size = |pending: &Pending| std::fs::metadata(&pending.path).map_or(0, |file| file.len());
        pending.iter().map(size).sum()
    }
}

async fn upload_segment(target: &Target, pending: Pending) -> anyhow::Result<Pending> {
    let bytes = tokio::fs::read(&pending.path).await;
    let bytes = bytes.context("cannot read a queued segment")?;
    let size = bytes.len() as u64;
    let path = segment_path(&pending.generation, pending.order);
    match target.put_new(&path, bytes.into()).await? {
        Written::Stored => {
            counter!("garth_archive_bytes_total").increment(size);
            Ok(pending)
        }
        Written::Conflict => bail!("{path} exists with other content: another server uses the same archive"),
    }
}

/// Makes a snapshot and applies the retention. Returns the generation.
async fn make_snapshot(snapshotter: Snapshotter, cutoff: Time) -> anyhow::Result<String> {
    let target = snapshotter.target.clone();
    let info = snapshotter.make().await?;
    counter!("garth_archive_bytes_total").increment(info.bytes);
    let deleted = retention::apply(&target, cutoff).await?;
    tracing::info!(
        generation = %info.generation,
        segment = info.last_segment,
        bytes = info.bytes,
        deleted,
        "archive snapshot complete"
    );
    Ok(info.generation)
}

/// Updates the lag each second, also while an upload hangs.
async fn publish(status: Arc<Status>, store: Store) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        status.publish(store.context().clock.now());
    }
}
