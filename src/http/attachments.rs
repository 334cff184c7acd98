//! Attachments on the wire: forms in, bytes out.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::TryStreamExt;
use serde::Serialize;

use super::entity_tags::KnownTags;
use super::extract::At;
use super::upload::{self, Received};
use super::{App, answer, damage};
use crate::files::{self, FilesError, Fingerprint, ReadFault, Verdict};
use crate::model::attachment::{Attachment, NewAttachment};
use crate::model::id::{AttachmentId, TicketId};
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::attachments::{self, Announced};
use crate::rules::caller::Caller;
use crate::rules::error::{FieldError, FilesFault};
use crate::rules::lists::ListRequest;
use crate::rules::{Error, Result, desk};
use crate::store::StoreError;

/// A file of at most so many bytes is read before its answer begins.
const BUFFERED_BYTES: i64 = 256 * 1024;

#[derive(Serialize)]
pub struct AttachmentView<'a> {
    id: i64,
    name: &'a str,
    size: i64,
    sha256: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    created_by: &'a str,
}

impl<'a> AttachmentView<'a> {
    pub fn new(attachment: &'a Attachment) -> Self {
        Self {
            id: attachment.id.0,
            name: attachment.name.as_str(),
            size: attachment.size,
            sha256: &attachment.sha256,
            created: attachment.created,
            created_by: &attachment.created_by,
        }
    }
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    At(ticket): At<TicketId>,
    list: ListRequest,
) -> Result<Response> {
    let attachments = app
        .read(caller, move |tx, caller| {
            attachments::list(tx, caller, ticket, &list)
        })
        .await?;
    Ok(answer::page(&attachments, AttachmentView::new))
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    At(ticket): At<TicketId>,
    request: axum::extract::Request,
) -> Result<Response> {
    take(app, caller, ticket, request).await?;
    Ok(answer::done())
}

/// Makes the file in a form an attachment.
pub async fn take(app: App, caller: Caller, ticket: TicketId, request: axum::extract::Request) -> Result<()> {
    let (head, body) = request.into_parts();
    let announced = upload::announced(&head.headers);
    let asked = announced.clone();
    let expected = app
        .read(caller.clone(), move |tx, caller| {
            attachments::expect(tx, caller, ticket, &asked)
        })
        .await;
    let boundary = match expected {
        Ok(boundary) => boundary,
        Err(refusal) => {
            upload::throw_away(&app, &head.headers, body).await;
            return Err(refusal);
        }
    };
    let received = upload::receive(&app, &head.headers, body, &boundary).await?;
    // From here on it goes to its end, even if the client has gone.
    let attaching = tokio::spawn(attach(app, caller, ticket, announced, received));
    attaching.await.unwrap_or(Err(Error::Store(StoreError::Panicked)))
}

pub async fn download(
    State(app): State<App>,
    caller: Caller,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
) -> Result<Response> {
    let attachment = app
        .read(caller, move |tx, caller| {
            attachments::view(tx, caller, ticket, id)
        })
        .await?;
    send(&app, &attachment).await
}

/// Looks at a file, keeps its bytes, and then makes them an attachment; in this order, so that one
/// that can be seen is always whole.
async fn attach(
    app: App,
    caller: Caller,
    ticket: TicketId,
    announced: Announced,
    received: Received,
) -> Result<()> {
    let Received { name, spooled } = received;
    if let Some(scanner) = app.scanner() {
        match scanner.look_at(spooled.path()).await {
            Verdict::Clean => {}
            Verdict::None(cause) => return Err(Error::Files(FilesFault::Scanner(cause))),
            Verdict::Refused => {
                app.write(caller, move |tx, caller| {
                    attachments::record_refused(tx, caller, ticket, &name)
                })
                .await?;
                let text = "The provider's scanner refused this file; nobody gets to see it";
                let reason = Reason::new(Code::FileRefused, text);
                return Err(Error::Refused(vec![FieldError::on("file", reason)]));
            }
        }
    }
    let key = app.write(caller.clone(), |tx, _| attachments::begin(tx)).await?;
    let new = NewAttachment {
        name,
        size: spooled.size as i64,
        sha256: spooled.sha256.clone(),
        key: key.clone(),
    };
    if let Err(cause) = app.files().keep(&key, &spooled).await {
        // A place that keeps nothing may be as slow to remove it: nobody waits for that.
        tokio::spawn(async move { discard(&app, key).await });
        return Err(storage(&cause));
    }
    let attached = app
        .write(caller, move |tx, caller| {
            attachments::create(tx, caller, ticket, &announced, &new)
        })
        .await
        .map(drop);
    // A failed store may have kept it all the same: then the sweep will know.
    if attached.is_err() && !matches!(attached, Err(Error::Store(_))) {
        discard(&app, key).await;
    }
    attached
}

/// Removes bytes that did not become an attachment. If that fails too, the sweep comes by later.
async fn discard(app: &App, key: String) {
    match app.files().remove(&key).await {
        Err(cause) => tracing::warn!(%cause, "could not remove a file that nobody will see"),
        Ok(()) => {
            let forgotten = app.store().write(move |tx| attachments::forget(tx, &key)).await;
            if let Err(cause) = forgotten {
                tracing::warn!(?cause, "could not forget an upload");
            }
        }
    }
}

/// The bytes of an attachment for one of the staff, which goes into the history.
pub async fn send_to_staff(
    app: App,
    staff: Staff,
    (ticket, id): (TicketId, AttachmentId),
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response> {
    let looked = staff.clone();
    let attachment = app
        .read(looked, move |tx, _| desk::attachment(tx, ticket, id))
        .await?;
    // Only bytes that go out are read by somebody.
    if *method == Method::HEAD || is_known(headers, &attachment) {
        return send(&app, &attachment).await;
    }
    let content = open(&app, &attachment).await?;
    let attachment = app
        .write(staff, move |tx, staff| {
            desk::download(tx, &staff.agent, ticket, id)
        })
        .await?;
    Ok(respond(&attachment, content))
}

/// Whether the client has these bytes already.
fn is_known(headers: &HeaderMap, attachment: &Attachment) -> bool {
    KnownTags::of(headers).is_some_and(|known| known.contain(&tag_of(attachment)))
}

fn tag_of(attachment: &Attachment) -> String {
    format!("\"{}\"", attachment.sha256)
}

/// The bytes of an attachment, for keeping and not for showing.
pub async fn send(app: &App, attachment: &Attachment) -> Result<Response> {
    let content = open(app, attachment).await?;
    Ok(respond(attachment, content))
}

/// The content of an attachment. Of a small file all of it was compared with the hash when this returns; the transfer
/// of a large one is cut before its last piece if its bytes are not those that were uploaded.
async fn open(app: &App, attachment: &Attachment) -> Result<Body> {
    let pieces = app.files().read(&attachment.key).await;
    let pieces = pieces.map_err(|cause| storage(&cause))?;
    let (store, id) = (app.store().clone(), attachment.id);
    let pieces = files::verified(pieces, fingerprint(attachment)).inspect_err(move |fault| {
        if matches!(fault, ReadFault::Damaged) {
            damage::report(&store, id);
        }
    });
    if attachment.size > BUFFERED_BYTES {
        return Ok(Body::from_stream(pieces));
    }
    let read: std::result::Result<Vec<Bytes>, ReadFault> = pieces.try_collect().await;
    match read {
        Ok(pieces) => Ok(Body::from(pieces.concat())),
        Err(ReadFault::Damaged) => Err(Error::Files(FilesFault::Damaged)),
        Err(ReadFault::Io(cause)) => Err(Error::Files(FilesFault::Storage(cause.to_string()))),
    }
}

/// What the bytes of an attachment must be.
pub fn fingerprint(attachment: &Attachment) -> Fingerprint {
    Fingerprint {
        size: u64::try_from(attachment.size).unwrap_or_default(),
        sha256: attachment.sha256.clone(),
    }
}

fn respond(attachment: &Attachment, content: Body) -> Response {
    let mut response = Response::new(content);
    let headers = response.headers_mut();
    let text = |text: String| HeaderValue::try_from(text).expect("written in plain ASCII");
    let kind = HeaderValue::from_static(attachment.name.kind().media_type());
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(attachment.size));
    headers.insert(header::ETAG, text(tag_of(attachment)));
    headers.insert(
        header::CONTENT_DISPOSITION,
        text(disposition(attachment.name.as_str())),
    );
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox"),
    );
    response
}

/// The name twice: once in plain letters for old clients, once as it is.
fn disposition(name: &str) -> String {
    let plain = |c: char| match c {
        '"' | '\\' | '%' => '_',
        ' '..='~' => c,
        _ => '_',
    };
    let simple: String = name.chars().map(plain).collect();
    let mut exact = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => exact.push(byte as char),
            other => exact.push_str(&format!("%{other:02X}")),
        }
    }
    format!("attachment; filename=\"{simple}\"; filename*=UTF-8''{exact}")
}

fn storage(cause: &FilesError) -> Error {
    Error::Files(FilesFault::Storage(cause.to_string()))
}
