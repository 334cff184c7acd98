//! The sweep: deletes the files of uploads that did not become attachments.

use crate::files::Files;
use crate::rules::error::FilesFault;
use crate::rules::{Error, Result, attachments};
use crate::store::Store;

/// The sweep treats an upload as stale if it started longer ago than this.
const MAX_UPLOAD_AGE_SECONDS: i64 = 3600;

/// Deletes the files of stale uploads.
pub async fn uploads(store: &Store, files: &Files) -> Result<()> {
    loop {
        let stale = store
            .read(|tx| attachments::stale(tx, MAX_UPLOAD_AGE_SECONDS))
            .await?;
        if stale.is_empty() {
            return Ok(());
        }
        for key in stale {
            let removed = files.remove(&key).await;
            removed.map_err(|cause| Error::Files(FilesFault::Storage(cause.to_string())))?;
            store.write(move |tx| attachments::forget(tx, &key)).await?;
        }
    }
}
