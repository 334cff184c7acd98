//! Files on their way in: on the local disk, without ever being held in memory whole.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;

use super::FilesError;
use crate::model::attachment::Content;
use crate::model::token::hex;

/// How much comes in before it is written: to another thread and back takes longer than to write a little.
const BLOCK: usize = 128 * 1024;

/// A file that is coming in. What has come is written and looked at by another thread while more does.
pub struct Spool {
    writing: JoinHandle<std::io::Result<Writer>>,
    path: Fleeting,
    size: u64,
    /// What is still to be written. It is copied: what comes from a connection keeps much more than itself alive.
    waiting: Vec<u8>,
}

struct Writer {
    file: std::fs::File,
    /// The piece that was written last, to be filled again.
    written: Vec<u8>,
    hash: Sha256,
    content: Content,
}

/// A file that has come in whole. It is gone when this is dropped.
#[derive(Debug)]
pub struct Spooled {
    path: Fleeting,
    pub size: u64,
    pub sha256: String,
    pub content: Content,
}

/// The path of a file that ends with its owner.
#[derive(Debug)]
struct Fleeting(PathBuf);

impl Drop for Fleeting {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Spool {
    pub(super) async fn begin(folder: &Path) -> Result<Self, FilesError> {
        let folder = folder.to_owned();
        let made = tokio::task::spawn_blocking(move || make_file(&folder)).await;
        let (file, path) = made
            .unwrap_or_else(|cause| Err(cause.into()))
            .map_err(|cause| FilesError::new("making a file in the spool", cause))?;
        let writer = Writer {
            file,
            written: Vec::with_capacity(BLOCK),
            hash: Sha256::new(),
            content: Content::default(),
        };
        Ok(Self {
            writing: tokio::task::spawn_blocking(|| Ok(writer)),
            path,
            size: 0,
            waiting: Vec::with_capacity(BLOCK),
        })
    }

    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), FilesError> {
        self.size += bytes.len() as u64;
        while !bytes.is_empty() {
            let (some, rest) = bytes.split_at(bytes.len().min(BLOCK - self.waiting.len()));
            self.waiting.extend_from_slice(some);
            bytes = rest;
            if self.waiting.len() == BLOCK {
                self.hand_over().await?;
            }
        }
        Ok(())
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub async fn finish(mut self) -> Result<Spooled, FilesError> {
        self.hand_over().await?;
        let writer = self.written().await?;
        Ok(Spooled {
            path: self.path,
            size: self.size,
            sha256: hex(&writer.hash.finalize()),
            content: writer.content,
        })
    }

    /// Has what waits written, once what was handed over before is.
    async fn hand_over(&mut self) -> Result<(), FilesError> {
        let mut writer = self.written().await?;
        let emptied = std::mem::take(&mut writer.written);
        let block = std::mem::replace(&mut self.waiting, emptied);
        self.writing = tokio::task::spawn_blocking(move || writer.take(block));
        Ok(())
    }

    async fn written(&mut self) -> Result<Writer, FilesError> {
        let written = (&mut self.writing).await;
        let written = written.unwrap_or_else(|cause| Err(cause.into()));
        written.map_err(|cause| FilesError::new("writing to the spool", cause))
    }
}

impl Writer {
    fn take(mut self, mut block: Vec<u8>) -> std::io::Result<Self> {
        self.hash.update(&block);
        self.content.see(&block);
        self.file.write_all(&block)?;
        block.clear();
        self.written = block;
        Ok(self)
    }
}

fn make_file(folder: &Path) -> std::io::Result<(std::fs::File, Fleeting)> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut how = std::fs::OpenOptions::new();
    how.write(true).create_new(true).mode(0o600);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}-{number}", std::process::id()));
        match how.open(&path) {
            Ok(file) => return Ok((file, Fleeting(path))),
            // Somebody else on this folder has the same number, on another machine perhaps.
            Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    }
}

impl Spooled {
    pub fn path(&self) -> &Path {
        &self.path.0
    }

    /// Makes the file durable and moves it, if it stays on the same disk; then there is nothing left to copy.
    pub(super) async fn move_to(&self, place: PathBuf) -> Result<bool, FilesError> {
        let here = self.path.0.clone();
        let moving = tokio::task::spawn_blocking(move || move_durably(&here, &place));
        let moved = moving.await.unwrap_or_else(|cause| Err(cause.into()));
        moved.map_err(|cause| FilesError::new("moving a file out of the spool", cause))
    }

    pub(super) async fn open(&self) -> Result<tokio::fs::File, FilesError> {
        let file = tokio::fs::File::open(&self.path.0).await;
        file.map_err(|cause| FilesError::new("reading the spool", cause))
    }
}

/// A name is durable when its folder is.
fn move_durably(here: &Path, place: &Path) -> std::io::Result<bool> {
    std::fs::File::open(here)?.sync_all()?;
    match std::fs::rename(here, place) {
        Ok(()) => {}
        Err(cause) if cause.kind() == std::io::ErrorKind::CrossesDevices => return Ok(false),
        Err(cause) => return Err(cause),
    }
    if let Some(folder) = place.parent() {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(true)
}
