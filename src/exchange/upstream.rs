//! The HTTP client of `garth record` and `garth replay`: one connection for each request, over TLS or without it.

use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, Uri, Version};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::early_response::EarlyResponse;
use crate::agent::tls_connector;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for the head of a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);
/// The versions of the API, which are the first segment of its paths.
const VERSIONS: [&str; 2] = ["/v4beta", "/v4"];

/// A service of the interface.
pub struct Upstream {
    host: String,
    port: u16,
    /// The value of the header `Host`.
    authority: HeaderValue,
    /// The path before the version of the API, without a slash at its end.
    root: String,
    /// The version that the URL has, such as `/v4`; otherwise empty.
    version: String,
    tls: Option<TlsConnector>,
}

impl Upstream {
    /// `certificate` has the PEM certificates to trust instead of those of the system.
    pub fn new(url: &str, certificate: Option<&str>) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("{url} is not a URL"))?;
        let authority = uri.authority().ok_or_else(|| format!("{url} has no host name"))?;
        if authority.as_str().contains('@') {
            return Err("the URL must not have a password".to_owned());
        }
        if uri.query().is_some() {
            return Err("the URL must not have a query".to_owned());
        }
        let (tls, default_port) = match uri.scheme_str() {
            Some("https") => (Some(tls_connector::connector(certificate)?), 443),
            Some("http") => (None, 80),
            _ => return Err(format!("{url} must begin with https:// or http://")),
        };
        let path = uri.path().trim_end_matches('/');
        let version = VERSIONS.iter().find(|version| path.ends_with(*version));
        let version = version.copied().unwrap_or_default();
        let host = authority.host();
        Ok(Self {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: authority.port_u16().unwrap_or(default_port),
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| format!("{url} is not a URL"))?,
            root: path[..path.len() - version.len()].to_owned(),
            version: version.to_owned(),
            tls,
        })
    }

    /// Whether others on the network can read the requests.
    pub fn is_exposed(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        let is_loopback = self.host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        self.tls.is_none() && !is_loopback
    }

    /// The path from the version of the API on. The client can send the version or leave it out, if the URL has one.
    pub fn api_path(&self, path: &str) -> String {
        let has_version = VERSIONS.iter().any(|version| {
            let rest = path.strip_prefix(version);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        match has_version {
            true => path.to_owned(),
            false => format!("{}{path}", self.version),
        }
    }

    /// The path of a URL of the service, as the client of the proxy sends it; `None` for any other URL. A redirect from
    /// `http` to `https` is another URL: the service does not respond to requests without TLS.
    pub fn path_of<'a>(&self, url: &'a str) -> Option<&'a str> {
        let scheme = if self.tls.is_some() { "https://" } else { "http://" };
        let path = match url.strip_prefix(scheme) {
            Some(rest) => rest.strip_prefix(self.authority.to_str().ok()?)?,
            None => url,
        };
        path.strip_prefix(&self.root)
            .filter(|path| path.starts_with('/') && !path.starts_with("//"))
    }

    /// Sends a request. Its URI is a path from the version of the API on, with an optional query.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, String> {
        let target = format!("{}{}", self.root, request.uri());
        *request.uri_mut() = target.parse().map_err(|_| format!("{target} is not a path"))?;
        *request.version_mut() = Version::HTTP_11;
        request.headers_mut().insert(header::HOST, self.authority.clone());
        let stream = timeout(CONNECT_TIMEOUT, self.connect_tcp()).await;
        let stream = stream.map_err(|_| "the connection timed out".to_owned())??;
        let Some(connector) = &self.tls else {
            return transmit(stream, request).await;
        };
        let name = ServerName::try_from(self.host.clone()).map_err(|cause| cause.to_string())?;
        let connected = timeout(CONNECT_TIMEOUT, connector.connect(name, stream)).await;
        let stream = connected.map_err(|_| "the TLS handshake timed out".to_owned())?;
        transmit(stream.map_err(|cause| format!("TLS: {cause}"))?, request).await
    }

    async fn connect_tcp(&self) -> Result<TcpStream, String> {
        let connected = TcpStream::connect((self.host.as_str(), self.port)).await;
        let stream = connected.map_err(|cause| cause.to_string())?;
        stream.set_nodelay(true).map_err(|cause| cause.to_string())?;
        Ok(stream)
    }
}

async fn transmit(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Body>,
) -> Result<Response<Incoming>, String> {
    let handshake = http1::handshake(TokioIo::new(EarlyResponse::new(stream))).await;
    let (mut sender, connection) = handshake.map_err(|cause| cause.to_string())?;
    // Ends when the response was read or dropped.
    tokio::spawn(connection);
    let response = timeout(RESPONSE_TIMEOUT, sender.send_request(request)).await;
    let response = response.map_err(|_| "the response timed out".to_owned())?;
    response.map_err(|cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use tokio::io::ReadBuf;

    use super::*;

    /// A connection to a service that refuses a long body and closes the connection. As in a network, the client can
    /// notice that it can no longer write before it has read the response.
    struct RefusingService {
        accepted_bytes: usize,
        is_closed: bool,
        response: &'static [u8],
        reader: Option<Waker>,
    }

    impl AsyncRead for RefusingService {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if !self.is_closed {
                self.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
            buffer.put_slice(std::mem::take(&mut self.response));
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for RefusingService {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
            let length = data.len().min(self.accepted_bytes);
            self.accepted_bytes -= length;
            if length > 0 {
                return Poll::Ready(Ok(length));
            }
            self.is_closed = true;
            if let Some(reader) = self.reader.take() {
                reader.wake();
            }
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_response_is_read_although_the_body_can_no_longer_be_sent() {
        let service = RefusingService {
            accepted_bytes: 4096,
            is_closed: false,
            response: b"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
            reader: None,
        };
        let body = Body::from(vec![b'x'; 1024 * 1024]);
        let response = transmit(service, Request::post("/v4/vpcs").body(body).expect("a request")).await;
        assert_eq!(response.expect("a response").status(), 413);
    }

    #[test]
    fn the_url_can_have_a_base_path_and_a_version() {
        for (url, path, target) in [
            ("http://localhost:1", "/v4/vpcs", "/v4/vpcs"),
            ("http://localhost:1/v4", "/vpcs", "/v4/vpcs"),
            ("http://localhost:1/v4/", "/v4/vpcs", "/v4/vpcs"),
            ("http://localhost:1/v4", "/v4beta/vpcs", "/v4beta/vpcs"),
            ("http://localhost:1/api/v4beta", "/vpcs", "/api/v4beta/vpcs"),
            ("http://localhost:1/api", "/v4/vpcs", "/api/v4/vpcs"),
            ("http://localhost:1", "/oauth/token", "/oauth/token"),
        ] {
            let upstream = Upstream::new(url, None).expect(url);
            assert_eq!(
                upstream.root.clone() + &upstream.api_path(path),
                target,
                "{url} {path}"
            );
        }
    }

    #[test]
    fn only_urls_of_the_service_have_a_path_at_the_proxy() {
        let upstream = Upstream::new("http://localhost:1/api/v4", None).expect("a URL");
        for (url, path) in [
            ("http://localhost:1/api/v4/vpcs?page=1", Some("/v4/vpcs?page=1")),
            ("/api/v4/vpcs/", Some("/v4/vpcs/")),
            ("https://localhost:1/api/v4/vpcs", None),
            ("http://localhost:12/api/v4/vpcs", None),
            ("http://localhost:1.example.com/api/v4/vpcs", None),
            ("http://localhost:1/api", None),
            ("http://localhost:1/login", None),
            ("/apis/v4", None),
            ("/api//example.com/x", None),
            ("vpcs", None),
        ] {
            assert_eq!(upstream.path_of(url), path, "{url}");
        }
        let upstream = Upstream::new("http://localhost:1", None).expect("a URL");
        assert_eq!(upstream.path_of("//example.com/x"), None);
    }

    #[test]
    fn invalid_urls_are_refused() {
        for url in [
            "",
            "localhost:8080",
            "ftp://localhost",
            "http://user:password@localhost",
            "http://localhost?x=1",
        ] {
            assert!(Upstream::new(url, None).is_err(), "{url}");
        }
    }
}
