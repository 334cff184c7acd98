//! Receives files from a multipart form, limited in size and time, without buffering them in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use multer::{Field, Multipart};
use tokio::sync::Mutex;

use crate::files::Spooled;
use crate::model::attachment::{FileName, with_text_extension};
use crate::model::id::TicketId;
use crate::model::reason::{Code, Reason, Reasons};
use crate::rules::attachments::UploadInfo;
use crate::rules::error::{BodyFault, Error, FieldError, Result};
use crate::rules::uploaders::Uploader;
use crate::store::StoreError;
use crate::uploads::ReceivedFile;
use crate::web::body::expects_continue;
use crate::web::extract::expected;
use crate::web::part_heads::PartHeads;
use crate::web::upload_body::{
    BodySource, MAX_DISCARDED_BYTES, MAX_UPLOAD_TIME, ReadFailure, bytes_of, declared_length,
};
use crate::web::{App, file_names};

/// The maximum size of a form without the files.
const MAX_OTHER_BYTES: u64 = 1024 * 1024;
const FILE_FIELD: &str = "file";

/// Decides by the fields before the first file whether a form is read.
type Admission<'a> = &'a (dyn Fn(&[(String, String)]) -> bool + Sync);

/// Changes the name of a file before it is checked.
type Rename = fn(String) -> String;

/// Receives a file and attaches it to a ticket, with a name that `rename` returns.
pub async fn receive_attachment(
    app: App,
    uploader: Uploader,
    ticket: TicketId,
    request: Request,
    rename: Rename,
) -> Result<()> {
    let (head, body) = request.into_parts();
    let upload_info = upload_info(&head.headers);
    let (info, confirmed) = (upload_info.clone(), uploader.clone());
    let boundary = app
        .store()
        .read(move |tx| confirmed.clone().confirm(tx)?.expect(tx, ticket, &info))
        .await;
    let boundary = match boundary {
        Ok(boundary) => boundary,
        Err(refusal) => {
            discard_body(&app, &head.headers, body).await;
            return Err(refusal);
        }
    };
    let form = read_form(&app, &head.headers, body, (&boundary, 1), None, rename).await?;
    if form.too_large {
        return Err(form.too_large_error());
    }
    let (file, expected) = (form.single_file()?, upload_info.expected);
    // From here on the upload completes even if the client disconnects.
    let uploads = app.uploads();
    let attaching = tokio::spawn(async move { uploads.attach(&uploader, ticket, expected, file).await });
    attaching.await.unwrap_or(Err(Error::Store(StoreError::Panicked)))
}

/// A form of a page with files.
pub struct FormWithFiles {
    pub fields: Vec<(String, String)>,
    pub files: Vec<ReceivedFile>,
    /// The errors of refused files. Then `files` is not complete.
    pub errors: Vec<FieldError>,
    /// The names of all files, as the browser sent them.
    pub names: Vec<String>,
}

/// Receives a form with up to `max_files` files. The fields before the first file must be accepted by `is_admitted`;
/// otherwise, the form is refused without storing a file.
pub async fn receive_form(
    app: &App,
    headers: &HeaderMap,
    body: Body,
    max_files: usize,
    is_admitted: Admission<'_>,
) -> Result<FormWithFiles> {
    let boundary = upload_info(headers).boundary.map_err(Error::Body)?;
    let admission = Some(is_admitted);
    let form = read_form(
        app,
        headers,
        body,
        (&boundary, max_files),
        admission,
        with_text_extension,
    )
    .await?;
    Ok(form.with_fields())
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

/// Reads a form with files. Without `admission`, fields are ignored.
async fn read_form<'a>(
    app: &'a App,
    headers: &HeaderMap,
    body: Body,
    (boundary, max_files): (&str, usize),
    admission: Option<Admission<'a>>,
    rename: Rename,
) -> Result<Form<'a>> {
    let max_bytes = app.store().policy().support.attachment_max_bytes;
    let too_large = || Error::Body(BodyFault::FileTooLarge { max_bytes });
    let max_form_bytes = max_bytes as u64 * max_files as u64 + MAX_OTHER_BYTES;
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
        admission,
        rename,
        unparsed,
        max_bytes: max_bytes as u64,
        max_files,
        errors: Vec::new(),
        fields: Vec::new(),
        field_bytes: 0,
        files: Vec::new(),
        names: Vec::new(),
        file_count: 0,
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
    Ok(form)
}

struct Form<'a> {
    app: &'a App,
    admission: Option<Admission<'a>>,
    rename: Rename,
    /// See [`BodySource`].
    unparsed: Arc<AtomicU64>,
    /// The maximum size of a file.
    max_bytes: u64,
    max_files: usize,
    errors: Vec<FieldError>,
    /// The other parts. Their total size is `field_bytes`.
    fields: Vec<(String, String)>,
    field_bytes: u64,
    /// The names and the contents of the first files. A name is `None` if it is missing or invalid.
    files: Vec<(Option<FileName>, Spooled)>,
    /// The names of all files, also of those that are not read.
    names: Vec<String>,
    /// The number of parts with the name `file`.
    file_count: usize,
    /// Whether a file is larger than `max_bytes`.
    too_large: bool,
}

impl Form<'_> {
    async fn read(&mut self, mut parts: Multipart<'static>) -> std::result::Result<(), ReadFailure> {
        while let Some(mut part) = parts.next_field().await? {
            if part.name() == Some(FILE_FIELD) {
                let is_refused = |is_admitted: Admission| !is_admitted(&self.fields);
                if self.file_count == 0 && self.admission.is_some_and(is_refused) {
                    return Ok(());
                }
                self.file_count += 1;
                self.names
                    .extend(sent_name(&part).filter(|name| !name.is_empty()));
                if self.file_count <= self.max_files {
                    self.read_file(part).await?;
                    continue;
                }
            } else if self.admission.is_some() {
                self.read_field(part).await?;
                continue;
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

    async fn read_field(&mut self, mut part: Field<'static>) -> std::result::Result<(), ReadFailure> {
        let name = part.name().unwrap_or_default().to_owned();
        let mut content = Vec::new();
        while let Some(bytes) = self.next_chunk(&mut part).await? {
            self.field_bytes += bytes.len() as u64;
            if self.field_bytes > MAX_OTHER_BYTES {
                return Err(ReadFailure::FieldsTooLarge);
            }
            content.extend_from_slice(&bytes);
        }
        self.fields
            .push((name, String::from_utf8_lossy(&content).into_owned()));
        Ok(())
    }

    async fn read_file(&mut self, mut part: Field<'static>) -> std::result::Result<(), ReadFailure> {
        let sent_name = sent_name(&part);
        let mut spool = self.app.files().spool().await?;
        while let Some(bytes) = self.next_chunk(&mut part).await? {
            self.too_large |= spool.size() + bytes.len() as u64 > self.max_bytes;
            if !self.too_large {
                spool.write(&bytes).await?;
            }
        }
        let spooled = spool.finish().await?;
        // A browser sends an empty part if the user has selected no file.
        if self.admission.is_some() && spooled.size == 0 && sent_name.as_deref().is_none_or(str::is_empty) {
            self.file_count -= 1;
            return Ok(());
        }
        let name = match sent_name {
            Some(raw) => self.accept(FileName::parse(&(self.rename)(raw))),
            None => {
                let text = "The part \"file\" has no file name";
                self.accept(Err(vec![Reason::new(Code::FileRequired, text)]))
            }
        };
        self.files.push((name, spooled));
        Ok(())
    }

    /// The file of a form that must have exactly one. Reports all errors together.
    fn single_file(mut self) -> Result<ReceivedFile> {
        if self.file_count > 1 {
            let text = "Send one file at a time: there must be one part \"file\"";
            self.add_error(Reason::new(Code::FileCount, text));
        }
        if self.files.is_empty() {
            let text = "file is required: send it as the part \"file\" of the form";
            self.add_error(Reason::new(Code::FileRequired, text));
        }
        let file = self.take_files().pop();
        match file {
            Some(file) if self.errors.is_empty() => Ok(file),
            _ => Err(Error::Refused(self.errors)),
        }
    }

    fn with_fields(mut self) -> FormWithFiles {
        if self.file_count > self.max_files {
            let text = format!("Attach at most {} files", self.max_files);
            self.add_error(Reason::new(Code::AttachmentLimit, text));
        }
        if self.too_large {
            let text = format!("A file is too large. The maximum is {} bytes", self.max_bytes);
            self.add_error(Reason::new(Code::FileTooLarge, text));
        }
        FormWithFiles {
            files: self.take_files(),
            fields: self.fields,
            errors: self.errors,
            names: self.names,
        }
    }

    /// The files with a valid name and content. Adds an error for each other file with a valid name.
    fn take_files(&mut self) -> Vec<ReceivedFile> {
        let mut accepted = Vec::new();
        for (name, spooled) in std::mem::take(&mut self.files) {
            if spooled.size == 0 {
                self.add_error(Reason::new(Code::FileEmpty, "The file is empty"));
            } else if let Some(name) = name {
                match name.kind().check(&spooled.content) {
                    Ok(()) => accepted.push(ReceivedFile { name, spooled }),
                    Err(reason) => self.add_error(reason),
                }
            }
        }
        accepted
    }

    fn too_large_error(&self) -> Error {
        let max_bytes = self.max_bytes as i64;
        Error::Body(BodyFault::FileTooLarge { max_bytes })
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

/// The name of a file, as the client sent it.
fn sent_name(part: &Field<'static>) -> Option<String> {
    let disposition = part.headers().get(header::CONTENT_DISPOSITION);
    disposition.and_then(file_names::sent_in)
}
