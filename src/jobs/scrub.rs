//! The scrub: reads every attachment within a number of days, and the whole embedded database.

use std::time::Duration;

use futures_util::StreamExt;

use super::metrics;
use crate::files::{Files, ReadFault};
use crate::model::attachment::Attachment;
use crate::rules::{self, scrub};
use crate::store::Store;
use crate::uploads::damage;

/// How many bytes of attachments are read in a second, on average.
const BYTES_PER_SECOND: u64 = 16 * 1024 * 1024;

/// What reading an attachment has shown.
#[derive(Debug)]
enum Finding {
    Intact,
    Damaged(&'static str),
    /// The place cannot be reached: that says nothing about the file.
    Unknown(String),
}

/// Reads all attachments that are due, so that each is read once in so many days.
pub async fn attachments(store: &Store, files: &Files, days: i64) -> rules::Result<()> {
    while read_some(store, files, days).await? {
        metrics::count_damaged(store).await;
    }
    metrics::count_damaged(store).await;
    Ok(())
}

/// Reads some attachments that are due; whether any could be read.
async fn read_some(store: &Store, files: &Files, days: i64) -> rules::Result<bool> {
    let due = store.write(move |tx| scrub::claim(tx, days)).await?;
    let mut any = false;
    for attachment in due {
        let damaged = match examine(files, &attachment).await {
            Finding::Intact => false,
            Finding::Damaged(cause) => {
                damage::log(attachment.id, cause);
                true
            }
            Finding::Unknown(cause) => {
                // The lease keeps it from being taken again at once.
                tracing::warn!(
                    attachment = attachment.id.0,
                    cause,
                    "attachment could not be read"
                );
                continue;
            }
        };
        any = true;
        ::metrics::counter!("garth_attachments_scrubbed_total").increment(1);
        let id = attachment.id;
        store.write(move |tx| scrub::record(tx, id, damaged)).await?;
        let size = u64::try_from(attachment.size).unwrap_or_default();
        let micros = size.saturating_mul(1_000_000) / BYTES_PER_SECOND;
        tokio::time::sleep(Duration::from_micros(micros)).await;
    }
    Ok(any)
}

async fn examine(files: &Files, attachment: &Attachment) -> Finding {
    let pieces = match files.read(&attachment.key).await {
        Ok(pieces) => pieces,
        Err(cause) if cause.is_missing() => return Finding::Damaged("bytes are missing"),
        Err(cause) => return Finding::Unknown(cause.to_string()),
    };
    let mut pieces = Box::pin(crate::files::verified(pieces, attachment.into()));
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(_) => {}
            Err(ReadFault::Damaged) => return Finding::Damaged("bytes differ from the hash"),
            Err(ReadFault::Io(cause)) => return Finding::Unknown(cause.to_string()),
        }
    }
    Finding::Intact
}

/// Reads the whole embedded database.
pub async fn database(store: &Store) -> rules::Result<()> {
    let finding = store.check().await?;
    ::metrics::gauge!("garth_store_check_failed").set(f64::from(u8::from(finding.is_some())));
    if let Some(finding) = finding {
        tracing::error!(finding, "database check failed");
    }
    Ok(())
}
