//! Receives a file from a multipart form, limited in size and time, without buffering the file in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body_util::BodyExt;
use multer::{Field, Multipart};
use tokio::sync::Mutex;

use crate::files::{FilesError, Spooled};
use crate::model::attachment::FileName;
use crate::model::id::TicketId;
use crate::model::reason::{Code, Reason, Reasons};
use crate::rules::attachments::{self, UploadInfo};
use crate::rules::caller::Caller;
use crate::rules::error::{BodyFault, Error, FieldError, FilesFault, Result};
use crate::store::StoreError;
use crate::uploads::Upload;
use crate::web::body::expects_continue;
use crate::web::extract::expected;
use crate::web::part_heads::PartHeads;
use crate::web::{App, file_names};

/// The maximum size of a form without the file.
const MAX_OTHER_BYTES: u64 = 1024 * 1024;
/// The maximum size of a part's headers, and of the preamble.
const MAX_PART_HEAD_BYTES: u64 = 64 * 1024;
/// The maximum number of bytes that the server reads and discards after the size limit. A client that is
/// still sending can then read its response.
const MAX_DISCARDED_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum duration of an upload.
const MAX_UPLOAD_TIME: Duration = Duration::from_secs(15 * 60);
const FILE_FIELD: &str = "file";

/// A received file with a valid name.
struct Received {
    name: FileName,
    spooled: Spooled,
}

/// Receives a file and attaches it to a ticket.
pub async fn receive_attachment(app: App, caller: Caller, ticket: TicketId, request: Request) -> Result<()> {
    let (head, body) = request.into_parts();
    let upload_info = upload_info(&head.headers);
    let info = upload_info.clone();
    let boundary = app
        .read(caller.clone(), move |tx, caller| {
            attachments::expect(tx, caller, ticket, &info)
        })
        .await;
    let boundary = match boundary {
        Ok(boundary) => boundary,
        Err(refusal) => {
            discard_body(&app, &head.headers, body).await;
            return Err(refusal);
        }
    };
    let Received { name, spooled } = receive(&app, &head.headers, body, &boundary).await?;
    let upload = Upload {
        ticket,
        expected: upload_info.expected,
        name,
        spooled,
    };
    // From here on the upload completes even if the client disconnects.
    let uploads = app.uploads();
    let attaching = tokio::spawn(async move { uploads.attach(caller, upload).await });
    attaching.await.unwrap_or(Err(Error::Store(StoreError::Panicked)))
}

/// Parses the request headers that describe the upload.
fn upload_info(headers: &HeaderMap) -> UploadInfo {
    let sent = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let boundary = multer::parse_boundary(sent.unwrap_or_default()).map_err(|_| {
        let kind = sent.map_or("nothing", |sent| sent.split(';').next().unwrap_or_default());
        let sent = match kind.trim() {
            "multipart/form-data" => "multipart/form-data without a boundary".to_owned(),
            other => other.to_owned(),
        };
        BodyFault::NotMultipart { sent }
    });
    UploadInfo {
        expected: expected(headers),
        boundary,
    }
}

/// Reads and discards the body of a refused upload.
async fn discard_body(app: &App, headers: &HeaderMap, body: Body) {
    if !expects_continue(headers)
        && declared_length(headers).is_none_or(|length| length <= MAX_DISCARDED_BYTES)
    {
        let mut source = BodySource::new(body, 0, app.options().body_timeout);
        source.discard_remainder().await;
    }
}

/// Reads a form with one file. Reports all errors together.
async fn receive(app: &App, headers: &HeaderMap, body: Body, boundary: &str) -> Result<Received> {
    let max_bytes = app.store().policy().support.attachment_max_bytes;
    let too_large = || Error::Body(BodyFault::FileTooLarge { max_bytes });
    let max_form_bytes = max_bytes as u64 + MAX_OTHER_BYTES;
    let max_discarded = if expects_continue(headers) {
        0
    } else {
        MAX_DISCARDED_BYTES
    };
    if declared_length(headers).is_some_and(|length| length > max_form_bytes + max_discarded) {
        return Err(too_large());
    }
    let source = BodySource::new(body, max_form_bytes, app.options().body_timeout);
    let unparsed = source.unparsed.clone();
    let source = Arc::new(Mutex::new(source));
    let mut form = Form {
        app,
        unparsed,
        max_bytes: max_bytes as u64,
        errors: Vec::new(),
        file: None,
        files: 0,
        too_large: false,
    };
    let parts = Multipart::new(bytes_of(source.clone(), PartHeads::new(boundary)), boundary);
    let read = tokio::time::timeout(MAX_UPLOAD_TIME, form.read(parts)).await;
    source.lock().await.discard_remainder().await;
    match read {
        Ok(read) => read.map_err(|failure| match failure.into_error() {
            // The form as a whole is too large. Report which part exceeds its limit: the file or the other fields.
            Error::Body(BodyFault::TooLarge { .. }) if form.too_large => too_large(),
            Error::Body(BodyFault::TooLarge { .. }) => Error::Body(BodyFault::TooLarge {
                max_bytes: max_form_bytes as usize,
            }),
            other => other,
        })?,
        Err(_) => return Err(Error::Body(BodyFault::TooSlow)),
    }
    match form.too_large {
        true => Err(too_large()),
        false => form.finish().await,
    }
}

struct Form<'a> {
    app: &'a App,
    /// See [`BodySource`].
    unparsed: Arc<AtomicU64>,
    /// The maximum size of the file.
    max_bytes: u64,
    errors: Vec<FieldError>,
    /// The name and the content of the first file. The name is `None` if it is missing or invalid.
    file: Option<(Option<FileName>, Spooled)>,
    /// The number of parts with the name `file`.
    files: usize,
    /// Whether the file is larger than `max_bytes`.
    too_large: bool,
}

impl Form<'_> {
    async fn read(&mut self, mut parts: Multipart<'static>) -> std::result::Result<(), ReadFailure> {
        while let Some(mut part) = parts.next_field().await? {
            if part.name() == Some(FILE_FIELD) {
                self.files += 1;
                if self.files == 1 {
                    self.read_file(part).await?;
                    continue;
                }
            }
            while self.next_chunk(&mut part).await?.is_some() {}
        }
        Ok(())
    }

    /// The next bytes of a part's content.
    async fn next_chunk(&self, part: &mut Field<'static>) -> std::result::Result<Option<Bytes>, ReadFailure> {
        self.unparsed.store(0, Ordering::Relaxed);
        Ok(part.chunk().await?)
    }

    async fn read_file(&mut self, mut part: Field<'static>) -> std::result::Result<(), ReadFailure> {
        let disposition = part.headers().get(header::CONTENT_DISPOSITION);
        let name = match disposition.and_then(file_names::sent_in) {
            Some(raw) => self.accept(FileName::parse(&raw)),
            None => {
                let text = "The part \"file\" has no file name";
                self.accept(Err(vec![Reason::new(Code::FileRequired, text)]))
            }
        };
        let mut spool = self.app.files().spool().await?;
        while let Some(bytes) = self.next_chunk(&mut part).await? {
            self.too_large |= spool.size() + bytes.len() as u64 > self.max_bytes;
            if !self.too_large {
                spool.write(&bytes).await?;
            }
        }
        self.file = Some((name, spool.finish().await?));
        Ok(())
    }

    async fn finish(mut self) -> Result<Received> {
        if self.files > 1 {
            let text = "Send one file at a time: there must be one part \"file\"";
            self.add_error(Reason::new(Code::FileCount, text));
        }
        let Some((name, spooled)) = self.file.take() else {
            let text = "file is required: send it as the part \"file\" of the form";
            self.add_error(Reason::new(Code::FileRequired, text));
            return Err(Error::Refused(self.errors));
        };
        if spooled.size == 0 {
            self.add_error(Reason::new(Code::FileEmpty, "The file is empty"));
        } else if let Some(name) = &name
            && let Err(reason) = name.kind().check(&spooled.content)
        {
            self.add_error(reason);
        }
        match name {
            Some(name) if self.errors.is_empty() => Ok(Received { name, spooled }),
            _ => Err(Error::Refused(self.errors)),
        }
    }

    fn accept<T>(&mut self, parsed: std::result::Result<T, Reasons>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(reasons) => {
                reasons.into_iter().for_each(|reason| self.add_error(reason));
                None
            }
        }
    }

    fn add_error(&mut self, reason: Reason) {
        self.errors.push(FieldError::on(FILE_FIELD, reason));
    }
}

/// The reason why a form could not be read completely.
#[derive(Debug)]
enum ReadFailure {
    Form(multer::Error),
    Files(FilesError),
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
    fn into_error(self) -> Error {
        let cause = match self {
            ReadFailure::Files(cause) => return Error::Files(FilesFault::Storage(cause.to_string())),
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
enum BodyFailure {
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
struct BodySource {
    body: Body,
    max_bytes: u64,
    timeout: Duration,
    received: u64,
    /// The number of bytes received since the parser last returned a part or content.
    unparsed: Arc<AtomicU64>,
    ended: bool,
}

impl BodySource {
    fn new(body: Body, max_bytes: u64, timeout: Duration) -> Self {
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
    async fn discard_remainder(&mut self) {
        self.max_bytes = 0;
        let discard = async { while let Ok(Some(_)) = self.next().await {} };
        let _ = tokio::time::timeout(MAX_UPLOAD_TIME, discard).await;
    }
}

/// The body as a stream for the parser, without control characters in the part headers.
fn bytes_of(
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

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
