//! Downloads, with `Content-Disposition: attachment`: verified bytes of attachments, and JSON files. Images are also sent
//! for display in a page.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};

use crate::files::{self, ReadFault};
use crate::model::attachment::Attachment;
use crate::model::id::{AttachmentId, TicketId};
use crate::rules::agent::Staff;
use crate::rules::error::FilesFault;
use crate::rules::{Error, Result, desk_attachments};
use crate::uploads::damage;
use crate::uploads::storage;
use crate::web::entity_tags::KnownTags;
use crate::web::{App, answer};

type Chunks = BoxStream<'static, std::result::Result<Bytes, ReadFault>>;

/// The size of the largest file that the server reads and verifies completely before the response begins.
const MAX_BUFFERED_BYTES: i64 = 256 * 1024;

/// Sends an attachment to a member of staff and records the download in the ticket's history.
pub async fn send_to_staff(
    app: App,
    staff: Staff,
    (ticket, id): (TicketId, AttachmentId),
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response> {
    let reader = staff.clone();
    let attachment = app
        .read(reader, move |tx, _| desk_attachments::view(tx, ticket, id))
        .await?;
    // Only a response with content counts as a download.
    if *method == Method::HEAD || is_known(headers, &attachment) {
        return send(&app, &attachment).await;
    }
    let content = open(&app, &attachment).await?;
    let attachment = app
        .write(staff, move |tx, staff| {
            desk_attachments::download(tx, &staff.agent, ticket, id)
        })
        .await?;
    Ok(respond(&attachment, content))
}

/// Whether the client already has these bytes (`If-None-Match`).
fn is_known(headers: &HeaderMap, attachment: &Attachment) -> bool {
    KnownTags::of(headers).is_some_and(|known| known.contain(&tag_of(attachment)))
}

fn tag_of(attachment: &Attachment) -> String {
    format!("\"{}\"", attachment.sha256)
}

/// Sends an attachment as a download.
pub async fn send(app: &App, attachment: &Attachment) -> Result<Response> {
    let content = open(app, attachment).await?;
    Ok(respond(attachment, content))
}

/// Opens the content of an attachment. A small file is verified completely before this function returns. A large file
/// is verified during the transfer: if the hash does not match, the transfer is aborted before the last chunk.
async fn open(app: &App, attachment: &Attachment) -> Result<Body> {
    let chunks = read(app, attachment).await?;
    if attachment.size > MAX_BUFFERED_BYTES {
        return Ok(Body::from_stream(chunks));
    }
    Ok(Body::from(collect(chunks).await?))
}

/// The verified content of an attachment. Reports damage.
async fn read(app: &App, attachment: &Attachment) -> Result<Chunks> {
    let chunks = app.files().read(&attachment.key).await;
    let chunks = chunks.map_err(|cause| storage(&cause))?;
    let (store, id) = (app.store().clone(), attachment.id);
    let verified = files::verified(chunks, attachment.into());
    let chunks = verified.inspect_err(move |fault| {
        if matches!(fault, ReadFault::Damaged) {
            damage::report(&store, id);
        }
    });
    Ok(chunks.boxed())
}

/// Reads a file completely.
async fn collect(chunks: Chunks) -> Result<Vec<u8>> {
    let read: std::result::Result<Vec<Bytes>, ReadFault> = chunks.try_collect().await;
    match read {
        Ok(chunks) => Ok(chunks.concat()),
        Err(ReadFault::Damaged) => Err(Error::Files(FilesFault::Damaged)),
        Err(ReadFault::Io(cause)) => Err(Error::Files(FilesFault::Storage(cause.to_string()))),
    }
}

/// Sends an attachment for display in a page of the same origin. Fails with `NotFound` if it is not an image that
/// browsers can show safely: the content type is fixed by the extension, and the policy permits no scripts even if a
/// user opens the image as a page.
pub async fn send_image(app: &App, attachment: &Attachment) -> Result<Response> {
    if !attachment.is_image() {
        return Err(Error::NotFound);
    }
    let content = collect(read(app, attachment).await?).await?;
    if !attachment.is_displayable(&content) {
        return Err(Error::NotFound);
    }
    let mut response = respond(attachment, Body::from(content));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    );
    Ok(response)
}

fn respond(attachment: &Attachment, content: Body) -> Response {
    let mut response = Response::new(content);
    let headers = response.headers_mut();
    let header_value = |text: String| HeaderValue::try_from(text).expect("the text is plain ASCII");
    let kind = HeaderValue::from_static(attachment.name.kind().media_type());
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(attachment.size));
    headers.insert(header::ETAG, header_value(tag_of(attachment)));
    headers.insert(
        header::CONTENT_DISPOSITION,
        header_value(disposition(attachment.name.as_str())),
    );
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox"),
    );
    response
}

/// A JSON text as a file to download. `name` is plain ASCII.
pub fn json_file(name: &str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, answer::JSON);
    headers.insert(
        header::CONTENT_DISPOSITION,
        HeaderValue::try_from(disposition(name)).expect("the text is plain ASCII"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The value of `Content-Disposition`. It has the file name twice: in ASCII for old clients, and in UTF-8.
fn disposition(name: &str) -> String {
    let to_ascii = |c: char| match c {
        '"' | '\\' | '%' => '_',
        ' '..='~' => c,
        _ => '_',
    };
    let ascii: String = name.chars().map(to_ascii).collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(byte as char),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}
