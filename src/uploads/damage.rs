//! Attachments whose bytes are missing or are not those that were uploaded: logged, counted and recorded.

use crate::model::id::AttachmentId;
use crate::rules::scrub;
use crate::store::Store;

/// Logs and counts a damaged attachment, and records it without making the caller wait.
pub fn report(store: &Store, id: AttachmentId) {
    log(id, "content differs from the hash");
    let store = store.clone();
    tokio::spawn(async move {
        if let Err(cause) = store.write(move |tx| scrub::record(tx, id, true)).await {
            tracing::warn!(?cause, "damaged attachment not recorded");
        }
    });
}

/// Logs and counts a damaged attachment.
pub fn log(id: AttachmentId, cause: &str) {
    tracing::error!(attachment = id.0, cause, "attachment damaged");
    metrics::counter!("garth_attachments_damaged_total").increment(1);
}
