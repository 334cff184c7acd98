//! The folder or bucket of an archive.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::{BucketKeys, Storage, make_private_folder, open_storage};

/// The setting that names the archive.
const SETTING: &str = "archive";

pub struct Target {
    storage: Storage,
}

impl Target {
    /// Opens an archive to write to. Creates its folder.
    pub fn create(url: &str, keys: Option<&BucketKeys>) -> anyhow::Result<Self> {
        if let Some(folder) = folder_of(url) {
            make_private_folder(&folder)?;
        }
        Self::open(url, keys)
    }

    /// Opens an archive that exists.
    pub fn open(url: &str, keys: Option<&BucketKeys>) -> anyhow::Result<Self> {
        let storage = open_storage(SETTING, url, keys)?;
        Ok(Self { storage })
    }

    pub async fn put(&self, path: &str, content: impl Into<PutPayload>) -> anyhow::Result<()> {
        // A folder that was deleted must not be created again: it can be an unmounted disk.
        self.check_folder()?;
        let put = self.storage.store.put(&self.key(path)?, content.into()).await;
        put.map(drop).with_context(|| format!("cannot write {path}"))
    }

    pub async fn put_json(&self, path: &str, document: &impl Serialize) -> anyhow::Result<()> {
        self.put(path, serde_json::to_vec(document)?).await
    }

    /// Writes an object that must not exist with other content.
    pub async fn put_new(&self, path: &str, content: Bytes) -> anyhow::Result<Written> {
        self.check_folder()?;
        let payload = PutPayload::from_bytes(content.clone());
        let mode = PutMode::Create.into();
        match self.storage.store.put_opts(&self.key(path)?, payload, mode).await {
            Ok(_) => Ok(Written::Stored),
            // An earlier attempt may have succeeded although it reported an error.
            Err(object_store::Error::AlreadyExists { .. }) => match self.get(path).await? {
                Some(stored) if stored == content => Ok(Written::Stored),
                _ => Ok(Written::Conflict),
            },
            Err(cause) => Err(cause).with_context(|| format!("cannot write {path}")),
        }
    }

    /// Begins an object that is written in parts of `part_bytes`.
    pub async fn begin(&self, path: &str) -> anyhow::Result<Box<dyn object_store::MultipartUpload>> {
        self.check_folder()?;
        let begun = self.storage.store.put_multipart(&self.key(path)?).await;
        begun.with_context(|| format!("cannot write {path}"))
    }

    pub fn part_bytes(&self) -> usize {
        self.storage.part
    }

    /// The content of an object. `None` if it does not exist.
    pub async fn get(&self, path: &str) -> anyhow::Result<Option<Bytes>> {
        let failed = || format!("cannot read {path}");
        match self.storage.store.get(&self.key(path)?).await {
            Ok(found) => Ok(Some(found.bytes().await.with_context(failed)?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(cause) => Err(cause).with_context(failed),
        }
    }

    /// The chunks of an object.
    pub async fn read(
        &self,
        path: &str,
    ) -> anyhow::Result<futures_util::stream::BoxStream<'static, object_store::Result<Bytes>>> {
        let found = self.storage.store.get(&self.key(path)?).await;
        let found = found.with_context(|| format!("cannot read {path}"))?;
        Ok(found.into_stream())
    }

    pub async fn get_json<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<Option<T>> {
        match self.get(path).await? {
            None => Ok(None),
            Some(bytes) => {
                let document = serde_json::from_slice(&bytes);
                document.map(Some).with_context(|| format!("{path} is damaged"))
            }
        }
    }

    /// The paths of all objects in a folder and its subfolders, without the prefix of the archive.
    pub async fn list(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let key = match folder {
            "" => self.storage.prefix.clone(),
            folder => self.key(folder)?,
        };
        let mut entries = self.storage.store.list(Some(&key));
        let mut found = Vec::new();
        while let Some(entry) = entries.next().await {
            let entry = entry.context("cannot list the archive")?;
            let path = entry.location.as_ref();
            let relative = path.strip_prefix(self.storage.prefix.as_ref()).unwrap_or(path);
            found.push(relative.trim_start_matches('/').to_owned());
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The names of the folders at the top.
    pub async fn folders(&self) -> anyhow::Result<Vec<String>> {
        let prefix = Some(&self.storage.prefix);
        let listed = self.storage.store.list_with_delimiter(prefix).await;
        let listed = listed.context("cannot list the archive")?;
        let name = |key: &Key| key.filename().map(str::to_owned);
        let mut names: Vec<_> = listed.common_prefixes.iter().filter_map(name).collect();
        names.sort_unstable();
        Ok(names)
    }

    pub async fn delete(&self, path: &str) -> anyhow::Result<()> {
        match self.storage.store.delete(&self.key(path)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(cause) => Err(cause).with_context(|| format!("cannot delete {path}")),
        }
    }

    fn check_folder(&self) -> anyhow::Result<()> {
        match &self.storage.folder {
            Some(folder) if !folder.is_dir() => bail!("the folder {} does not exist", folder.display()),
            _ => Ok(()),
        }
    }

    fn key(&self, path: &str) -> anyhow::Result<Key> {
        let mut key = self.storage.prefix.clone();
        for part in path.split('/') {
            key = key.join(part);
        }
        Ok(key)
    }
}

/// The result of writing a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Stored,
    /// The object exists with other content.
    Conflict,
}

/// The folder of an archive. `None` for a bucket.
pub fn folder_of(url: &str) -> Option<PathBuf> {
    crate::files::storage_folder(Some(url), Path::new(""))
}
