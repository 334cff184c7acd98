//! The spool for uploads. It is on the local disk, so that the server never holds a whole file in memory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::error::FilesError;
use crate::model::attachment::Content;
use crate::model::token::hex;

/// A file that is being received.
pub struct Spool {
    file: File,
    path: TemporaryPath,
    hash: Sha256,
    size: u64,
    content: Content,
}

/// A received file. It is deleted on drop.
#[derive(Debug)]
pub struct Spooled {
    path: TemporaryPath,
    pub size: u64,
    pub sha256: String,
    pub content: Content,
}

/// A path whose file is deleted on drop.
#[derive(Debug)]
struct TemporaryPath(PathBuf);

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Spool {
    pub(super) async fn begin(folder: &Path) -> Result<Self, FilesError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut options = tokio::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let (file, path) = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            match options.open(&path).await {
                Ok(file) => break (file, TemporaryPath(path)),
                // A process with the same ID, possibly on another machine, has created this file in the same
                // folder.
                Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(FilesError::new("creating a file in the spool", cause)),
            }
        };
        Ok(Self {
            file,
            path,
            hash: Sha256::new(),
            size: 0,
            content: Content::default(),
        })
    }

    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        self.hash.update(bytes);
        self.content.update(bytes);
        self.size += bytes.len() as u64;
        let written = self.file.write_all(bytes).await;
        written.map_err(|cause| FilesError::new("writing to the spool", cause))
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub async fn finish(mut self) -> Result<Spooled, FilesError> {
        let flushed = self.file.flush().await;
        flushed.map_err(|cause| FilesError::new("writing to the spool", cause))?;
        Ok(Spooled {
            path: self.path,
            size: self.size,
            sha256: hex(&self.hash.finalize()),
            content: self.content,
        })
    }
}

impl Spooled {
    pub fn path(&self) -> &Path {
        &self.path.0
    }

    /// Syncs the file and moves it to `target` without copying it. Returns false if `target` is on another
    /// disk.
    pub(super) async fn move_to(&self, target: PathBuf) -> Result<bool, FilesError> {
        let source = self.path.0.clone();
        let moving = tokio::task::spawn_blocking(move || move_durably(&source, &target));
        let moved = moving.await.unwrap_or_else(|cause| Err(cause.into()));
        moved.map_err(|cause| FilesError::new("moving a file out of the spool", cause))
    }

    pub(super) async fn open(&self) -> Result<File, FilesError> {
        let file = File::open(&self.path.0).await;
        file.map_err(|cause| FilesError::new("reading the spool", cause))
    }
}

/// Syncs a file, moves it, and syncs the target folder. A rename is durable only after the sync of the
/// folder. Returns false if the target is on another disk.
fn move_durably(source: &Path, target: &Path) -> std::io::Result<bool> {
    std::fs::File::open(source)?.sync_all()?;
    match std::fs::rename(source, target) {
        Ok(()) => {}
        Err(cause) if cause.kind() == std::io::ErrorKind::CrossesDevices => return Ok(false),
        Err(cause) => return Err(cause),
    }
    if let Some(folder) = target.parent() {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(true)
}
