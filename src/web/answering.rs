//! Handles a request, from its size limits to its log line.
//!
//! This module checks the size limits, passes the request to the router, converts a panic to a 500 response, adds the
//! common headers, writes the log line and counts the metrics. It never logs tokens, bodies or query strings.

use std::net::{IpAddr, Ipv4Addr};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use futures_util::FutureExt;
use tower::ServiceExt;

use crate::model::proof::Identity;
use crate::model::reason::Code;
use crate::model::token::hex;
use crate::web::common_headers::{API_HEADERS, HSTS, PAGE_HEADERS};
use crate::web::error::{self, Cause, Injected};
use crate::web::limits::RateStatus;
use crate::web::operation::Operation;
use crate::web::origin::{ClientUsedTls, Peer};
use crate::web::proxies::client_network;
use crate::web::response_memory::ResponseMemory;
use crate::web::{App, answer, brand, host, load, metrics, pages, paths};

const MAX_URI_BYTES: usize = 8 * 1024;
const MAX_HEADER_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 100;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OAUTH_SCOPES: HeaderName = HeaderName::from_static("x-oauth-scopes");
const ACCEPTED_SCOPES: HeaderName = HeaderName::from_static("x-accepted-oauth-scopes");
/// The value of `X-OAuth-Scopes` in the response to a request without a valid token.
const UNKNOWN_SCOPES: HeaderValue = HeaderValue::from_static("unknown");
/// In the scopes of a token, `*` means full access. In the accepted scopes of an operation, it means any scope.
pub const ANY_SCOPE: HeaderValue = HeaderValue::from_static("*");

/// Facts that the access check collects about a request. They appear in the response headers, the log line and the
/// metrics.
#[derive(Clone)]
pub struct RequestInfo {
    pub operation: &'static str,
    /// The value of `X-Accepted-OAuth-Scopes`; `None` for a console page, which accepts no token.
    pub accepted: Option<HeaderValue>,
    /// The value of `X-OAuth-Scopes`.
    pub scopes: Option<HeaderValue>,
    pub identity: Option<Arc<Identity>>,
    pub rate: Option<RateStatus>,
}

impl RequestInfo {
    pub fn of(operation: &'static Operation) -> Self {
        Self {
            accepted: Some(operation.accepted_scopes().clone()),
            ..Self::page(operation.id)
        }
    }

    /// The facts about a request for a console page.
    pub fn page(operation: &'static str) -> Self {
        Self {
            operation,
            accepted: None,
            scopes: None,
            identity: None,
            rate: None,
        }
    }

    /// The facts about a request that matches no operation.
    fn unmatched() -> Self {
        Self {
            accepted: Some(ANY_SCOPE),
            ..Self::page("none")
        }
    }

    fn is_page(&self) -> bool {
        self.accepted.is_none()
    }
}

/// Handles a request and returns its response. `refusal` is set if a connection limit refuses the request; it
/// is then the response.
pub async fn handle_request(
    router: Router,
    app: &App,
    request: Request,
    refusal: Option<Response>,
) -> Response {
    if !brand::appears_on(request.uri().path()) {
        return handle_with_brand(router, app, request, refusal).await;
    }
    let brand = app.known_brand().refreshed(app.store()).await;
    brand::with_brand(brand, handle_with_brand(router, app, request, refusal)).await
}

async fn handle_with_brand(
    router: Router,
    app: &App,
    mut request: Request,
    refusal: Option<Response>,
) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let client = request.extensions().get::<Peer>().copied();
    let client_used_tls = request
        .extensions()
        .get::<ClientUsedTls>()
        .is_some_and(|used_tls| used_tls.0);

    let refusal = refusal
        .or_else(|| limit_error(&request))
        .or_else(|| refuse_if_overloaded(&request));
    let mut response = match refusal {
        Some(refusal) => refusal,
        None => {
            paths::rewrite(&mut request, &app.options().oauth_prefix);
            run_within_budget(router, app.response_memory(), request).await
        }
    };
    let info = response.extensions_mut().remove();
    let info = info.unwrap_or_else(RequestInfo::unmatched);
    let RequestInfo { operation, .. } = info;
    let status = response.status().as_u16();
    let mut response = add_common_headers(response, &id, &info);
    if client_used_tls {
        let headers = response.headers_mut();
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }

    let elapsed = started.elapsed();
    metrics::count(operation, status, elapsed);
    let id = id.to_str().unwrap_or_default();
    if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
        tracing::error!(id, operation, error = cause, "request failed");
    }
    let identity = info.identity.as_ref();
    let client = client.and_then(|Peer(client)| app.options().client_address.logged(client.ip()));
    tracing::info!(
        id,
        %method,
        path = paths::without_secrets(uri.path()),
        operation,
        status,
        user = identity.map_or("-", |identity| identity.username.as_str()),
        client = client.map(tracing::field::display),
        micros = elapsed.as_micros() as u64,
        "request"
    );
    response
}

/// Runs a request within the memory budget for responses.
///
/// A GET or HEAD response that exceeds the budget is dropped. If memory was already scarce when the request
/// began, the server waits for free memory and runs the request again. Otherwise it refuses the request. The
/// responses to other methods are always sent.
async fn run_within_budget(router: Router, memory: &ResponseMemory, request: Request) -> Response {
    let client = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let client = client_network(client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
    // Health responses are small and must not wait for the client's other responses.
    if is_health(&request) {
        return run(router, request).await;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let response = run(router, request).await;
        return memory.reserve_unconditionally(client, &response).attach(response);
    }
    let is_scarce = memory.is_scarce();
    if is_scarce
        && let Some(needed) = memory.shortfall(client)
        && !memory.wait(client, needed).await
    {
        return error::overloaded();
    }
    let retry_request = is_scarce.then(|| copy_without_body(&request));
    let mut response = run(router.clone(), request).await;
    let needed = match memory.reserve(client, &response) {
        Ok(charge) => return charge.attach(response),
        Err(needed) => needed,
    };
    let info = response.extensions_mut().remove::<RequestInfo>();
    drop(response);
    if let Some(retry_request) = retry_request
        && memory.wait(client, needed).await
    {
        let response = run(router, retry_request).await;
        if let Ok(charge) = memory.reserve(client, &response) {
            return charge.attach(response);
        }
    }
    let mut refusal = error::overloaded();
    if let Some(info) = info {
        refusal.extensions_mut().insert(info);
    }
    refusal
}

/// Whether a request is a health check, according to its path.
pub fn is_health(request: &Request) -> bool {
    matches!(request.uri().path(), "/healthz" | "/readyz")
}

fn copy_without_body(request: &Request) -> Request {
    let mut copy = Request::new(Body::empty());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    copy
}

async fn run(router: Router, request: Request) -> Response {
    let outcome = AssertUnwindSafe(router.oneshot(request)).catch_unwind().await;
    match outcome {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => error::internal(),
    }
}

/// The error response to a request that exceeds a size limit or has an invalid `Host` header.
fn limit_error(request: &Request) -> Option<Response> {
    if let Some(reason) = host_error(request) {
        return Some(error::plain(StatusCode::BAD_REQUEST, Code::HttpInvalid, reason));
    }
    let uri = request.uri();
    let uri_bytes = uri.path().len() + uri.query().map_or(0, str::len);
    if uri_bytes > MAX_URI_BYTES {
        let reason = format!("The URL must be at most {MAX_URI_BYTES} bytes");
        return Some(error::plain(StatusCode::URI_TOO_LONG, Code::UriTooLong, &reason));
    }
    let headers = request.headers();
    let header_bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if headers.len() > MAX_HEADERS || header_bytes > MAX_HEADER_BYTES {
        let reason = format!(
            "Too many request headers; the limit is {MAX_HEADERS} headers and {MAX_HEADER_BYTES} bytes in total"
        );
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Some(error::plain(status, Code::HeadersTooLarge, &reason));
    }
    None
}

fn host_error(request: &Request) -> Option<&'static str> {
    let hosts = request.headers().get_all(header::HOST);
    let min_hosts = usize::from(request.version() == Version::HTTP_11);
    if !(min_hosts..=1).contains(&hosts.iter().count()) {
        return Some("A request must have exactly one Host header");
    }
    let is_valid = hosts.iter().all(|value| host::is_valid(value.as_bytes()));
    (!is_valid).then_some("The Host header must be a host name or address, optionally with a port")
}

/// Refuses some of the requests while the server is overloaded. The check runs before routing, because an early refusal
/// costs little and leaves more capacity for other requests.
fn refuse_if_overloaded(request: &Request) -> Option<Response> {
    (request.uri().path().starts_with("/v4") && load::sheds_request()).then(error::overloaded)
}

/// The request ID that the client sent, if it is well-formed; otherwise a new request ID.
#[expect(
    clippy::disallowed_methods,
    reason = "a request ID is not a secret, and no decision depends on it"
)]
fn request_id(headers: &HeaderMap) -> HeaderValue {
    static PROCESS_PREFIX: LazyLock<String> =
        LazyLock::new(|| format!("{:016x}-", getrandom::u64().unwrap_or_default()));
    static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);
    let is_well_formed = |id: &&HeaderValue| {
        let is_allowed = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        (1..=64).contains(&id.len()) && id.as_bytes().iter().all(is_allowed)
    };
    match headers.get(REQUEST_ID).filter(is_well_formed) {
        Some(id) => id.clone(),
        None => {
            let number = hex(&NEXT_NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
            let id = [PROCESS_PREFIX.as_str(), number.trim_start_matches('0')].concat();
            HeaderValue::try_from(id).expect("hexadecimal digits are a header value")
        }
    }
}

fn add_common_headers(mut response: Response, id: &HeaderValue, info: &RequestInfo) -> Response {
    let is_injected = response.extensions().get::<Injected>().is_some();
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR && !is_injected {
        let id = id.to_str().unwrap_or_default();
        let error_response = match info.is_page() {
            true => pages::internal_error(id),
            false => {
                let reason = format!("Internal error; contact your provider with the request ID {id}");
                error::plain(StatusCode::INTERNAL_SERVER_ERROR, Code::InternalError, &reason)
            }
        };
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().extend(error_response.headers().clone());
        *response.body_mut() = error_response.into_body();
    }
    // Console pages allow no cross-origin access.
    let defaults = if info.is_page() {
        &*PAGE_HEADERS
    } else {
        &*API_HEADERS
    };
    let specific = std::mem::replace(response.headers_mut(), defaults.clone());
    let headers = response.headers_mut();
    headers.extend(specific);
    headers.insert(REQUEST_ID, id.clone());
    if let Some(accepted) = &info.accepted {
        headers.insert(OAUTH_SCOPES, info.scopes.clone().unwrap_or(UNKNOWN_SCOPES));
        headers.insert(ACCEPTED_SCOPES, accepted.clone());
    }
    response
}

/// The headers of the response to input that the server could not parse as an HTTP request.
pub fn headers_without_request() -> HeaderMap {
    let mut headers = API_HEADERS.clone();
    headers.insert(header::CONTENT_TYPE, answer::JSON);
    headers.insert(REQUEST_ID, request_id(&HeaderMap::new()));
    headers.insert(OAUTH_SCOPES, UNKNOWN_SCOPES);
    headers.insert(ACCEPTED_SCOPES, ANY_SCOPE);
    headers
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_500_with_the_request_id_and_no_details() {
        async fn broken() -> Response {
            panic!("the secret plan")
        }
        let router = Router::new().route("/broken", get(broken));
        let request = Request::get("/broken")
            .header("x-request-id", "job-7")
            .body(Body::empty());

        let mut response = run(router, request.expect("a request")).await;
        let info = RequestInfo::unmatched();
        let id = HeaderValue::from_static("job-7");
        response = add_common_headers(response, &id, &info);

        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(response.headers()["x-request-id"], "job-7");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let body = String::from_utf8(body.to_vec()).expect("text");
        assert!(
            body.contains("job-7") && body.contains("internal_error") && !body.contains("plan"),
            "{body}"
        );
    }
}
