//! Damaged attachments, whose bytes are missing or differ from the upload: logs, counts and records them.

use crate::model::id::AttachmentId;
use crate::rules::scrub;
use crate::store::Store;

/// Logs and counts a damaged attachment, and records it in the background.
pub fn report(store: &Store, id: AttachmentId) {
    log(id, "content differs from the hash");
    let store = store.clone();
    tokio::spawn(async move {
        if let Err(cause) = store.write(move |tx| scrub::record(tx, id, true)).await {
            tracing::warn!(error = ?cause, "damaged attachment not recorded");
        }
    });
}

/// Logs and counts a damaged attachment.
pub fn log(id: AttachmentId, cause: &str) {
    tracing::error!(attachment = id.0, error = cause, "attachment damaged");
    metrics::counter!("garth_attachments_damaged_total").increment(1);
}
