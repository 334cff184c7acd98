//! Copies the files of attachments to the archive, and back.

use std::collections::HashSet;

use anyhow::{anyhow, ensure};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::PutPayload;

use super::format::attachment_path;
use super::target::Target;
use crate::files::{Files, ReadFault, Spooled, verified};
use crate::model::attachment::{Attachment, is_storage_key};
use crate::rules::Error;
use crate::store::{Store, attachments};

/// The attachments that the archive has.
#[derive(Default)]
pub struct ArchivedFiles {
    /// All attachments up to this ID are in the archive.
    last: i64,
    /// The keys of further files in the archive. Known only at the start.
    known: HashSet<String>,
}

impl ArchivedFiles {
    /// Lists the files in the archive.
    pub async fn list(target: &Target) -> anyhow::Result<Self> {
        let listed = target.list("attachments").await?;
        let key = |path: String| path.rsplit('/').next().map(str::to_owned);
        Ok(Self {
            last: 0,
            known: listed.into_iter().filter_map(key).collect(),
        })
    }

    /// Copies all files that the archive does not have yet. Returns the number of bytes.
    pub async fn copy_new(&mut self, store: &Store, files: &Files, target: &Target) -> anyhow::Result<u64> {
        let last = self.last;
        let read = store.read(move |tx| Ok::<_, Error>(attachments::after(tx, last)?));
        let new = read.await.map_err(|cause| anyhow!("the store failed: {cause}"))?;
        let mut bytes = 0;
        for attachment in new {
            if !self.known.remove(&attachment.key) && is_storage_key(&attachment.key) {
                bytes += copy(&attachment, files, target).await?;
            }
            self.last = attachment.id.0;
        }
        Ok(bytes)
    }
}

/// Copies a file. A missing or damaged file is reported by the scrub and by `garth check`, and does not stop the
/// archive.
async fn copy(attachment: &Attachment, files: &Files, target: &Target) -> anyhow::Result<u64> {
    let failed = |cause: &dyn std::fmt::Display| anyhow!("the attachment storage failed: {cause}");
    let chunks = match files.read(&attachment.key).await {
        Ok(chunks) => chunks,
        Err(cause) if cause.is_missing() => {
            tracing::warn!(attachment = attachment.id.0, "file missing, not archived");
            return Ok(0);
        }
        Err(cause) => return Err(failed(&cause)),
    };
    let mut chunks = Box::pin(verified(chunks, attachment.into()));
    let mut content = Upload::new(target, attachment_path(&attachment.key));
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(bytes) => content.write(bytes).await?,
            Err(ReadFault::Damaged) => {
                tracing::warn!(attachment = attachment.id.0, "file damaged, not archived");
                content.abort().await;
                return Ok(0);
            }
            Err(ReadFault::Io(cause)) => return Err(failed(&cause)),
        }
    }
    content.finish().await
}

/// An object that is written in parts if it is large.
struct Upload<'a> {
    target: &'a Target,
    path: String,
    buffer: BytesMut,
    parts: Option<Box<dyn object_store::MultipartUpload>>,
    bytes: u64,
}

impl<'a> Upload<'a> {
    fn new(target: &'a Target, path: String) -> Self {
        Self {
            target,
            path,
            buffer: BytesMut::new(),
            parts: None,
            bytes: 0,
        }
    }

    async fn write(&mut self, chunk: Bytes) -> anyhow::Result<()> {
        self.bytes += chunk.len() as u64;
        self.buffer.extend_from_slice(&chunk);
        if self.buffer.len() < self.target.part_bytes() {
            return Ok(());
        }
        let parts = match &mut self.parts {
            Some(parts) => parts,
            none => none.insert(self.target.begin(&self.path).await?),
        };
        let part = PutPayload::from_bytes(self.buffer.split().freeze());
        Ok(parts.put_part(part).await?)
    }

    async fn finish(mut self) -> anyhow::Result<u64> {
        let rest = PutPayload::from_bytes(self.buffer.split().freeze());
        match &mut self.parts {
            None => self.target.put(&self.path, rest).await?,
            Some(parts) => {
                if rest.content_length() > 0 {
                    parts.put_part(rest).await?;
                }
                parts.complete().await?;
            }
        }
        Ok(self.bytes)
    }

    async fn abort(mut self) {
        if let Some(parts) = &mut self.parts {
            let _ = parts.abort().await;
        }
    }
}

/// Restores a file from the archive.
pub async fn restore(attachment: &Attachment, target: &Target, files: &Files) -> anyhow::Result<()> {
    let failed = |cause| anyhow!("the attachment storage failed: {cause}");
    let path = attachment_path(&attachment.key);
    let spooled = spool(target, &path, files).await?;
    ensure!(
        spooled.sha256 == attachment.sha256 && i64::try_from(spooled.size) == Ok(attachment.size),
        "the archive is damaged: {path} differs from its hash"
    );
    files.put(&attachment.key, &spooled).await.map_err(failed)
}

async fn spool(target: &Target, path: &str, files: &Files) -> anyhow::Result<Spooled> {
    let failed = |cause| anyhow!("the spool failed: {cause}");
    let mut chunks = target.read(path).await?;
    let mut spool = files.spool().await.map_err(failed)?;
    while let Some(chunk) = chunks.next().await {
        spool.write(&chunk?).await.map_err(failed)?;
    }
    spool.finish().await.map_err(failed)
}
