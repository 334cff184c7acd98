//! Compares the file of an attachment with its size and hash.

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
    let pieces = match files.read(&attachment.key).await {
        Ok(pieces) => pieces,
        Err(cause) if cause.is_missing() => return Verification::Damaged("file is missing"),
        Err(cause) => return Verification::Unknown(cause.to_string()),
    };
    let mut pieces = Box::pin(verified(pieces, attachment.into()));
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(_) => {}
            Err(ReadFault::Damaged) => return Verification::Damaged("content differs from the hash"),
            Err(ReadFault::Io(cause)) => return Verification::Unknown(cause.to_string()),
        }
    }
    Verification::Intact
}
