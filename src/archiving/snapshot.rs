//! Snapshots: a copy of the database file while it changes. A restore replays the segments from the beginning to the
//! end of the copy, which makes it consistent (decision 0028).

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, ensure};
use object_store::{MultipartUpload, PutPayload};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::format::{SnapshotInfo, VERSION, snapshot_path};
use super::queue::Queue;
use super::target::Target;
use crate::model::token::hex;
use crate::store::log_archive::LogCopier;

const COMPRESSION_LEVEL: i32 = 3;
const BUFFER_BYTES: usize = 1024 * 1024;

/// The parts of the archiver that a snapshot needs.
pub struct Snapshotter {
    pub target: Arc<Target>,
    pub queue: Queue,
    pub copier: Arc<LogCopier>,
    pub database: PathBuf,
    pub with_attachments: bool,
    /// The generation and the number of the last segment in the archive.
    pub shipped: watch::Receiver<(String, u64)>,
}

impl Snapshotter {
    /// Makes a snapshot. Returns when a restore can use it.
    pub async fn make(mut self) -> anyhow::Result<SnapshotInfo> {
        let (begin, _) = self.queue.state();
        let first_segment = begin.log_start.max(1);
        let file = format!("{first_segment:010}-{:010}.db.zst", begin.order);
        let path = snapshot_path(&begin.generation, &file);
        let upload = self.target.begin(&path).await?;
        let (database, part_bytes) = (self.database.clone(), self.target.part_bytes());
        let copying = tokio::task::spawn_blocking(move || copy(database, upload, part_bytes));
        let (sha256, bytes) = copying.await??;
        let copier = self.copier.clone();
        // Every page that the copy has read was committed before this time.
        let time = tokio::task::spawn_blocking(move || copier.copy()).await??;
        let (end, _) = self.queue.state();
        ensure!(
            end.generation == begin.generation,
            "a new generation began during the snapshot"
        );
        let is_shipped =
            |(generation, order): &(String, u64)| *generation != end.generation || *order >= end.order;
        let shipped = self
            .shipped
            .wait_for(is_shipped)
            .await
            .context("stopped")?
            .clone();
        ensure!(
            shipped.0 == end.generation,
            "a new generation began during the snapshot"
        );
        let info = SnapshotInfo {
            version: VERSION,
            garth: env!("CARGO_PKG_VERSION").to_owned(),
            generation: end.generation,
            first_segment,
            last_segment: end.order,
            time_micros: time.micros(),
            sha256,
            bytes,
            with_attachments: self.with_attachments,
            file,
        };
        let path = snapshot_path(&info.generation, &info.file.replace(".db.zst", ".json"));
        self.target.put_json(&path, &info).await?;
        Ok(info)
    }
}

/// Copies and compresses the database file. Returns the hash and the size of the compressed file.
fn copy(
    database: PathBuf,
    upload: Box<dyn MultipartUpload>,
    part_bytes: usize,
) -> anyhow::Result<(String, u64)> {
    let mut file = File::open(&database).with_context(|| format!("cannot open {}", database.display()))?;
    let parts = PartWriter {
        upload,
        part_bytes,
        buffer: Vec::new(),
        hash: Sha256::new(),
        bytes: 0,
    };
    let mut encoder = zstd::Encoder::new(parts, COMPRESSION_LEVEL)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = file.read(&mut buffer).context("cannot read the database file")?;
        if read == 0 {
            break;
        }
        encoder
            .write_all(&buffer[..read])
            .context("cannot write the snapshot")?;
    }
    let parts = encoder.finish().context("cannot write the snapshot")?;
    parts.finish().context("cannot write the snapshot")
}

/// Uploads the bytes that are written to it, and hashes them.
struct PartWriter {
    upload: Box<dyn MultipartUpload>,
    part_bytes: usize,
    buffer: Vec<u8>,
    hash: Sha256,
    bytes: u64,
}

impl PartWriter {
    fn send(&mut self) -> std::io::Result<()> {
        let part = PutPayload::from(std::mem::take(&mut self.buffer));
        let sent = Handle::current().block_on(self.upload.put_part(part));
        sent.map_err(std::io::Error::other)
    }

    fn finish(mut self) -> std::io::Result<(String, u64)> {
        if !self.buffer.is_empty() {
            self.send()?;
        }
        let completed = Handle::current().block_on(self.upload.complete());
        completed.map_err(std::io::Error::other)?;
        Ok((hex(&self.hash.finalize()), self.bytes))
    }
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.part_bytes {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
