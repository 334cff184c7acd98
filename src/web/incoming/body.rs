//! Reads request bodies, limited in size, time and depth.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;

use crate::model::brand_image::{ImageFormat, MAX_IMAGE_BYTES};
use crate::model::input::Input;
use crate::model::reason::{Code, Reason};
use crate::rules::error::BodyFault;
use crate::web::json;

pub const MAX_BODY_BYTES: usize = 1024 * 1024;
/// The maximum number of bytes that the server reads and discards after the size limit. A client that is
/// still sending can then read its response.
const MAX_DISCARDED_BYTES: usize = 8 * MAX_BODY_BYTES;

/// The content types of images.
const IMAGE_TYPES: [&str; 2] = [ImageFormat::Png.media_type(), ImageFormat::Svg.media_type()];

/// Parses the body as a JSON object; an empty body is an empty object.
pub async fn read(request: Request, timeout: Duration) -> Result<Input, BodyFault> {
    let (parts, body) = request.into_parts();
    let bytes = bytes(&parts.headers, body, MAX_BODY_BYTES, timeout).await?;
    if bytes.is_empty() {
        return Ok(Input::Object(Vec::new()));
    }
    if let Some(sent) = unsupported_type(&parts.headers) {
        return Err(BodyFault::NotJson { sent });
    }
    match json::parse(&bytes) {
        Ok(object @ Input::Object(_)) => Ok(object),
        Ok(_) => {
            let reason = Reason::new(Code::JsonNotObject, "Must be a JSON object");
            Err(BodyFault::Unreadable(reason))
        }
        Err(reason) => Err(BodyFault::Unreadable(reason)),
    }
}

/// Reads an image, which is the whole body. A request without a content type counts as an image.
pub async fn image(request: Request, timeout: Duration) -> Result<Bytes, BodyFault> {
    let (parts, body) = request.into_parts();
    let bytes = bytes(&parts.headers, body, MAX_IMAGE_BYTES, timeout).await?;
    let sent = parts.headers.get(header::CONTENT_TYPE);
    let sent = sent.map(|sent| sent.to_str().unwrap_or("an unreadable content type"));
    let essence = sent.map(|sent| sent.split(';').next().unwrap_or_default().trim());
    match essence {
        Some(sent)
            if !IMAGE_TYPES
                .iter()
                .any(|accepted| sent.eq_ignore_ascii_case(accepted)) =>
        {
            Err(BodyFault::NotImage {
                sent: sent.to_owned(),
            })
        }
        _ => Ok(bytes),
    }
}

/// Reads a whole body, within the size limit and the timeout.
pub async fn bytes(
    headers: &HeaderMap,
    body: Body,
    max_bytes: usize,
    timeout: Duration,
) -> Result<Bytes, BodyFault> {
    match tokio::time::timeout(timeout, collect(headers, body, max_bytes)).await {
        Ok(collected) => collected,
        Err(_) => Err(BodyFault::TooSlow),
    }
}

async fn collect(headers: &HeaderMap, mut body: Body, max_bytes: usize) -> Result<Bytes, BodyFault> {
    let too_large = BodyFault::TooLarge { max_bytes };
    let declared_length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    // A client that expects a 100 response has sent nothing yet, so there is nothing to discard.
    let max_discarded = if expects_continue(headers) {
        0
    } else {
        MAX_DISCARDED_BYTES
    };
    if declared_length.is_some_and(|length: u64| length > (max_bytes + max_discarded) as u64) {
        return Err(too_large);
    }
    let mut bytes = Vec::new();
    let mut received = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let reason = Reason::new(Code::JsonInvalid, "Incomplete request body");
            return Err(BodyFault::Unreadable(reason));
        };
        let Ok(data) = frame.into_data() else { continue };
        received += data.len();
        if received > max_bytes + MAX_DISCARDED_BYTES {
            return Err(too_large);
        }
        if received <= max_bytes {
            bytes.extend_from_slice(&data);
        }
    }
    if received > max_bytes {
        Err(too_large)
    } else {
        Ok(bytes.into())
    }
}

/// Whether the client waits for a 100 response before it sends the body (`Expect: 100-continue`). Hyper sends the 100
/// response when the server begins to read the body.
pub fn expects_continue(headers: &HeaderMap) -> bool {
    headers.contains_key(header::EXPECT)
}

/// The content type, if it is not JSON in UTF-8. A request without a content type counts as JSON.
fn unsupported_type(headers: &HeaderMap) -> Option<String> {
    let sent = headers
        .get(header::CONTENT_TYPE)?
        .to_str()
        .unwrap_or("an unreadable content type");
    let (essence, parameters) = sent.split_once(';').unwrap_or((sent, ""));
    match essence.trim() {
        essence if !essence.eq_ignore_ascii_case("application/json") => Some(essence.to_owned()),
        _ if !is_utf8(parameters) => Some(sent.to_owned()),
        _ => None,
    }
}

/// Whether the parameters of a content type allow UTF-8, the only encoding of JSON (RFC 8259, 8.1).
fn is_utf8(parameters: &str) -> bool {
    let charsets = parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    let is_utf8 = |charset: &str| {
        let charset = charset.trim().trim_matches('"');
        ["utf-8", "utf8", "us-ascii"]
            .iter()
            .any(|known| charset.eq_ignore_ascii_case(known))
    };
    charsets.into_iter().all(|(_, charset)| is_utf8(charset))
}
