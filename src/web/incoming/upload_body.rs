//! The body of an upload: read with limits, and as input of the multipart parser.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body_util::BodyExt;
use tokio::sync::Mutex;

use crate::files::FilesError;
use crate::model::reason::{Code, Reason};
use crate::rules::error::{BodyFault, Error, FilesFault};
use crate::web::part_heads::PartHeads;

/// The maximum size of a part's headers, and of the preamble.
const MAX_PART_HEAD_BYTES: u64 = 64 * 1024;
/// The maximum number of bytes that the server reads and discards after the size limit. A client that is
/// still sending can then read its response.
pub const MAX_DISCARDED_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum duration of an upload.
pub const MAX_UPLOAD_TIME: Duration = Duration::from_secs(15 * 60);

/// The reason why a form could not be read completely.
#[derive(Debug)]
pub enum ReadFailure {
    Form(multer::Error),
    Files(FilesError),
    /// The fields of the form are too large.
    FieldsTooLarge,
}

impl From<multer::Error> for ReadFailure {
    fn from(cause: multer::Error) -> Self {
        ReadFailure::Form(cause)
    }
}

impl From<FilesError> for ReadFailure {
    fn from(cause: FilesError) -> Self {
        ReadFailure::Files(cause)
    }
}

impl ReadFailure {
    pub fn into_error(self) -> Error {
        let cause = match self {
            ReadFailure::Files(cause) => return Error::Files(FilesFault::Storage(cause.to_string())),
            ReadFailure::FieldsTooLarge => return Error::Body(BodyFault::TooLarge { max_bytes: 0 }),
            ReadFailure::Form(cause) => cause,
        };
        let failure = match &cause {
            multer::Error::StreamReadFailed(cause) => cause.downcast_ref::<BodyFailure>(),
            _ => None,
        };
        let detail = match failure {
            Some(BodyFailure::TooMuch) => return Error::Body(BodyFault::TooLarge { max_bytes: 0 }),
            Some(BodyFailure::TooSlow) => return Error::Body(BodyFault::TooSlow),
            Some(failure @ (BodyFailure::Disconnected | BodyFailure::HeadTooLong)) => failure.to_string(),
            None => cause.to_string(),
        };
        let text = format!("Malformed or incomplete multipart/form-data body: {detail}");
        Error::Body(BodyFault::Unreadable(Reason::new(Code::MultipartInvalid, text)))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BodyFailure {
    #[error("it is too large")]
    TooMuch,
    #[error("it did not arrive in time")]
    TooSlow,
    #[error("the connection was closed")]
    Disconnected,
    #[error("there are more than {MAX_PART_HEAD_BYTES} bytes before a part's content")]
    HeadTooLong,
}

/// Reads a body of at most `max_bytes`. If the body is larger, it reads and discards at most
/// `MAX_DISCARDED_BYTES` more, and then fails.
pub struct BodySource {
    body: Body,
    max_bytes: u64,
    timeout: Duration,
    received: u64,
    /// The number of bytes received since the parser last returned a part or content.
    pub unparsed: Arc<AtomicU64>,
    ended: bool,
}

impl BodySource {
    pub fn new(body: Body, max_bytes: u64, timeout: Duration) -> Self {
        Self {
            body,
            max_bytes,
            timeout,
            received: 0,
            unparsed: Arc::default(),
            ended: false,
        }
    }

    async fn next(&mut self) -> std::result::Result<Option<Bytes>, BodyFailure> {
        if self.ended {
            return Ok(None);
        }
        loop {
            let frame = tokio::time::timeout(self.timeout, self.body.frame()).await;
            self.ended = !matches!(frame, Ok(Some(Ok(_))));
            let frame = match frame {
                Err(_) => return Err(BodyFailure::TooSlow),
                Ok(None) if self.received > self.max_bytes => return Err(BodyFailure::TooMuch),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(BodyFailure::Disconnected),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(bytes) = frame.into_data() else { continue };
            self.received += bytes.len() as u64;
            if self.received > self.max_bytes + MAX_DISCARDED_BYTES {
                self.ended = true;
                return Err(BodyFailure::TooMuch);
            }
            if self.received <= self.max_bytes {
                return Ok(Some(bytes));
            }
        }
    }

    /// The next bytes for the parser. The parser buffers its input until it returns a part or content. If it
    /// would have to buffer too many bytes, this function fails.
    async fn next_to_parse(&mut self) -> std::result::Result<Option<Bytes>, BodyFailure> {
        if self.unparsed.load(Ordering::Relaxed) > MAX_PART_HEAD_BYTES {
            return Err(BodyFailure::HeadTooLong);
        }
        let bytes = self.next().await?;
        let length = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.unparsed.fetch_add(length, Ordering::Relaxed);
        Ok(bytes)
    }

    /// Reads and discards the remainder of the body.
    pub async fn discard_remainder(&mut self) {
        self.max_bytes = 0;
        let discard = async { while let Ok(Some(_)) = self.next().await {} };
        let _ = tokio::time::timeout(MAX_UPLOAD_TIME, discard).await;
    }
}

/// The body as a stream for the parser, without control characters in the part headers.
pub fn bytes_of(
    source: Arc<Mutex<BodySource>>,
    heads: PartHeads,
) -> impl Stream<Item = std::result::Result<Bytes, BodyFailure>> + Send + 'static {
    stream::unfold((source, heads), |(source, mut heads)| async move {
        // Let the consumer process the previous chunk first: the parser would otherwise buffer everything
        // that has arrived.
        tokio::task::yield_now().await;
        let bytes = source.lock().await.next_to_parse().await;
        let bytes = bytes.map(|bytes| bytes.map(|bytes| heads.without_controls(bytes)));
        bytes.transpose().map(|bytes| (bytes, (source, heads)))
    })
}

pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
