//! Compares the stored file of an attachment with the recorded size and hash.

use futures_util::StreamExt;

use crate::files::{Files, ReadFault, verified};
use crate::model::attachment::Attachment;

/// The result of verifying an attachment.
#[derive(Debug)]
pub enum Verification {
    Intact,
    Damaged(&'static str),
    /// The storage is unavailable, so the state of the file is unknown.
    Unknown(String),
}

pub async fn verify(files: &Files, attachment: &Attachment) -> Verification {
    let chunks = match files.read(&attachment.key).await {
        Ok(chunks) => chunks,
        Err(cause) if cause.is_missing() => return Verification::Damaged("file is missing"),
        Err(cause) => return Verification::Unknown(cause.to_string()),
    };
    let mut chunks = Box::pin(verified(chunks, attachment.into()));
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(_) => {}
            Err(ReadFault::Damaged) => return Verification::Damaged("content differs from the hash"),
            Err(ReadFault::Io(cause)) => return Verification::Unknown(cause.to_string()),
        }
    }
    Verification::Intact
}
