//! A small HTTP client for the requests of the agent, over TLS or, on a loopback address, without it.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::tls_connector::connector;

/// The time for a connection, and for the head of a response.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// The server, as `--server` names it.
pub struct HttpClient {
    host: String,
    port: u16,
    /// The path of the server's root, without a slash at its end.
    base: String,
    tls: Option<TlsConnector>,
}

/// A response that is not 200, or none at all.
#[derive(Debug)]
pub struct RequestError {
    pub status: Option<u16>,
    pub text: String,
}

impl std::fmt::Display for RequestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl RequestError {
    fn failed(cause: impl std::fmt::Display) -> Self {
        Self {
            status: None,
            text: cause.to_string(),
        }
    }
}

impl HttpClient {
    /// `certificate` has the PEM certificates to trust instead of those of the system.
    pub fn new(server: &str, certificate: Option<&str>) -> Result<Self, String> {
        let uri: Uri = server.parse().map_err(|_| format!("{server} is not a URL"))?;
        let host = uri.host().ok_or_else(|| format!("{server} has no host name"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (tls, default_port) = match uri.scheme_str() {
            Some("https") => (Some(connector(certificate)?), 443),
            Some("http") if is_loopback(&host) => (None, 80),
            Some("http") => {
                return Err(
                    "the server must use https, because the credential is secret; http is accepted only \
                            for a loopback address"
                        .to_owned(),
                );
            }
            _ => return Err(format!("{server} must begin with https://")),
        };
        Ok(Self {
            port: uri.port_u16().unwrap_or(default_port),
            base: uri.path().trim_end_matches('/').to_owned(),
            host,
            tls,
        })
    }

    /// Sends JSON, and returns the body of the response.
    pub async fn post(
        &self,
        path: &str,
        credential: Option<&str>,
        body: Vec<u8>,
    ) -> Result<Bytes, RequestError> {
        let response = self.send(Method::POST, path, credential, body).await?;
        read_all(response).await
    }

    /// Opens a stream.
    pub async fn get(&self, path: &str, credential: &str) -> Result<Response<Incoming>, RequestError> {
        self.send(Method::GET, path, Some(credential), Vec::new()).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        credential: Option<&str>,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, RequestError> {
        let exchange = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port))
                .await
                .map_err(RequestError::failed)?;
            let request = self.request(method, path, credential, body)?;
            match &self.tls {
                None => transmit(stream, request).await,
                Some(connector) => {
                    let name = ServerName::try_from(self.host.clone()).map_err(RequestError::failed)?;
                    let stream = connector
                        .connect(name, stream)
                        .await
                        .map_err(RequestError::failed)?;
                    transmit(stream, request).await
                }
            }
        };
        let response = timeout(TIMEOUT, exchange).await;
        let response = response.map_err(|_| RequestError::failed("the server did not respond in time"))??;
        match response.status().as_u16() {
            200 => Ok(response),
            status => {
                let body = read_all(response).await.unwrap_or_default();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
                let reason = body["errors"][0]["reason"].as_str().unwrap_or("no reason");
                Err(RequestError {
                    status: Some(status),
                    text: format!("the server responded {status}: {reason}"),
                })
            }
        }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        credential: Option<&str>,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, RequestError> {
        let host = match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::HOST, host)
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(credential) = credential {
            request = request.header(header::AUTHORIZATION, format!("Bearer {credential}"));
        }
        request.body(Full::new(body.into())).map_err(RequestError::failed)
    }
}

async fn transmit(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, RequestError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(RequestError::failed)?;
    // Ends when the response was read or dropped.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(RequestError::failed)
}

async fn read_all(response: Response<Incoming>) -> Result<Bytes, RequestError> {
    let body = http_body_util::Limited::new(response.into_body(), MAX_RESPONSE_BYTES);
    let body = timeout(TIMEOUT, body.collect()).await;
    let body = body.map_err(|_| RequestError::failed("the response did not arrive in time"))?;
    Ok(body.map_err(RequestError::failed)?.to_bytes())
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_accepted_only_on_a_loopback_address() {
        for server in [
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:8080/garth",
        ] {
            assert!(HttpClient::new(server, None).is_ok(), "{server}");
        }
        for server in [
            "http://192.0.2.1",
            "http://garth.example",
            "garth.example",
            "ftp://localhost",
            "",
        ] {
            assert!(HttpClient::new(server, None).is_err(), "{server}");
        }
    }
}
