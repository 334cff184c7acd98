//! Reads stored bytes and verifies their hash.

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use sha2::{Digest, Sha256};

use crate::model::attachment::Attachment;
use crate::model::token::hex;

/// Why a file could not be read completely.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    #[error("the stored file differs from the uploaded file")]
    Damaged,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The expected size and hash.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    pub size: u64,
    /// 64 hexadecimal digits.
    pub sha256: String,
}

impl From<&Attachment> for Fingerprint {
    fn from(attachment: &Attachment) -> Self {
        Self {
            size: u64::try_from(attachment.size).unwrap_or_default(),
            sha256: attachment.sha256.clone(),
        }
    }
}

type Chunks = BoxStream<'static, std::io::Result<Bytes>>;

struct Reading {
    chunks: Chunks,
    expected: Fingerprint,
    hash: Sha256,
    size: u64,
    /// The last chunk that was read. It is returned when the next chunk arrives, or after verification.
    pending: Option<Bytes>,
    ended: bool,
}

/// The chunks of a file. The stream returns the last chunk only if the size and the hash of the file match.
pub fn verified(
    chunks: Chunks,
    expected: Fingerprint,
) -> impl Stream<Item = Result<Bytes, ReadFault>> + Send + 'static {
    let reading = Reading {
        chunks,
        expected,
        hash: Sha256::new(),
        size: 0,
        pending: None,
        ended: false,
    };
    stream::unfold(reading, |mut reading| async move {
        let next = reading.next().await?;
        if next.is_err() {
            reading.ended = true;
            reading.pending = None;
        }
        Some((next, reading))
    })
    // The compression layer polls once more after the end.
    .fuse()
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Bytes, ReadFault>> {
        while !self.ended {
            match self.chunks.next().await {
                Some(Err(cause)) => return Some(Err(cause.into())),
                Some(Ok(chunk)) => {
                    self.hash.update(&chunk);
                    self.size += chunk.len() as u64;
                    if self.size > self.expected.size {
                        return Some(Err(ReadFault::Damaged));
                    }
                    if let Some(previous) = self.pending.replace(chunk) {
                        return Some(Ok(previous));
                    }
                }
                None => {
                    self.ended = true;
                    let hash = hex(&std::mem::take(&mut self.hash).finalize());
                    if self.size != self.expected.size || hash != self.expected.sha256 {
                        return Some(Err(ReadFault::Damaged));
                    }
                }
            }
        }
        self.pending.take().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a stored file that consists of `chunks`, and whose uploaded content was `content`. Returns the
    /// text that was read, and whether there was no error.
    async fn read(chunks: &[&'static str], content: &str) -> (String, bool) {
        let expected = Fingerprint {
            size: content.len() as u64,
            sha256: hex(&Sha256::digest(content.as_bytes())),
        };
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::from(*chunk))).collect();
        let mut stream = Box::pin(verified(stream::iter(chunks).boxed(), expected));
        let mut read = Vec::new();
        while let Some(chunk) = stream.next().await {
            read.push(chunk);
        }
        assert!(
            stream.next().await.is_none(),
            "compression polls once more after the end"
        );
        let is_complete = read.iter().all(Result::is_ok);
        let bytes = read.into_iter().flatten().flatten().collect();
        (String::from_utf8(bytes).expect("text"), is_complete)
    }

    #[tokio::test]
    async fn the_last_chunk_is_returned_only_after_verification() {
        assert_eq!(read(&["ab", "", "cd"], "abcd").await, ("abcd".into(), true));
        assert_eq!(read(&[], "").await, (String::new(), true));
        assert_eq!(read(&["ab", "cX"], "abcd").await, ("ab".into(), false));
        assert_eq!(read(&["aX", "cd"], "abcd").await, ("aX".into(), false));
        assert_eq!(read(&["ab"], "abcd").await, (String::new(), false));
        assert_eq!(read(&["ab", "cd", "e"], "abcd").await, ("ab".into(), false));
        assert_eq!(read(&["Xbcd"], "abcd").await, (String::new(), false));
    }
}
