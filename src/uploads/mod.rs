//! Attaches a file to a ticket: scans the file, stores it, then creates the attachment. Because of this
//! order, a visible attachment is always complete. A stored file that does not become an attachment is
//! deleted here, or later by the sweep (decision 0015).

pub mod check;
pub mod damage;
pub mod verification;

use crate::files::{Files, FilesError, Scanner, Spooled, Verdict};
use crate::model::attachment::{FileName, NewAttachment};
use crate::model::id::TicketId;
use crate::model::reason::{Code, Reason};
use crate::rules::caller::{Caller, Principal};
use crate::rules::error::FilesFault;
use crate::rules::request::Expected;
use crate::rules::{Error, Result, attachments};
use crate::store::{Store, WriteTx};

/// The upload pipeline.
#[derive(Clone)]
pub struct Uploads {
    pub store: Store,
    pub files: Files,
    pub scanner: Option<Scanner>,
}

/// A received file for a ticket.
pub struct Upload {
    pub ticket: TicketId,
    /// The state that the ticket must still have (`If-Match`).
    pub expected: Option<Expected>,
    pub name: FileName,
    pub spooled: Spooled,
}

impl Uploads {
    pub async fn attach(&self, caller: Caller, upload: Upload) -> Result<()> {
        self.scan(&caller, &upload).await?;
        let key = self.write(&caller, |tx, _| attachments::begin(tx)).await?;
        if let Err(cause) = self.files.put(&key, &upload.spooled).await {
            // If the storage fails, deleting the file can be slow, too. The client does not wait for the
            // deletion.
            let uploads = self.clone();
            tokio::spawn(async move { uploads.discard(key).await });
            return Err(storage(&cause));
        }
        let Upload {
            ticket,
            expected,
            name,
            spooled,
        } = upload;
        let new = NewAttachment {
            name,
            size: spooled.size as i64,
            sha256: spooled.sha256.clone(),
            key: key.clone(),
        };
        let attached = self
            .write(&caller, move |tx, caller| {
                attachments::create(tx, caller, ticket, expected.as_ref(), &new)
            })
            .await
            .map(drop);
        // After an error of the store, it is unknown whether the attachment exists. Then only the sweep
        // decides whether to delete the file.
        if attached.is_err() && !matches!(attached, Err(Error::Store(_))) {
            self.discard(key).await;
        }
        attached
    }

    async fn scan(&self, caller: &Caller, upload: &Upload) -> Result<()> {
        let Some(scanner) = &self.scanner else {
            return Ok(());
        };
        match scanner.scan(upload.spooled.path()).await {
            Verdict::Clean => Ok(()),
            Verdict::Failed(cause) => {
                metrics::counter!("garth_attachment_scans_failed_total").increment(1);
                Err(Error::Files(FilesFault::Scanner(cause)))
            }
            Verdict::Refused => {
                let (ticket, name) = (upload.ticket, upload.name.clone());
                let record_refusal = move |tx: &mut WriteTx, caller: &Caller| {
                    attachments::record_refused(tx, caller, ticket, &name)
                };
                self.write(caller, record_refusal).await?;
                let text = "The file was rejected by the provider's scanner and was not stored";
                Err(Error::on("file", Reason::new(Code::FileRefused, text)))
            }
        }
    }

    /// Runs a rule, and confirms the caller's permissions in the same transaction.
    async fn write<T: Send + 'static>(
        &self,
        caller: &Caller,
        rule: impl Fn(&mut WriteTx, &Caller) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (account, caller) = (caller.account, caller.clone());
        let run_confirmed = move |tx: &mut WriteTx| caller.clone().run_write(tx, &rule);
        let (written, _) = self.store.write_for(Some(account), run_confirmed).await?;
        Ok(written)
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
