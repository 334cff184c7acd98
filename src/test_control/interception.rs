//! Passes a request to the server, with the faults that rules or chaos choose for it, and records it.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use futures_util::StreamExt;
use tokio::sync::RwLockReadGuard;
use tower::ServiceExt;

use super::control::Control;
use super::faults::{Effect, Fault, Received, without_version};
use super::interruptible_body::InterruptibleBody;
use super::request_log::RecordedRequest;
use super::restart::RunningServer;
use crate::api::operations::OPERATIONS;
use crate::model::id::AccountId;
use crate::model::reason::Code;
use crate::model::token::TokenHash;
use crate::web::answering::{RequestInfo, is_health};
use crate::web::cut::{self, Cut};
use crate::web::operation::Operation;
use crate::web::paths::{SentPath, without_secrets};
use crate::web::{access, error};

/// The time that a health check waits for the end of a restart.
const HEALTH_WAIT: Duration = Duration::from_millis(500);

pub async fn handle(State(control): State<Control>, request: Request) -> Response {
    if is_health(&request) {
        return check_health(&control, request).await;
    }
    if is_control(request.uri().path()) {
        return forward(&control, control.server().running().await, request).await;
    }
    let operation = operation_of(request.method(), request.uri().path());
    let sent = request
        .extensions()
        .get::<SentPath>()
        .map(|SentPath(path)| path.as_str());
    let path = without_secrets(sent.unwrap_or(request.uri().path()));
    let method = request.method().clone();
    let account = match access::bearer(request.headers()) {
        Some(token) => account_of(&control, token).await,
        None => None,
    };
    let fault = choose_fault(&control, &method, request.uri(), account, operation);

    // A restart waits for this guard, so a delayed request does not write into the rows that follow.
    let running = control.server().running().await;
    delay(&control, &running, &fault).await;
    let response = match fault.effect {
        Some(Effect::Status(status)) => refusal(status, operation),
        Some(Effect::DropBefore) => cut::mark(refusal(StatusCode::BAD_GATEWAY, operation), Cut::Everything),
        Some(Effect::DropAfter) => cut::mark(forward(&control, running, request).await, Cut::Everything),
        Some(Effect::Truncate(bytes)) => {
            cut::mark(forward(&control, running, request).await, Cut::BodyAfter(bytes))
        }
        None => forward(&control, running, request).await,
    };
    let is_dropped = response.extensions().get() == Some(&Cut::Everything);
    control.requests().record(RecordedRequest {
        method,
        path,
        status: (!is_dropped).then(|| response.status().as_u16()),
        operation: operation.map(|operation| operation.id),
        account_id: account.map(|account| account.0),
        fault: fault != Fault::default(),
    });
    response
}

/// Whether a path belongs to test control. It reaches this module only if it has no operation.
fn is_control(path: &str) -> bool {
    let rest = path.strip_prefix("/_test");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A health check waits only briefly for the end of a restart. Then the server that is being stopped responds.
async fn check_health(control: &Control, request: Request) -> Response {
    match tokio::time::timeout(HEALTH_WAIT, control.server().running()).await {
        Ok(running) => forward(control, running, request).await,
        Err(_) => {
            let Ok(response) = control.server().last_router().oneshot(request).await;
            response
        }
    }
}

/// Waits. The stop of the server ends the wait, so that a restart does not take long. The deletion of the rule ends it,
/// too.
async fn delay(control: &Control, running: &RunningServer, fault: &Fault) {
    let mut stopping = running.app.stopping();
    tokio::select! {
        () = tokio::time::sleep(fault.delay) => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
        () = deletion_of_rule(control, fault.rule) => {}
    }
}

/// Waits until a rule is deleted; forever for chaos, which has no rules.
async fn deletion_of_rule(control: &Control, rule: Option<u64>) {
    let mut rules = control.faults().watch_rules();
    if rules
        .wait_for(|rules| rule.is_some_and(|rule| !rules.contains(&rule)))
        .await
        .is_err()
    {
        std::future::pending::<()>().await;
    }
}

/// Passes a request to the running server. The server is not restarted before it has responded, but a restart cuts off
/// a body that is still being sent.
async fn forward(
    control: &Control,
    running: RwLockReadGuard<'_, RunningServer>,
    request: Request,
) -> Response {
    let request = request.map(|body| InterruptibleBody::wrap(body, running.app.stopping()));
    let Ok(response) = running.router.clone().oneshot(request).await;
    drop(running);
    match control.chaos().is_some() && is_event_stream(&response) {
        true => delay_events(control.clone(), response),
        false => response,
    }
}

/// The fault of a request: that of a rule, otherwise that of chaos. Chaos concerns only the API.
fn choose_fault(
    control: &Control,
    method: &Method,
    uri: &Uri,
    account: Option<AccountId>,
    operation: Option<&'static Operation>,
) -> Fault {
    let received = Received {
        method,
        path: without_version(uri.path()),
        operation: operation.map(|operation| operation.id),
        account,
    };
    if let Some(fault) = control.faults().choose(&received) {
        return fault;
    }
    match control.chaos() {
        Some(chaos) if uri.path().starts_with("/v4") => {
            chaos.choose(operation.map_or("none", |operation| operation.id))
        }
        _ => Fault::default(),
    }
}

async fn account_of(control: &Control, token: TokenHash) -> Option<AccountId> {
    let app = control.server().running().await.app.clone();
    app.identify(token).await.ok()?.account
}

/// The operation of a method and a canonical path. If several paths match, it is the one with the most literal
/// segments, as for the router.
fn operation_of(method: &Method, path: &str) -> Option<&'static Operation> {
    let method = match *method {
        Method::HEAD => Method::GET,
        _ => method.clone(),
    };
    let candidates = OPERATIONS.iter().filter(|operation| operation.method == method);
    let matching = candidates.filter_map(|operation| {
        let literals = count_literals(&operation.full_path(), path)?;
        Some((literals, operation))
    });
    matching
        .max_by_key(|(literals, _)| *literals)
        .map(|(_, operation)| operation)
}

/// The number of literal segments of a path with parameters such as `{vpcId}`, if it matches `path`.
fn count_literals(pattern: &str, path: &str) -> Option<usize> {
    let (pattern, path): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
    let mut literals = 0;
    for (expected, segment) in pattern.iter().zip(&path) {
        match expected.starts_with('{') {
            true if segment.is_empty() => return None,
            true => {}
            false if expected == segment => literals += 1,
            false => return None,
        }
    }
    (pattern.len() == path.len()).then_some(literals)
}

/// The response of an injected status.
fn refusal(status: StatusCode, operation: Option<&'static Operation>) -> Response {
    let (code, reason) = match status {
        StatusCode::TOO_MANY_REQUESTS => (Code::RateLimited, "Too many requests"),
        StatusCode::SERVICE_UNAVAILABLE => (Code::Overloaded, "The server is overloaded; retry later"),
        _ => (Code::FaultInjected, "Test control has injected this error"),
    };
    let mut response = error::plain(status, code, reason);
    if matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    ) {
        let wait = HeaderValue::from_static("1");
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response.extensions_mut().insert(error::Injected);
    if let Some(operation) = operation {
        response.extensions_mut().insert(RequestInfo::of(operation));
    }
    response
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Delays each part of an event stream.
fn delay_events(control: Control, response: Response) -> Response {
    response.map(|body| {
        let parts = body.into_data_stream().enumerate();
        let delayed = parts.then(move |(number, part)| {
            let delay = control.chaos().map(|chaos| chaos.event_delay(number as u64));
            async move {
                tokio::time::sleep(delay.unwrap_or_default()).await;
                part
            }
        });
        Body::from_stream(delayed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_path_has_precedence_over_a_parameter() {
        for (path, expected) in [
            ("/v4/vpcs", Some("getVpcs")),
            ("/v4/vpcs/1", Some("getVpc")),
            ("/v4/vpcs/ips", Some("getVpcsIps")),
            ("/v4/nothing", None),
        ] {
            let found = operation_of(&Method::GET, path).map(|operation| operation.id);
            assert_eq!(found, expected, "{path}");
        }
    }
}
