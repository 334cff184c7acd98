//! Writes the files of attachments. Files with the same content are written once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, Write};

use anyhow::{Context, anyhow};
use futures_util::StreamExt;
use tokio::runtime::Handle;

use super::format::{ATTACHMENTS_FOLDER, MissingFile, MissingReason, StoredFile};
use super::writer::Writer;
use super::{Progress, temporary};
use crate::files::{Files, ReadFault, verified};
use crate::model::attachment::{Attachment, is_storage_key};
use crate::rules::Error;
use crate::store::{Store, attachments};

/// The written files and the exceptions.
#[derive(Debug, Default)]
pub struct WrittenFiles {
    /// The number of attachments whose content was written. Several of them can share a file.
    pub count: u64,
    pub bytes: u64,
    /// The number of attachments whose content only the base has.
    pub base_count: u64,
    /// Files that only the base has.
    pub in_base: Vec<StoredFile>,
    pub missing: Vec<MissingFile>,
}

/// Writes files to an archive, one after another.
pub struct FileWriter<'a> {
    pub store: &'a Store,
    pub files: &'a Files,
    /// The hashes of the files that the base contains.
    pub base: BTreeSet<&'a str>,
    pub progress: &'a dyn Progress,
}

impl FileWriter<'_> {
    pub fn write_all<W: Write>(
        &self,
        attachments: &[Attachment],
        writer: &mut Writer<W>,
    ) -> anyhow::Result<WrittenFiles> {
        let mut by_hash: BTreeMap<&str, Vec<&Attachment>> = BTreeMap::new();
        for attachment in attachments {
            by_hash.entry(&attachment.sha256).or_default().push(attachment);
        }
        self.progress.begin("attachments", by_hash.len() as u64);
        let mut written = WrittenFiles::default();
        let mut buffer = temporary::file()?;
        for (sha256, attachments) in by_hash {
            let size = u64::try_from(attachments[0].size).unwrap_or_default();
            if self.base.contains(sha256) {
                let sha256 = sha256.to_owned();
                written.in_base.push(StoredFile { sha256, size });
                written.base_count += attachments.len() as u64;
            } else {
                self.write(&attachments, size, &mut buffer, writer, &mut written)?;
            }
            self.progress.advance(1);
        }
        Ok(written)
    }

    /// Writes the content that these attachments share.
    fn write<W: Write>(
        &self,
        attachments: &[&Attachment],
        size: u64,
        buffer: &mut File,
        writer: &mut Writer<W>,
        written: &mut WrittenFiles,
    ) -> anyhow::Result<()> {
        let mut missing = Vec::new();
        for attachment in attachments {
            match self.copy(attachment, buffer)? {
                None => {
                    let name = format!("{ATTACHMENTS_FOLDER}{}", attachment.sha256);
                    buffer.rewind()?;
                    writer.add(&name, size, buffer.take(size))?;
                    written.count += attachments.len() as u64;
                    written.bytes += size;
                    return Ok(());
                }
                Some(reason) => missing.push(MissingFile {
                    attachment: attachment.id.0,
                    ticket: attachment.ticket.0,
                    sha256: attachment.sha256.clone(),
                    reason: self.confirm(attachment, reason)?,
                }),
            }
        }
        written.missing.extend(missing);
        Ok(())
    }

    /// Copies a file to the buffer, because a damaged file must not become a member. Returns the reason if the file
    /// cannot be archived.
    fn copy(&self, attachment: &Attachment, buffer: &mut File) -> anyhow::Result<Option<MissingReason>> {
        let runtime = Handle::current();
        if !is_storage_key(&attachment.key) {
            return Ok(Some(MissingReason::Missing));
        }
        let chunks = match runtime.block_on(self.files.read(&attachment.key)) {
            Ok(chunks) => chunks,
            Err(cause) if cause.is_missing() => return Ok(Some(MissingReason::Missing)),
            Err(cause) => return Err(anyhow!("the attachment storage failed: {cause}")),
        };
        buffer.set_len(0)?;
        buffer.rewind()?;
        let mut chunks = Box::pin(verified(chunks, attachment.into()));
        while let Some(chunk) = runtime.block_on(chunks.next()) {
            match chunk {
                Ok(bytes) => buffer
                    .write_all(&bytes)
                    .context("cannot write a temporary file")?,
                Err(ReadFault::Damaged) => return Ok(Some(MissingReason::Damaged)),
                Err(ReadFault::Io(cause)) => return Err(anyhow!("the attachment storage failed: {cause}")),
            }
        }
        Ok(None)
    }

    /// A file may be missing because its attachment was deleted after the snapshot.
    fn confirm(&self, attachment: &Attachment, reason: MissingReason) -> anyhow::Result<MissingReason> {
        let (ticket, id) = (attachment.ticket, attachment.id);
        let read = self
            .store
            .read(move |tx| Ok::<_, Error>(attachments::find(tx, ticket, id)?));
        match Handle::current().block_on(read) {
            Ok(None) => Ok(MissingReason::Deleted),
            Ok(Some(_)) => Ok(reason),
            Err(Error::Store(cause)) => Err(anyhow!("the store failed: {cause}")),
            Err(_) => Err(anyhow!("the store failed")),
        }
    }
}
