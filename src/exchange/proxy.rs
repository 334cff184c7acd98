//! The proxy of `garth record`: passes requests to the service, and the responses to the client.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

use super::capture::{Captured, CapturingBody};
use super::recorder::{Completed, ReceivedResponse, SentRequest};
use super::relay::relay;
use super::upstream::Upstream;

/// At the end of the recording, the time for running requests.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Headers that concern one connection only (RFC 9110, section 7.6.1).
const CONNECTION_HEADERS: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

#[derive(Clone)]
pub struct Proxy {
    upstream: Arc<Upstream>,
    completed: mpsc::UnboundedSender<Completed>,
}

impl Proxy {
    /// The receiver gets the completed exchanges.
    pub fn new(upstream: Upstream) -> (Self, mpsc::UnboundedReceiver<Completed>) {
        let (completed, receiver) = mpsc::unbounded_channel();
        let proxy = Self {
            upstream: Arc::new(upstream),
            completed,
        };
        (proxy, receiver)
    }

    /// Changes a redirect to the service into one to the proxy, so that the client does not leave the recording.
    fn redirect_to_proxy(&self, headers: &mut HeaderMap) {
        let location = headers.get(header::LOCATION);
        let path = location.and_then(|location| self.upstream.path_of(location.to_str().ok()?));
        if let Some(Ok(path)) = path.map(HeaderValue::try_from) {
            headers.insert(header::LOCATION, path);
        }
    }
}

/// Serves until `stop` becomes true, and then until the running requests are complete or a timeout expires.
pub async fn serve(
    listener: TcpListener,
    proxy: Proxy,
    mut stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let router = Router::new().fallback(handle).with_state(proxy);
    let mut stopping = stop.clone();
    let stopped = async move {
        let _ = stopping.wait_for(|stop| *stop).await;
    };
    let serving = axum::serve(listener, router).with_graceful_shutdown(stopped);
    let overdue = async {
        let _ = stop.wait_for(|stop| *stop).await;
        tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
    };
    tokio::select! {
        served = serving.into_future() => served,
        () = overdue => Ok(()),
    }
}

/// Carries out a request to its end, even if its client hangs up before.
async fn handle(State(proxy): State<Proxy>, request: Request) -> Response {
    let task = tokio::spawn(exchange(proxy, request));
    let failed = |cause: tokio::task::JoinError| unreachable(&cause.to_string());
    task.await.unwrap_or_else(failed)
}

async fn exchange(proxy: Proxy, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let path = proxy.upstream.api_path(parts.uri.path());
    let query = parts.uri.query().map(str::to_owned);
    let sent_headers = parts.headers.clone();
    let method = parts.method.to_string();

    remove_connection_headers(&mut parts.headers);
    // The recording needs the text of the response. Without the header, the service can choose any encoding.
    let identity = HeaderValue::from_static("identity");
    parts.headers.insert(header::ACCEPT_ENCODING, identity);
    parts.uri = with_path(&path, query.as_deref());
    let (body, sent_body) = CapturingBody::new(body);
    let response = proxy
        .upstream
        .send(Request::from_parts(parts, Body::new(body)))
        .await;

    let (recorded, is_recorded) = oneshot::channel();
    let (response, received) = match response {
        Ok(response) => {
            let (mut parts, body) = response.into_parts();
            proxy.redirect_to_proxy(&mut parts.headers);
            let headers = parts.headers.clone();
            remove_connection_headers(&mut parts.headers);
            let status = parts.status.as_u16();
            let (body, received_body) = CapturingBody::new(Body::new(body));
            let response = Response::from_parts(parts, relay(&headers, body, is_recorded));
            (response, Ok((status, headers, received_body)))
        }
        Err(cause) => (unreachable(&cause), Err(cause)),
    };
    tokio::spawn(async move {
        let request = SentRequest {
            method,
            path,
            query,
            headers: sent_headers,
            body: all_of(sent_body).await,
        };
        let response = match received {
            Ok((status, headers, body)) => Ok(ReceivedResponse {
                status,
                headers,
                body: all_of(body).await,
            }),
            Err(cause) => Err(cause),
        };
        // The recorder ends before the proxy only after an error, which ends the command.
        let _ = proxy.completed.send(Completed { request, response });
        // A client that has hung up does not wait.
        let _ = recorded.send(());
    });
    response
}

/// A body is dropped without its copy only if the process ends.
async fn all_of(body: oneshot::Receiver<Captured>) -> Captured {
    body.await.unwrap_or_default()
}

fn with_path(path: &str, query: Option<&str>) -> Uri {
    let target = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    // The path comes from a valid request.
    target.parse().unwrap_or_default()
}

fn remove_connection_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in CONNECTION_HEADERS {
        headers.remove(name);
    }
}

/// The response if the service cannot be reached.
fn unreachable(cause: &str) -> Response {
    let reason = format!("garth record cannot reach the upstream service: {cause}");
    let body = json!({"errors": [{"reason": reason}]});
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_GATEWAY, content_type, body.to_string()).into_response()
}
