//! Accepts connections, and shuts down gracefully.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use crate::web::connections::{Admission, ConnectionGuard, Connections};
use crate::web::origin::{ClientUsedTls, Peer};
use crate::web::refusals::Refusals;
use crate::web::timed_connection::{Abort, ConnectionState, TimedConnection};
use crate::web::tls::Certificate;
use crate::web::unread::Unread;
use crate::web::{App, answering, cut, error, proxies};

/// The grace period for running requests on shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);
/// On shutdown, the time in which the server still accepts connections, so that health checks get the response "not
/// ready" before they are refused.
const ACCEPT_GRACE: Duration = Duration::from_millis(300);
/// On shutdown, the time for clients that have just connected to send their first request.
const FIRST_REQUEST_GRACE: Duration = Duration::from_millis(300);
/// The header timeout of a connection that is allowed to send only health checks.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum lifetime of a connection that is allowed to send only health checks.
const HEALTH_LIFETIME: Duration = Duration::from_secs(5);
/// The delay after a failed accept, for example because too many files are open.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// Smaller responses are not compressed.
const MIN_COMPRESSED_BYTES: u64 = 1024;

/// Serves until `stop` becomes true, and then until all running requests are complete or a timeout expires.
pub async fn serve(listener: TcpListener, app: App, router: Router, stop: watch::Receiver<bool>) {
    serve_with(listener, app, router, None, stop).await;
}

/// Serves with TLS if there is a certificate. Each connection uses the current certificate.
pub async fn serve_with(
    listener: TcpListener,
    app: App,
    router: Router,
    tls: Option<Certificate>,
    stop: watch::Receiver<bool>,
) {
    let limiter = Connections::new(app.options().max_connections);
    let refusals = Refusals::default();
    let graceful = GracefulShutdown::new();
    let mut stopped = stop.clone();
    let end = async move {
        let _ = stopped.wait_for(|stop| *stop).await;
        tokio::time::sleep(ACCEPT_GRACE).await;
    };
    tokio::pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (admission, guard) = match limiter.admit(peer.ip(), is_proxy(&app, peer)) {
                    Ok(admitted) => admitted,
                    Err(limit) => {
                        refusals.record(limit);
                        continue;
                    }
                };
                let _ = stream.set_nodelay(true);
                let connection = Connection {
                    peer: Peer(peer),
                    used_tls: ClientUsedTls(tls.is_some()),
                    admission,
                    refusals: refusals.clone(),
                    stop: stop.clone(),
                    _guard: guard,
                };
                let (app, router, watcher) = (app.clone(), router.clone(), graceful.watcher());
                match tls.clone() {
                    None => drop(tokio::spawn(serve_connection(
                        stream, connection, app, router, watcher,
                    ))),
                    Some(tls) => drop(tokio::spawn(async move {
                        match tls.handshake(stream, connection.header_timeout(&app)).await {
                            Ok(stream) => serve_connection(stream, connection, app, router, watcher).await,
                            Err(cause) => tracing::debug!(error = %cause, "tls handshake failed"),
                        }
                    })),
                }
            }
            Err(cause) => {
                tracing::warn!(error = %cause, "accept failed");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
    drop(listener);
    // Clients that have just connected are still sending their first request. Closing now would reset them.
    tokio::time::sleep(FIRST_REQUEST_GRACE).await;
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("requests aborted by shutdown");
    }
}

/// An accepted connection.
struct Connection {
    peer: Peer,
    used_tls: ClientUsedTls,
    admission: Admission,
    refusals: Refusals,
    stop: watch::Receiver<bool>,
    _guard: ConnectionGuard,
}

impl Connection {
    fn header_timeout(&self, app: &App) -> Duration {
        match self.admission {
            Admission::All => app.options().header_timeout,
            Admission::HealthOnly(_) => HEALTH_TIMEOUT,
        }
    }

    /// The maximum lifetime. It is short for a connection that can send only health checks, because the
    /// number of such connections is limited.
    fn max_lifetime(&self) -> Option<Duration> {
        match self.admission {
            Admission::All => None,
            Admission::HealthOnly(_) => Some(HEALTH_LIFETIME),
        }
    }

    /// Refuses and records a request that this connection is not allowed to send. Returns `None` for other
    /// requests.
    fn refusal(&self, request: &Request) -> Option<Response> {
        match self.admission {
            Admission::HealthOnly(limit) if !answering::is_health(request) => {
                self.refusals.record(limit);
                Some(error::overloaded())
            }
            _ => None,
        }
    }

    /// Adds `Connection: close` to the response on a health-check connection, and on any connection while the
    /// server shuts down. HTTP/2 has no such header; hyper removes it.
    fn close_if_last(&self, response: &mut Response) {
        if self.admission != Admission::All || *self.stop.borrow() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
    }
}

fn is_proxy(app: &App, peer: SocketAddr) -> bool {
    let trusted = &app.options().trusted_proxies;
    trusted.iter().any(|network| network.contains(peer.ip()))
}

async fn serve_connection<S>(stream: S, connection: Connection, app: App, router: Router, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Abort + Unpin + Send + 'static,
{
    let state = Arc::new(ConnectionState::default());
    let wire = TimedConnection::new(stream, state.clone(), connection.header_timeout(&app));
    let max_lifetime = connection.max_lifetime();
    let connection = Arc::new(connection);

    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let guard = state.begin();
        let mut request: Request = request.map(Body::new);
        set_client(&mut request, connection.peer, connection.used_tls, &app);
        let (router, app, connection, state) =
            (router.clone(), app.clone(), connection.clone(), state.clone());
        async move {
            let refusal = connection.refusal(&request);
            let (request, unread) = Unread::watch(request);
            let mut response = answering::handle_request(router, &app, request, refusal).await;
            connection.close_if_last(&mut response);
            if let Some(unread) = unread {
                unread.finish(&mut response).await;
            }
            if state.is_multiplexed() {
                response = state.sending.watch(response);
            }
            // The guard counts the request as open until the last byte of the response is sent.
            let response: Response = response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    let _guard = &guard;
                    frame
                }))
            });
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let should_compress = SizeAbove::new(MIN_COMPRESSED_BYTES).and(NotForContentType::SSE);
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(should_compress);
    let service = TowerToHyperService::new(compression.layer(service).map_result(cut::apply));

    let connection = builder()
        .serve_connection(TokioIo::new(wire), service)
        .into_owned();
    let served = watcher.watch(connection);
    let ended = match max_lifetime {
        None => served.await,
        Some(max) => tokio::time::timeout(max, served).await.unwrap_or(Ok(())),
    };
    if let Err(cause) = ended {
        tracing::debug!(error = %cause, "connection closed early");
    }
}

/// Stores the client address in the request, and whether the client used TLS. Uses `X-Forwarded-*` headers
/// only if a trusted proxy sent them.
fn set_client(request: &mut Request, Peer(peer): Peer, ClientUsedTls(used_tls): ClientUsedTls, app: &App) {
    let trusted = &app.options().trusted_proxies;
    let origin = proxies::origin(peer.ip(), request.headers(), trusted);
    let used_tls = used_tls || proxies::was_secured(peer.ip(), request.headers(), trusted);
    let extensions = request.extensions_mut();
    extensions.insert(Peer(SocketAddr::new(origin, peer.port())));
    extensions.insert(ClientUsedTls(used_tls));
}

/// Configures hyper with higher limits than Garth's, so that Garth's limits apply first.
fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(256 * 1024)
        .max_headers(256);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(128 * 1024)
        .max_concurrent_streams(256)
        .keep_alive_interval(Some(Duration::from_secs(30)))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}
