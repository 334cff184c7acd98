//! The fields of an HTML form or an OAuth request.

use std::collections::HashSet;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use futures_util::stream;
use multer::Multipart;

use crate::model::reason::{Code, Reason};
use crate::model::token::Secret;
use crate::rules::error::{BodyFault, Error, Result};
use crate::web::{App, body};

/// The accepted encodings of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormEncoding {
    UrlEncoded,
    /// Also accepts multipart/form-data.
    UrlencodedOrMultipart,
}

/// The maximum size of a form. It is smaller than that of other bodies, because most of these forms are read before the
/// client is authenticated, and a log-in waits with its form until its password can be compared.
const MAX_FORM_BYTES: usize = 64 * 1024;

pub struct Fields(Vec<(String, String)>);

impl Fields {
    pub async fn read(app: &App, request: Request, encoding: FormEncoding) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let bytes = body::bytes(&parts.headers, body, MAX_FORM_BYTES, app.options().body_timeout).await;
        let bytes = bytes.map_err(Error::Body)?;
        let sent = content_type(&parts.headers);
        if bytes.is_empty() || has_type(&sent, "application/x-www-form-urlencoded") {
            return Ok(Self(pairs(&bytes)));
        }
        match multer::parse_boundary(&sent) {
            Ok(boundary) if encoding == FormEncoding::UrlencodedOrMultipart => {
                Ok(Self(parse_multipart(bytes, boundary).await?))
            }
            _ => {
                let sent = sent.split(';').next().unwrap_or_default().trim().to_owned();
                Err(Error::Body(BodyFault::NotForm { sent }))
            }
        }
    }

    /// The value of a field. An empty value counts as missing.
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub fn secret(&self, name: &str) -> Option<Secret> {
        self.owned(name).map(Secret::new)
    }

    /// The name of a field that occurs more than once, if there is one.
    pub fn repeated(&self) -> Option<&str> {
        let mut seen = HashSet::new();
        let mut names = self.0.iter().map(|(name, _)| name.as_str());
        names.find(|name| !seen.insert(*name))
    }
}

/// A multipart form that was read into memory.
pub struct SmallForm {
    pub fields: Vec<(String, String)>,
    /// The files that the user has chosen, with the names of their fields.
    pub files: Vec<(String, Bytes)>,
}

/// Reads a multipart form with small files.
pub async fn small_form(
    app: &App,
    headers: &HeaderMap,
    body: Body,
    max_bytes: usize,
) -> Result<SmallForm, BodyFault> {
    let bytes = body::bytes(headers, body, max_bytes, app.options().body_timeout).await?;
    let sent = content_type(headers);
    let Ok(boundary) = multer::parse_boundary(&sent) else {
        return Err(BodyFault::NotMultipart { sent });
    };
    let mut parts = Multipart::new(stream::iter([Ok::<_, std::convert::Infallible>(bytes)]), boundary);
    let unreadable = |_| {
        let text = "Malformed or incomplete multipart/form-data body";
        BodyFault::Unreadable(Reason::new(Code::MultipartInvalid, text))
    };
    let (mut fields, mut files) = (Vec::new(), Vec::new());
    while let Some(part) = parts.next_field().await.map_err(unreadable)? {
        let name = part.name().unwrap_or_default().to_owned();
        let file_name = part.file_name().map(str::to_owned);
        let content = part.bytes().await.map_err(unreadable)?;
        match file_name {
            None => fields.push((name, String::from_utf8_lossy(&content).into_owned())),
            // A browser sends an empty part if the user has selected no file.
            Some(file_name) if file_name.is_empty() && content.is_empty() => {}
            Some(_) => files.push((name, content)),
        }
    }
    Ok(SmallForm { fields, files })
}

/// Parses a query string, or a form in the same encoding.
pub fn pairs(query: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(query).into_owned().collect()
}

async fn parse_multipart(bytes: Bytes, boundary: String) -> Result<Vec<(String, String)>> {
    let body = stream::iter([Ok::<_, std::convert::Infallible>(bytes)]);
    let mut parts = Multipart::new(body, boundary);
    let mut fields = Vec::new();
    // A part may contain a secret, so the error has no details.
    let unreadable = |_| {
        let reason = Reason::new(
            Code::MultipartInvalid,
            "Malformed or incomplete multipart/form-data body",
        );
        Error::Body(BodyFault::Unreadable(reason))
    };
    while let Some(part) = parts.next_field().await.map_err(unreadable)? {
        if let Some(name) = part.name().map(str::to_owned) {
            fields.push((name, part.text().await.map_err(unreadable)?));
        }
    }
    Ok(fields)
}

fn content_type(headers: &HeaderMap) -> String {
    let sent = headers.get(header::CONTENT_TYPE);
    sent.and_then(|value| value.to_str().ok())
        .unwrap_or("nothing")
        .to_owned()
}

fn has_type(sent: &str, kind: &str) -> bool {
    let essence = sent.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(kind)
}
