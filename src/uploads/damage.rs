//! Logs, counts and records damaged attachments. An attachment is damaged if its file is missing or differs
//! from the uploaded file.

use crate::model::id::AttachmentId;
use crate::rules::attachment_checks;
use crate::store::Store;

/// Logs and counts an attachment whose content is damaged, and records the damage in the background.
pub fn report(store: &Store, id: AttachmentId) {
    log(id, "content differs from the hash");
    let store = store.clone();
    tokio::spawn(async move {
        if let Err(cause) = store
            .write(move |tx| attachment_checks::record(tx, id, true))
            .await
        {
            tracing::warn!(error = ?cause, "attachment damage not recorded");
        }
    });
}

/// Logs and counts a damaged attachment.
pub fn log(id: AttachmentId, cause: &str) {
    tracing::error!(attachment = id.0, error = cause, "attachment damaged");
    metrics::counter!("garth_attachments_damaged_total").increment(1);
}
