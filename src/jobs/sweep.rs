//! Removes the bytes of uploads that never became attachments.

use crate::files::Files;
use crate::rules::error::FilesFault;
use crate::rules::{Error, Result, attachments};
use crate::store::Store;

/// After this time an upload cannot be going on any more.
const ABANDONED_SECONDS: i64 = 3600;

/// Removes the bytes of all uploads that began long ago.
pub async fn uploads(store: &Store, files: &Files) -> Result<()> {
    loop {
        let stale = store.read(|tx| attachments::stale(tx, ABANDONED_SECONDS)).await?;
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
