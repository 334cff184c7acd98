//! The scrub: verifies attachments against their hashes, and checks the embedded database.

use std::time::Duration;

use super::metrics;
use crate::files::Files;
use crate::rules::{self, attachment_checks};
use crate::store::{CheckDepth, Store};
use crate::uploads::damage;
use crate::uploads::verification::{Verification, verify};

/// The average rate at which attachments are read.
const BYTES_PER_SECOND: u64 = 16 * 1024 * 1024;

/// Verifies all attachments that were not verified within `days`.
pub async fn attachments(store: &Store, files: &Files, days: i64) -> rules::Result<()> {
    while verify_batch(store, files, days).await? {
        metrics::update_damaged(store).await;
    }
    metrics::update_damaged(store).await;
    Ok(())
}

/// Verifies a batch of due attachments. Returns false if no attachment was due, or if none of them could be
/// read.
async fn verify_batch(store: &Store, files: &Files, days: i64) -> rules::Result<bool> {
    let due = store.write(move |tx| attachment_checks::claim(tx, days)).await?;
    let mut any_read = false;
    for attachment in due {
        let damaged = match verify(files, &attachment).await {
            Verification::Intact => false,
            Verification::Damaged(cause) => {
                damage::log(attachment.id, cause);
                true
            }
            Verification::Unknown(cause) => {
                // The claim on this attachment remains until it expires, so the next batch skips the
                // attachment.
                tracing::warn!(
                    attachment = attachment.id.0,
                    error = cause,
                    "attachment not readable"
                );
                continue;
            }
        };
        any_read = true;
        ::metrics::counter!("garth_attachments_scrubbed_total").increment(1);
        let id = attachment.id;
        store
            .write(move |tx| attachment_checks::record(tx, id, damaged))
            .await?;
        let size = u64::try_from(attachment.size).unwrap_or_default();
        let micros = size.saturating_mul(1_000_000) / BYTES_PER_SECOND;
        tokio::time::sleep(Duration::from_micros(micros)).await;
    }
    Ok(any_read)
}

/// Checks the structure of the embedded database.
pub async fn database(store: &Store) -> rules::Result<()> {
    let findings = store.check(CheckDepth::Quick).await?;
    ::metrics::gauge!("garth_store_check_failed").set(f64::from(u8::from(!findings.is_empty())));
    if let Some(finding) = findings.first() {
        tracing::error!(finding, "database corruption found");
    }
    Ok(())
}
