//! Writes completed exchanges to the file, without secrets.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::header::{self, HeaderMap};
use serde_json::Value;
use tokio::sync::mpsc;

use super::body;
use super::capture::Captured;
use super::masking::Masker;
use super::path_segment::{decoded, encoded};
use super::recording::{self, Exchange, RecordedBody, RecordedRequest, RecordedResponse};
use crate::web::paths::without_secrets;

/// The recorded headers of requests. `Authorization` is recorded without its secret.
const REQUEST_HEADERS: [&str; 6] = [
    "accept",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "x-filter",
];

/// The recorded headers of responses.
const RESPONSE_HEADERS: [&str; 11] = [
    "allow",
    "content-disposition",
    "content-encoding",
    "content-type",
    "dry-run",
    "etag",
    "idempotency-replayed",
    "location",
    "retry-after",
    "x-accepted-oauth-scopes",
    "x-oauth-scopes",
];

/// A request and its response, with their secrets.
pub struct Completed {
    pub request: SentRequest,
    /// The response, or why there is none.
    pub response: Result<ReceivedResponse, String>,
}

pub struct SentRequest {
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    pub headers: HeaderMap,
    pub body: Captured,
}

pub struct ReceivedResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Captured,
}

pub struct Recorder {
    file: File,
    masker: Masker,
    count: Arc<AtomicU64>,
}

impl Recorder {
    /// Writes the first line of the file.
    pub fn start(mut file: File, upstream: &str) -> anyhow::Result<Self> {
        recording::write_start(&mut file, upstream)?;
        Ok(Self {
            file,
            masker: Masker::default(),
            count: Arc::default(),
        })
    }

    /// The number of written exchanges.
    pub fn count(&self) -> Arc<AtomicU64> {
        self.count.clone()
    }

    /// Writes each exchange when it is complete, until the proxy has ended.
    pub async fn run(mut self, mut completed: mpsc::UnboundedReceiver<Completed>) -> anyhow::Result<()> {
        while let Some(exchange) = completed.recv().await {
            let sequence = self.count.load(Ordering::SeqCst) + 1;
            let exchange = masked(&mut self.masker, sequence, exchange).await;
            recording::write_exchange(&mut self.file, &exchange)?;
            self.count.store(sequence, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// The recorded form of an exchange.
async fn masked(masker: &mut Masker, sequence: u64, completed: Completed) -> Exchange {
    let Completed { request, response } = completed;
    let mut request_body = body::read_request(&content_type(&request.headers), &request.body).await;
    let mut response_body = match &response {
        Ok(response) => body::read(&content_type(&response.headers), &response.body).await,
        Err(_) => None,
    };
    let authorization = request.headers.get(header::AUTHORIZATION);
    let authorization = authorization.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let authorization = authorization.map(|value| masker.authorization(&value));
    // All secrets are known before the first text is masked: an error text can repeat a secret of the request.
    body::learn(masker, request_body.as_ref());
    body::learn(masker, response_body.as_ref());
    learn_cookies(masker, &request.headers, header::COOKIE);
    if let Ok(response) = &response {
        learn_cookies(masker, &response.headers, header::SET_COOKIE);
    }
    for body in request_body.iter_mut().chain(&mut response_body) {
        body::mask(masker, body);
    }
    let mut headers = recorded_headers(masker, &request.headers, &REQUEST_HEADERS);
    headers.extend(authorization.map(|value| ("authorization".to_owned(), value)));
    let request = RecordedRequest {
        path: masked_path(masker, &request.path),
        query: request.query.map(|query| masked_query(masker, &query)),
        method: request.method,
        headers,
        body: request_body,
    };
    let (response, error) = match response {
        Ok(response) => (Some(recorded_response(masker, response, response_body)), None),
        Err(error) => (None, Some(masker.text(&error))),
    };
    Exchange {
        sequence,
        request,
        response,
        error,
    }
}

fn recorded_response(
    masker: &mut Masker,
    response: ReceivedResponse,
    body: Option<RecordedBody>,
) -> RecordedResponse {
    let is_stream = body == Some(RecordedBody::EventStream);
    RecordedResponse {
        status: response.status,
        headers: recorded_headers(masker, &response.headers, &RESPONSE_HEADERS),
        body,
        incomplete: !response.body.is_complete && !is_stream,
    }
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE);
    let value = value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    value.unwrap_or_default()
}

/// Cookies are not recorded, but another text can repeat their values.
fn learn_cookies(masker: &mut Masker, headers: &HeaderMap, name: header::HeaderName) {
    for cookies in headers.get_all(name) {
        let cookies = String::from_utf8_lossy(cookies.as_bytes()).into_owned();
        for cookie in cookies.split(';') {
            let is_attribute = |name: &str| {
                let name = name.trim().to_ascii_lowercase();
                ["path", "domain", "expires", "max-age", "samesite"].contains(&name.as_str())
            };
            match cookie.split_once('=') {
                Some((name, value)) if !is_attribute(name) => masker.learn(value.trim()),
                _ => {}
            }
        }
    }
}

fn recorded_headers(masker: &mut Masker, headers: &HeaderMap, names: &[&str]) -> BTreeMap<String, String> {
    let mut recorded = BTreeMap::new();
    for name in names {
        let Some(value) = headers.get(*name) else {
            continue;
        };
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        recorded.insert((*name).to_owned(), masked_header(masker, &value));
    }
    recorded
}

/// A filter is a JSON document.
fn masked_header(masker: &mut Masker, value: &str) -> String {
    let Ok(mut document @ Value::Object(_)) = serde_json::from_str(value) else {
        return masker.text(value);
    };
    let sent = document.clone();
    masker.learn_json(&document);
    masker.json(&mut document);
    match document == sent {
        true => value.to_owned(),
        false => document.to_string(),
    }
}

/// Segments are compared in their decoded form.
fn masked_path(masker: &mut Masker, path: &str) -> String {
    let path = without_secrets(path);
    let segments = path.split('/').map(|segment| {
        let decoded = decoded(segment);
        let masked = masker.text(&decoded);
        match masked == decoded {
            true => segment.to_owned(),
            false => encoded(&masked),
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

fn masked_query(masker: &mut Masker, query: &str) -> String {
    let sent: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let mut pairs = sent.clone();
    masker.learn_pairs(&pairs);
    masker.pairs(&mut pairs);
    match pairs == sent {
        true => query.to_owned(),
        false => form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs)
            .finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    #[test]
    fn paths_queries_and_filters_have_no_secrets() {
        let mut masker = Masker::default();
        masker.learn("päss word/1");
        let path = masked_path(&mut masker, "/v4/users/p%C3%A4ss%20word%2F1/x");
        assert_eq!(path, "/v4/users/%3Csecret%201%3E/x");
        assert_eq!(
            masked_path(&mut masker, "/v4/images/linode%2Fx"),
            "/v4/images/linode%2Fx"
        );
        assert_eq!(
            masked_path(&mut masker, "/oauth/password/abc"),
            "/oauth/password/{link}"
        );
        let query = masked_query(&mut masker, &format!("page=1&token={TOKEN}&q=a%20b"));
        assert_eq!(query, "page=1&token=%3Csecret+2%3E&q=a+b");
        assert_eq!(masked_query(&mut masker, "page=1&q=a%20b"), "page=1&q=a%20b");
        let filter = masked_header(&mut masker, r#"{"password": "hunter22", "label": "a"}"#);
        assert_eq!(filter, r#"{"password":"<secret 3>","label":"a"}"#);
    }

    #[test]
    fn only_listed_headers_are_recorded() {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "cookie", "x-api-key", "x-filter", "content-type"] {
            headers.insert(name, "abc".parse().expect("a value"));
        }
        let recorded = recorded_headers(&mut Masker::default(), &headers, &REQUEST_HEADERS);
        let names: Vec<_> = recorded.keys().map(String::as_str).collect();
        assert_eq!(names, ["content-type", "x-filter"]);
    }
}
