//! Operations for the agents of hosts: joining, the stream of the desired state, and reports.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;

use crate::agent_protocol::{JoinResponse, PROTOCOL_VERSION, StateMessage, StatusReport};
use crate::model::reason::{Code, Reason};
use crate::rules::desired_state::{self, SentState};
use crate::rules::error::BodyFault;
use crate::rules::host_principal::HostPrincipal;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Error, Result};
use crate::store::StoreError;
use crate::store::notifier::Topic;
use crate::web::event_stream::Subscription;
use crate::web::{App, answer, body};

/// The maximum size of a report: about 10,000 ports.
const MAX_REPORT_BYTES: usize = 4 * 1024 * 1024;
const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// Exchanges a join token for the credential of the host.
pub async fn join(State(app): State<App>, request: Request) -> Result<Response> {
    let joined = app
        .store()
        .write(move |tx| rules::hosts::join(tx, &request))
        .await?;
    let response = JoinResponse {
        protocol: PROTOCOL_VERSION,
        host_id: joined.host.id.0,
        label: joined.host.label.as_str().to_owned(),
        region: joined.host.region.clone(),
        credential: joined.credential.reveal().to_owned(),
    };
    Ok(answer::json(StatusCode::OK, &response))
}

/// Stores the report of an agent.
pub async fn status(
    State(app): State<App>,
    principal: HostPrincipal,
    request: axum::extract::Request,
) -> Result<Response> {
    let (parts, content) = request.into_parts();
    let timeout = app.options().body_timeout;
    let bytes = body::bytes(&parts.headers, content, MAX_REPORT_BYTES, timeout).await;
    let bytes = bytes.map_err(Error::Body)?;
    let report: StatusReport = serde_json::from_slice(&bytes).map_err(|cause| {
        let reason = Reason::new(Code::JsonInvalid, format!("Invalid report: {cause}"));
        Error::Body(BodyFault::Unreadable(reason))
    })?;
    let record = move |tx: &mut crate::store::WriteTx| {
        principal.confirm(tx)?;
        rules::host_status::record(tx, &principal, &report)
    };
    app.store().write(record).await?;
    Ok(answer::done())
}

/// The desired state of the host as a stream of JSON documents, one per line (decision 0030).
pub async fn state(
    State(app): State<App>,
    principal: HostPrincipal,
    mut list: ListRequest,
) -> Result<Response> {
    let after = list.after.take().map(|(_, raw)| raw);
    let after = match after {
        Some(raw) => Some(raw.parse().map_err(|_| after_invalid())?),
        None => None,
    };
    // Subscribe before the first query, so that no change is missed.
    let subscription = Subscription::new(&app, Topic::Host(principal.host));
    let reader = principal.clone();
    let first = app
        .store()
        .read(move |tx| desired_state::first(tx, &reader, after));
    let (messages, sent) = first.await?;
    let mut following = Following {
        subscription,
        principal,
        sent,
        ready: VecDeque::new(),
    };
    following.add(messages)?;
    // An agent with the current state gets the first line immediately, too: it shows that the connection works.
    if following.ready.is_empty() {
        let heartbeat = following.sent.heartbeat();
        following.add(vec![heartbeat])?;
    }
    let lines = stream::unfold(following, |mut following| async move {
        let line = following.next().await?;
        Some((Ok::<_, Infallible>(line), following))
    });
    let mut response = Response::new(Body::from_stream(lines));
    response.headers_mut().insert(header::CONTENT_TYPE, NDJSON);
    Ok(response)
}

fn after_invalid() -> Error {
    let reason = Reason::new(Code::AfterInvalid, "Must be the revision of a desired state");
    Error::on("after", reason)
}

/// A stream that an agent follows.
struct Following {
    subscription: Subscription,
    principal: HostPrincipal,
    sent: SentState,
    ready: VecDeque<Bytes>,
}

impl Following {
    /// The next line; `None` ends the stream, for example when the credential is revoked.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            let is_heartbeat = self.subscription.wait().await?;
            let (principal, sent) = (self.principal.clone(), self.sent.clone());
            let store = self.subscription.app.store();
            let read = store.read(move |tx| desired_state::next(tx, &principal, &sent));
            let (mut messages, sent) = read.await.ok()?;
            self.sent = sent;
            if is_heartbeat && messages.is_empty() {
                messages.push(self.sent.heartbeat());
            }
            self.add(messages).ok()?;
        }
    }

    fn add(&mut self, messages: Vec<StateMessage>) -> Result<()> {
        for message in messages {
            let mut line =
                serde_json::to_vec(&message).map_err(|cause| StoreError::Unexpected(cause.to_string()))?;
            line.push(b'\n');
            self.ready.push_back(line.into());
        }
        Ok(())
    }
}
