//! Storage for the bytes of attachments: a folder, or an S3 bucket.
//!
//! The server first writes an upload to a spool file on the local disk and scans it there. Then it stores the
//! file under a generated key. This module never uses the file names that users choose.

mod error;
mod scanner;
mod spool;
mod storage;
mod verified;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;

use crate::model::attachment::is_storage_key;
use crate::model::token::Secret;

pub use error::FilesError;
pub use scanner::{Scanner, Verdict};
pub use spool::{Spool, Spooled};
pub use storage::{Storage, folder_of as storage_folder, make_private_folder, open as open_storage};
pub use verified::{Fingerprint, ReadFault, verified};

/// A handle to the storage. Clones share the storage.
#[derive(Clone)]
pub struct Files(Arc<Shared>);

struct Shared {
    store: Box<dyn ObjectStore>,
    /// The path, if the storage is a folder.
    folder: Option<PathBuf>,
    /// The prefix of all keys.
    prefix: Key,
    /// The size of a part in bytes. `put` holds one part of a file in memory at a time.
    part: usize,
    /// Permits that limit how many files are stored concurrently.
    permits: Semaphore,
    spool: PathBuf,
}

/// The credentials of a bucket.
#[derive(Debug)]
pub struct BucketKeys {
    pub access: Secret,
    pub secret: Secret,
}

impl Files {
    /// Opens the storage at `url`. If `url` is `None`, opens the folder `attachments` in the data folder.
    pub fn open(url: Option<&str>, data: &Path) -> Result<Self, FilesError> {
        Self::open_with(url, data, None)
    }

    /// Like `open`, with the credentials of an S3 bucket. If `keys` is `None`, the credentials come from
    /// the environment.
    pub fn open_with(url: Option<&str>, data: &Path, keys: Option<&BucketKeys>) -> Result<Self, FilesError> {
        let spool = data.join("spool");
        storage::make_private_folder(&spool)?;
        if let Some(folder) = storage_folder(url, data) {
            storage::make_private_folder(&folder)?;
        }
        Self::open_existing(url, data, keys)
    }

    /// Checks that `url` is valid, without creating, opening or contacting the storage.
    pub fn validate(url: Option<&str>, data: &Path, keys: Option<&BucketKeys>) -> Result<(), FilesError> {
        match storage_folder(url, data) {
            Some(_) => Ok(()),
            None => storage::find(url, data, keys).map(drop),
        }
    }

    /// Opens a storage without creating its folders.
    pub fn open_existing(
        url: Option<&str>,
        data: &Path,
        keys: Option<&BucketKeys>,
    ) -> Result<Self, FilesError> {
        let storage = storage::find(url, data, keys)?;
        let spool = data.join("spool");
        Ok(Self(Arc::new(Shared {
            store: storage.store,
            folder: storage.folder,
            prefix: storage.prefix,
            part: storage.part,
            permits: Semaphore::new(storage.permits),
            spool,
        })))
    }

    /// For each local folder, its name and the free bytes on its disk. The folders are the data folder, the
    /// spool and, if the storage is a folder, the attachment folder.
    pub fn free_bytes(&self) -> std::io::Result<Vec<(&'static str, u64)>> {
        let data = self.0.spool.parent().unwrap_or(&self.0.spool);
        let mut folders = vec![("data", data), ("spool", &self.0.spool)];
        folders.extend(self.0.folder.as_deref().map(|folder| ("attachments", folder)));
        let free = |(name, folder): (&'static str, &Path)| {
            let disk = rustix::fs::statvfs(folder)?;
            Ok((name, disk.f_bavail.saturating_mul(disk.f_frsize)))
        };
        folders.into_iter().map(free).collect()
    }

    /// A new spool file for an upload.
    pub async fn spool(&self) -> Result<Spool, FilesError> {
        Spool::begin(&self.0.spool).await
    }

    /// Deletes the spool files that were last modified at least `age` ago. Earlier runs have left them
    /// behind.
    pub fn empty_spool(&self, age: Duration) -> Result<(), FilesError> {
        let failed = |cause| FilesError::new("emptying the spool", cause);
        for entry in std::fs::read_dir(&self.0.spool).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let modified = entry
                .metadata()
                .and_then(|file| file.modified())
                .map_err(failed)?;
            if modified.elapsed().unwrap_or_default() >= age {
                std::fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Stores a file under a key. The file is durable when this function returns.
    pub async fn put(&self, key: &str, spooled: &Spooled) -> Result<(), FilesError> {
        let failed = |cause: object_store::Error| FilesError::new("storing a file", cause);
        let path = self.path(key)?;
        let _permit = self.0.permits.acquire().await;
        if let Some(folder) = &self.0.folder
            && spooled.move_to(folder.join(key)).await?
        {
            return Ok(());
        }
        let mut file = spooled.open().await?;
        let mut part = self.next_part(&mut file).await?;
        if part.content_length() < self.0.part {
            return self.0.store.put(&path, part).await.map(drop).map_err(failed);
        }
        let mut upload = self.0.store.put_multipart(&path).await.map_err(failed)?;
        let stored = async {
            while part.content_length() > 0 {
                upload.put_part(part).await.map_err(failed)?;
                part = self.next_part(&mut file).await?;
            }
            upload.complete().await.map_err(failed)
        };
        match stored.await {
            Ok(_) => Ok(()),
            Err(cause) => {
                let _ = upload.abort().await;
                Err(cause)
            }
        }
    }

    /// Reads the file that is stored under a key.
    pub async fn read(&self, key: &str) -> Result<BoxStream<'static, std::io::Result<Bytes>>, FilesError> {
        let found = self.0.store.get(&self.path(key)?).await;
        let found = found.map_err(|cause| FilesError::new("reading a file", cause))?;
        Ok(found
            .into_stream()
            .map(|bytes| bytes.map_err(std::io::Error::other))
            .boxed())
    }

    /// Deletes the file that is stored under a key. A missing file is not an error.
    pub async fn remove(&self, key: &str) -> Result<(), FilesError> {
        let path = self.path(key)?;
        self.remove_staged(key).await?;
        match self.0.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(cause) => Err(FilesError::new("removing a file", cause)),
        }
    }

    /// Deletes the temporary files of a key. If the storage is a folder, it first writes a file as `key#1`,
    /// and a crash can leave this temporary file behind.
    async fn remove_staged(&self, key: &str) -> Result<(), FilesError> {
        let Some(folder) = &self.0.folder else {
            return Ok(());
        };
        for number in 1.. {
            match tokio::fs::remove_file(folder.join(format!("{key}#{number}"))).await {
                Ok(()) => {}
                Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => break,
                Err(cause) => return Err(FilesError::new("deleting a partial upload", cause)),
            }
        }
        Ok(())
    }

    /// The keys and sizes of all stored files, in no particular order. Partial uploads are not included.
    pub async fn list(&self) -> Result<Vec<(String, u64)>, FilesError> {
        let mut found = Vec::new();
        let mut entries = self.0.store.list(Some(&self.0.prefix));
        while let Some(entry) = entries.next().await {
            let entry = entry.map_err(|cause| FilesError::new("listing the files", cause))?;
            let name = entry.location.filename().unwrap_or_default();
            if !name.contains('#') {
                found.push((name.to_owned(), entry.size));
            }
        }
        Ok(found)
    }

    /// Whether a file is stored under a key.
    pub async fn contains(&self, key: &str) -> Result<bool, FilesError> {
        match self.0.store.head(&self.path(key)?).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(cause) => Err(FilesError::new("looking for a file", cause)),
        }
    }

    /// Checks that the storage is reachable, with a short timeout.
    pub async fn probe(&self) -> Result<(), FilesError> {
        const PROBE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
        const PROBE: &str = "probing the attachment storage";
        // No file has this key. The response "not found" shows that the storage is reachable.
        let path = self.path("reach")?;
        let response = tokio::time::timeout(PROBE_TIMEOUT, self.0.store.head(&path)).await;
        match response.map_err(|cause| FilesError::new(PROBE, cause))? {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(cause) => Err(FilesError::new(PROBE, cause)),
        }
    }

    /// The location of a file. Keys come from the database, where a damaged row could name another folder.
    fn path(&self, key: &str) -> Result<Key, FilesError> {
        match is_storage_key(key) {
            true => Ok(self.0.prefix.clone().join(key)),
            false => Err(FilesError::new(
                "finding a file",
                format!("{key:?} is not a storage key"),
            )),
        }
    }

    async fn next_part(&self, file: &mut tokio::fs::File) -> Result<PutPayload, FilesError> {
        const CHUNK: usize = 64 * 1024;
        let mut chunks = Vec::new();
        let mut length = 0;
        while length < self.0.part {
            let mut chunk = vec![0; CHUNK];
            let read = file.read(&mut chunk).await;
            let read = read.map_err(|cause| FilesError::new("reading the spool", cause))?;
            if read == 0 {
                break;
            }
            chunk.truncate(read);
            length += read;
            chunks.push(Bytes::from(chunk));
        }
        Ok(PutPayload::from_iter(chunks))
    }
}
