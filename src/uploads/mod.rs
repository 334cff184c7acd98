//! Attaches files to a ticket: scans each file, stores it, then creates the attachment. Because of this
//! order, a visible attachment is always complete. A stored file that does not become an attachment is
//! deleted here, or later by the sweep (decision 0015).

pub mod check;
pub mod damage;
pub mod verification;

use crate::files::{Files, FilesError, Scanner, Spooled, Verdict};
use crate::model::attachment::{FileName, NewAttachment};
use crate::model::id::TicketId;
use crate::model::reason::{Code, Reason};
use crate::rules::error::{FieldError, FilesFault};
use crate::rules::request::Expected;
use crate::rules::uploaders::Uploader;
use crate::rules::{Error, Result, attachments};
use crate::store::{Store, WriteTx};

/// The upload pipeline.
#[derive(Clone)]
pub struct Uploads {
    pub store: Store,
    pub files: Files,
    pub scanner: Option<Scanner>,
}

/// A received file with a valid name and content.
pub struct ReceivedFile {
    pub name: FileName,
    pub spooled: Spooled,
}

impl Uploads {
    /// Checks the name and the content of a file, and writes it to the spool.
    pub async fn receive(&self, name: &str, content: &[u8]) -> Result<ReceivedFile> {
        let max_bytes = self.store.policy().support.attachment_max_bytes;
        let refuse = |code, text: String| Error::on("file", Reason::new(code, text));
        if content.len() as i64 > max_bytes {
            let text = format!("The file is larger than {max_bytes} bytes");
            return Err(refuse(Code::FileTooLarge, text));
        }
        if content.is_empty() {
            return Err(refuse(Code::FileEmpty, "The file is empty".to_owned()));
        }
        let name = FileName::parse(name).map_err(|reasons| {
            let errors = reasons.into_iter().map(|reason| FieldError::on("file", reason));
            Error::Refused(errors.collect())
        })?;
        let mut spool = self.files.spool().await.map_err(|cause| storage(&cause))?;
        spool.write(content).await.map_err(|cause| storage(&cause))?;
        let spooled = spool.finish().await.map_err(|cause| storage(&cause))?;
        let checked = name.kind().check(&spooled.content);
        checked.map_err(|reason| Error::on("file", reason))?;
        Ok(ReceivedFile { name, spooled })
    }

    /// Attaches a file. `expected` is the state that the ticket must still have (`If-Match`).
    pub async fn attach(
        &self,
        uploader: &Uploader,
        ticket: TicketId,
        expected: Option<Expected>,
        file: ReceivedFile,
    ) -> Result<()> {
        let attach_files = move |tx: &mut WriteTx, uploader: &Uploader, files: &[NewAttachment]| {
            let attach = |new| uploader.attach(tx, ticket, expected.as_ref(), new);
            files.iter().try_for_each(attach)
        };
        self.attach_with(uploader, ticket, vec![file], attach_files).await
    }

    /// Scans and stores files. Then runs a rule that attaches them, in one transaction: if it fails, no file is
    /// attached.
    pub async fn attach_with<T: Send + 'static>(
        &self,
        uploader: &Uploader,
        ticket: TicketId,
        files: Vec<ReceivedFile>,
        rule: impl Fn(&mut WriteTx, &Uploader, &[NewAttachment]) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        for file in &files {
            self.scan(uploader, ticket, file).await?;
        }
        let mut stored = Vec::new();
        for file in files {
            match self.put(uploader, file).await {
                Ok(new) => stored.push(new),
                Err(error) => {
                    self.discard_all(stored).await;
                    return Err(error);
                }
            }
        }
        let attachments = stored.clone();
        let attached = self
            .write(uploader, move |tx, uploader| rule(tx, uploader, &attachments))
            .await;
        // After an error of the store, it is unknown whether the attachments exist. Then only the sweep
        // decides whether to delete the files.
        if attached.is_err() && !matches!(attached, Err(Error::Store(_))) {
            self.discard_all(stored).await;
        }
        attached
    }

    /// Stores a file under a new key.
    async fn put(&self, uploader: &Uploader, file: ReceivedFile) -> Result<NewAttachment> {
        let key = self.write(uploader, |tx, _| attachments::begin(tx)).await?;
        if let Err(cause) = self.files.put(&key, &file.spooled).await {
            // If the storage fails, deleting the file can be slow, too. The client does not wait for the
            // deletion.
            let uploads = self.clone();
            tokio::spawn(async move { uploads.discard(key).await });
            return Err(storage(&cause));
        }
        Ok(NewAttachment {
            name: file.name,
            size: file.spooled.size as i64,
            sha256: file.spooled.sha256.clone(),
            key,
        })
    }

    async fn scan(&self, uploader: &Uploader, ticket: TicketId, file: &ReceivedFile) -> Result<()> {
        let Some(scanner) = &self.scanner else {
            return Ok(());
        };
        match scanner.scan(file.spooled.path()).await {
            Verdict::Clean => Ok(()),
            Verdict::Failed(cause) => {
                metrics::counter!("garth_attachment_scans_failed_total").increment(1);
                Err(Error::Files(FilesFault::Scanner(cause)))
            }
            Verdict::Refused => {
                let name = file.name.clone();
                let record =
                    move |tx: &mut WriteTx, uploader: &Uploader| uploader.record_refused(tx, ticket, &name);
                self.write(uploader, record).await?;
                let text = "The file was rejected by the provider's scanner and was not stored";
                Err(Error::on("file", Reason::new(Code::FileRefused, text)))
            }
        }
    }

    /// Runs a rule, and confirms the user's permissions in the same transaction.
    async fn write<T: Send + 'static>(
        &self,
        uploader: &Uploader,
        rule: impl Fn(&mut WriteTx, &Uploader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (account, uploader) = (uploader.account(), uploader.clone());
        let run_confirmed = move |tx: &mut WriteTx| {
            let uploader = uploader.clone().confirm(tx)?;
            rule(tx, &uploader)
        };
        self.store.write_for(account, run_confirmed).await
    }

    async fn discard_all(&self, files: Vec<NewAttachment>) {
        for file in files {
            self.discard(file.key).await;
        }
    }

    /// Deletes a stored file that did not become an attachment. If this fails, the sweep deletes the file later.
    async fn discard(&self, key: String) {
        match self.files.remove(&key).await {
            Err(cause) => tracing::warn!(error = %cause, "file of failed upload not deleted"),
            Ok(()) => {
                let deleted = self.store.write(move |tx| attachments::forget(tx, &key)).await;
                if let Err(cause) = deleted {
                    tracing::warn!(error = ?cause, "record of failed upload not deleted");
                }
            }
        }
    }
}

/// Converts an error of the storage to the error of a request.
pub fn storage(cause: &FilesError) -> Error {
    Error::Files(FilesFault::Storage(cause.to_string()))
}
