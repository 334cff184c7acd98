//! Sends the recorded requests to Garth, one after the other, and compares the responses.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use axum::body::Body;
use http_body_util::{BodyExt, Limited};
use hyper::Request;
use hyper::header;

use super::bindings::Bindings;
use super::body;
use super::capture::Captured;
use super::comparison::compare;
use super::field_path::IgnoredFields;
use super::kinds;
use super::prepared_request::{PreparedRequest, prepare};
use super::recording::{Exchange, RecordedBody, RecordedResponse, Recording};
use super::report::{ComparedExchange, Outcome, Report};
use super::upstream::Upstream;
use crate::model::token::Secret;

const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Statuses that depend on the load of the recorded service.
const TEMPORARY_STATUSES: [u16; 4] = [429, 502, 503, 504];

/// Replays a recording.
pub async fn replay(
    recording: &Recording,
    garth: &Upstream,
    token: &Secret,
    ignored: &IgnoredFields,
) -> anyhow::Result<Report> {
    let mut bindings = Bindings::default();
    let mut report = Report::default();
    for exchange in &recording.exchanges {
        let outcome = repeat(exchange, garth, token, ignored, &mut bindings)
            .await
            .with_context(|| format!("exchange {}", exchange.sequence))?;
        if outcome != Outcome::Equal {
            lose_objects(exchange, &mut bindings);
        }
        if matches!(outcome, Outcome::NotComparable { .. }) {
            outdate_objects(exchange, &mut bindings);
        }
        report.add(ComparedExchange {
            sequence: exchange.sequence,
            method: exchange.request.method.clone(),
            path: exchange.request.path.clone(),
            outcome,
        });
    }
    Ok(report)
}

async fn repeat(
    exchange: &Exchange,
    garth: &Upstream,
    token: &Secret,
    ignored: &IgnoredFields,
    bindings: &mut Bindings,
) -> anyhow::Result<Outcome> {
    let not_comparable = |reason: String| Ok(Outcome::NotComparable { reason });
    let Some(recorded) = &exchange.response else {
        let error = exchange.error.as_deref().unwrap_or("unknown error");
        return not_comparable(format!("the recorded service did not respond: {error}"));
    };
    if let Some(reason) = incomparable(recorded) {
        return not_comparable(reason);
    }
    let request = match prepare(exchange, recorded, token.reveal(), bindings) {
        Ok(request) => request,
        Err(reason) => {
            let dependency = dependency_of_path(&exchange.request.path, bindings);
            return not_comparable(dependency.filter(|_| is_read(exchange)).unwrap_or(reason));
        }
    };
    let response = send(garth, request).await?;
    let path = &exchange.request.path;
    match compare(path, recorded, &response, bindings, ignored) {
        Outcome::Equal => Ok(Outcome::Equal),
        outcome => match dependency(path, recorded, bindings) {
            Some(reason) => not_comparable(reason),
            None => Ok(outcome),
        },
    }
}

/// Why a response differs: an exchange that was not repeated changed an object of the path or of the response.
fn dependency(path: &str, recorded: &RecordedResponse, bindings: &Bindings) -> Option<String> {
    if let Some(reason) = dependency_of_path(path, bindings) {
        return Some(reason);
    }
    let Some(RecordedBody::Json(document)) = &recorded.body else {
        return None;
    };
    let mut reason = None;
    kinds::for_each_id(&kinds::of_path(path), document, &mut |kind, id| {
        if reason.is_none() {
            reason = dependency_of(&kind, id, bindings);
        }
    });
    reason
}

fn dependency_of_path(path: &str, bindings: &Bindings) -> Option<String> {
    let objects = kinds::in_path(path);
    objects
        .iter()
        .find_map(|(kind, id)| dependency_of(kind, *id, bindings))
}

fn dependency_of(kind: &str, id: i64, bindings: &Bindings) -> Option<String> {
    let sequence = bindings.outdated(kind, id)?;
    Some(format!(
        "{kind} {id} depends on exchange {sequence}, which was not repeated"
    ))
}

/// Why a recorded response cannot be compared.
fn incomparable(recorded: &RecordedResponse) -> Option<String> {
    if recorded.incomplete {
        return Some("the recorded response is incomplete".to_owned());
    }
    if recorded.body == Some(RecordedBody::EventStream) {
        return Some("the response is an event stream".to_owned());
    }
    let encoding = recorded.headers.get("content-encoding");
    if let Some(encoding) = encoding.filter(|encoding| *encoding != "identity") {
        return Some(format!("the recorded response is compressed ({encoding})"));
    }
    let is_temporary = TEMPORARY_STATUSES.contains(&recorded.status);
    is_temporary.then(|| format!("the recorded service responded {}", recorded.status))
}

/// The objects of an exchange that was not repeated do not exist on Garth.
fn lose_objects(exchange: &Exchange, bindings: &mut Bindings) {
    let Some(response) = &exchange.response else {
        return;
    };
    if let Some(RecordedBody::Json(document)) = &response.body {
        let request_kind = kinds::of_path(&exchange.request.path);
        kinds::for_each_id(&request_kind, document, &mut |kind, id| {
            bindings.lose(kind, id, exchange.sequence);
        });
    }
}

fn is_read(exchange: &Exchange) -> bool {
    matches!(exchange.request.method.as_str(), "GET" | "HEAD" | "OPTIONS")
}

/// The objects in the path of a write that was not repeated are different on Garth, unless the service refused it.
fn outdate_objects(exchange: &Exchange, bindings: &mut Bindings) {
    let is_refused = |response: &RecordedResponse| (400..500).contains(&response.status);
    if is_read(exchange) || exchange.response.as_ref().is_some_and(is_refused) {
        return;
    }
    for (kind, id) in kinds::in_path(&exchange.request.path) {
        bindings.outdate(kind, id, exchange.sequence);
    }
}

async fn send(garth: &Upstream, prepared: PreparedRequest) -> anyhow::Result<RecordedResponse> {
    let mut request = Request::builder()
        .method(prepared.method.as_str())
        .uri(garth.api_path(&prepared.target));
    for (name, value) in &prepared.headers {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(prepared.body))?;
    let response = garth.send(request).await.map_err(|cause| anyhow!("{cause}"))?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
    let body = body.map_err(|cause| anyhow!("the response was not received: {cause}"))?;
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: BTreeMap<String, String> = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect();
    let content_type = headers.get("content-type").cloned().unwrap_or_default();
    Ok(RecordedResponse {
        status: head.status.as_u16(),
        body: body::read(&content_type, &Captured::of(&body.to_bytes())).await,
        headers,
        incomplete: false,
    })
}
