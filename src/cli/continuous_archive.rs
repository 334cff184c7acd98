//! The continuous archive of a server: its settings, its start and its end.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::arguments::duration_seconds;
use super::settings::Settings;
use crate::archiving::archiver::{Archiver, Parts};
use crate::archiving::queue::Queue;
use crate::archiving::status;
use crate::archiving::target::{Target, folder_of};
use crate::files::{BucketKeys, Files, storage_folder};
use crate::store::log_archive::{ArchiveStart, LogCopier};
use crate::store::{Store, StoreContext};

const DEFAULT_RETENTION_SECONDS: i64 = 7 * 24 * 3600;

/// Valid settings of an archive.
pub struct ArchiveSettings {
    url: String,
    retention_seconds: i64,
    /// Whether the attachments are in a folder of this machine, so that they must be archived, too.
    has_local_attachments: bool,
}

impl ArchiveSettings {
    pub fn find(settings: &Settings, data: &Path, is_shared: bool) -> anyhow::Result<Option<Self>> {
        let retention = settings.archive_retention.as_deref().map(duration_seconds);
        let retention = retention
            .transpose()
            .map_err(|text| anyhow!("archive_retention: {text}"))?;
        let Some(url) = settings.archive.clone() else {
            return Ok(None);
        };
        ensure!(
            !is_shared,
            "archive (--archive): only for the embedded store. Archive a PostgreSQL database with its own tools, such as \
             pgBackRest or WAL-G (docs/operating.md, \"Archive PostgreSQL\")"
        );
        let is_bucket = url.starts_with("s3://");
        ensure!(
            is_bucket || folder_of(&url).is_some(),
            "archive (--archive): must be a folder or s3://bucket/prefix, not {url}"
        );
        if let Some(folder) = folder_of(&url) {
            let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            ensure!(
                !absolute(&folder).starts_with(absolute(data)),
                "archive (--archive): must be outside of the data folder, and better on another machine, not {url}"
            );
        }
        Ok(Some(Self {
            url,
            retention_seconds: retention.unwrap_or(DEFAULT_RETENTION_SECONDS),
            has_local_attachments: storage_folder(settings.attachments.url.as_deref(), data).is_some(),
        }))
    }

    /// Opens the archive and the store that it archives.
    pub fn open(
        self,
        data: &Path,
        context: StoreContext,
        keys: Option<&BucketKeys>,
    ) -> anyhow::Result<OpenArchive> {
        refuse_lost_folder(&self.url, data)?;
        let target = Target::create(&self.url, keys).context("cannot open the archive")?;
        let (queue, position) = Queue::open(data)?;
        let start = ArchiveStart {
            position,
            sink: Box::new(queue.clone()),
        };
        let opened = Store::open_archived(data, context, start);
        let (store, copier) =
            opened.with_context(|| format!("cannot open the store in {}", data.display()))?;
        Ok(OpenArchive {
            store,
            copier,
            queue,
            target: Arc::new(target),
            settings: self,
        })
    }
}

/// Refuses a missing folder if the store was archived before: the folder can be on a disk that is not mounted.
fn refuse_lost_folder(url: &str, data: &Path) -> anyhow::Result<()> {
    let lost = folder_of(url).filter(|folder| !folder.exists() && status::read(data).is_some());
    match lost {
        None => Ok(()),
        Some(folder) => bail!(
            "archive (--archive): {} does not exist, but this store was archived before: mount the disk, or create the \
             folder to begin a new archive",
            folder.display()
        ),
    }
}

pub struct OpenArchive {
    pub store: Store,
    copier: Arc<LogCopier>,
    queue: Queue,
    target: Arc<Target>,
    settings: ArchiveSettings,
}

impl OpenArchive {
    pub fn start(self, files: &Files, data: &Path) -> RunningArchive {
        let archiver = Archiver::new(Parts {
            target: self.target,
            queue: self.queue,
            copier: self.copier,
            store: self.store,
            files: self.settings.has_local_attachments.then(|| files.clone()),
            data: data.to_owned(),
            retention_seconds: self.settings.retention_seconds,
        });
        let (stop, stopping) = watch::channel(false);
        RunningArchive {
            stop,
            task: tokio::spawn(archiver.run(stopping)),
        }
    }
}

/// The archiver of a running server.
pub struct RunningArchive {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl RunningArchive {
    /// Archives the rest. The store is closed before.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}
