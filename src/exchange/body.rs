//! Turns the bytes of a body into its recorded form, without secrets.

use bytes::Bytes;
use multer::Multipart;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::capture::Captured;
use super::masking::Masker;
use super::recording::{Part, RecordedBody};
use crate::model::token::hex;

/// The form of a body, still with its secrets. `None` for an empty body.
pub async fn read(content_type: &str, captured: &Captured) -> Option<RecordedBody> {
    if content_type.starts_with("text/event-stream") {
        return Some(RecordedBody::EventStream);
    }
    let as_bytes = || RecordedBody::Bytes {
        size: captured.size,
        sha256: captured.sha256(),
    };
    let Some(bytes) = &captured.bytes else {
        return Some(as_bytes());
    };
    if bytes.is_empty() {
        return None;
    }
    if let Ok(boundary) = multer::parse_boundary(content_type) {
        let parts = read_parts(bytes, boundary).await;
        return Some(parts.map_or_else(|_| as_bytes(), RecordedBody::Multipart));
    }
    // A client can send JSON without its content type, or with that of a form, as curl does.
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        return Some(RecordedBody::Json(value));
    }
    if content_type.starts_with("application/x-www-form-urlencoded") {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(bytes).into_owned().collect();
        let is_form = pairs.iter().all(|(name, _)| is_field_name(name));
        return Some(match is_form {
            true => RecordedBody::Form(pairs),
            false => as_bytes(),
        });
    }
    let text = std::str::from_utf8(bytes).ok().filter(|_| is_text(content_type));
    Some(text.map_or_else(as_bytes, |text| RecordedBody::Text(text.to_owned())))
}

/// Whether a body that is not JSON can be recorded as text. In JSON with a syntax error, the names of fields do not
/// show which values are secret.
fn is_text(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.starts_with("text/") || media_type.ends_with("/yaml")
}

/// Whether a text is the name of a field of a form, and not a document that was sent as a form.
fn is_field_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
    !name.is_empty() && name.chars().all(is_allowed)
}

/// The form of the body of a request. Unlike that of a response, it is never text: a client can send a document with
/// secrets as text.
pub async fn read_request(content_type: &str, captured: &Captured) -> Option<RecordedBody> {
    match read(content_type, captured).await {
        Some(RecordedBody::Text(_)) => Some(RecordedBody::Bytes {
            size: captured.size,
            sha256: captured.sha256(),
        }),
        body => body,
    }
}

async fn read_parts(bytes: &[u8], boundary: String) -> multer::Result<Vec<Part>> {
    let bytes = Bytes::copy_from_slice(bytes);
    let stream = futures_util::stream::once(async move { Ok::<_, std::io::Error>(bytes) });
    let mut multipart = Multipart::new(stream, boundary);
    let mut parts = Vec::new();
    while let Some(field) = multipart.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        let file_name = field.file_name().map(str::to_owned);
        let content = field.bytes().await?;
        let is_file = file_name.is_some();
        parts.push(Part {
            name,
            file_name,
            size: is_file.then_some(content.len() as u64),
            sha256: is_file.then(|| hex(&Sha256::digest(&content))),
            value: (!is_file).then(|| String::from_utf8_lossy(&content).into_owned()),
        });
    }
    Ok(parts)
}

/// Learns the secrets of a body.
pub fn learn(masker: &mut Masker, body: Option<&RecordedBody>) {
    match body {
        Some(RecordedBody::Json(value)) => masker.learn_json(value),
        Some(RecordedBody::Form(pairs)) => masker.learn_pairs(pairs),
        Some(RecordedBody::Multipart(parts)) => {
            let values = parts.iter().filter_map(|part| {
                let value = part.value.as_ref()?;
                Some((part.name.clone(), value.clone()))
            });
            masker.learn_pairs(&values.collect::<Vec<_>>());
        }
        _ => {}
    }
}

/// Masks the secrets of a body.
pub fn mask(masker: &mut Masker, body: &mut RecordedBody) {
    match body {
        RecordedBody::Json(value) => masker.json(value),
        RecordedBody::Form(pairs) => masker.pairs(pairs),
        RecordedBody::Multipart(parts) => {
            for part in parts {
                part.file_name = part.file_name.take().map(|name| masker.text(&name));
                if let Some(value) = part.value.take() {
                    let mut pair = [(part.name.clone(), value)];
                    masker.pairs(&mut pair);
                    let [(_, value)] = pair;
                    part.value = Some(value);
                }
            }
        }
        RecordedBody::Text(text) => *text = masker.text(text),
        RecordedBody::Bytes { .. } | RecordedBody::EventStream => {}
    }
}
