//! A small HTTP client for the requests of the agent, over TLS or, on a loopback address, without it.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
use rustls::CertificateError;
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
    /// Whether certificates other than those of the system are trusted.
    has_certificate: bool,
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
    /// Whether the server does not accept the credential.
    pub fn is_refused(&self) -> bool {
        matches!(self.status, Some(401 | 403))
    }

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
        let uri: Uri = server.parse().map_err(|_| format!("{server:?} is not a URL"))?;
        let host = uri.host().ok_or_else(|| format!("{server} has no host name"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_lowercase();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') || uri.query().is_some() {
            return Err(format!(
                "{server} must not have a username, a password or a query"
            ));
        }
        if uri.port().is_none()
            && authority
                .rsplit(']')
                .next()
                .is_some_and(|rest| rest.contains(':'))
        {
            return Err(format!("{server} has an invalid port"));
        }
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
            base: base_of(uri.path()).to_owned(),
            has_certificate: certificate.is_some(),
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
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
            let stream = stream.map_err(|error| {
                RequestError::failed(format!("cannot connect to {}: {error}", self.address()))
            })?;
            let request = self.request(method, path, credential, body)?;
            match &self.tls {
                None => transmit(stream, request)
                    .await
                    .map_err(|error| self.plain_error(error)),
                Some(connector) => {
                    let name = ServerName::try_from(self.host.clone()).map_err(RequestError::failed)?;
                    let stream = connector.connect(name, stream).await;
                    let stream = stream.map_err(|error| self.tls_error(&error))?;
                    transmit(stream, request).await
                }
            }
        };
        let response = timeout(TIMEOUT, exchange).await;
        let response = response
            .map_err(|_| RequestError::failed(format!("{} did not respond in time", self.address())))??;
        match response.status().as_u16() {
            200 => Ok(response),
            status => {
                let body = read_all(response).await.unwrap_or_default();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
                let reason = body["errors"][0]["reason"].as_str().unwrap_or("no reason");
                let advice = match status {
                    404 => ": check the URL of the server",
                    _ => "",
                };
                Err(RequestError {
                    status: Some(status),
                    text: format!("the server responded {status}: {reason}{advice}"),
                })
            }
        }
    }

    /// The name and the port of the server.
    fn address(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// A server with TLS closes a connection without TLS, or sends an alert, which is not HTTP.
    fn plain_error(&self, error: RequestError) -> RequestError {
        let address = self.address();
        RequestError::failed(format!(
            "{address} does not respond with HTTP ({error}): if it uses TLS, use https://{address}"
        ))
    }

    fn tls_error(&self, error: &io::Error) -> RequestError {
        let address = self.address();
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        // An authority with the same name and another key has a signature that does not match.
        let is_unknown = matches!(
            cause,
            Some(rustls::Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature
            ))
        );
        match cause {
            Some(rustls::Error::InvalidMessage(_)) => {
                return RequestError::failed(format!(
                    "{address} does not respond with TLS: http:// is accepted for a loopback address; for others, the \
                     server needs a certificate"
                ));
            }
            Some(rustls::Error::InvalidCertificate(error)) if is_authority(error) => {
                return RequestError::failed(format!(
                    "the certificate of {address} is that of an authority (CA:TRUE), which is not accepted for a server: \
                     create a certificate for the server without this property"
                ));
            }
            _ => {}
        }
        RequestError::failed(match (is_unknown, self.has_certificate) {
            (true, false) => format!(
                "this system does not trust the authority that has signed the certificate of {address}: name a PEM \
                 file with the certificate of the authority, or of the server, with --certificate FILE of garth agent \
                 join"
            ),
            (true, true) => format!(
                "the certificate of {address} is not signed by a certificate in the file of --certificate"
            ),
            (false, _) => format!("no TLS connection to {address}: {error}"),
        })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        credential: Option<&str>,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, RequestError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::HOST, self.address())
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

fn is_authority(error: &CertificateError) -> bool {
    // rustls has no own variant for it.
    format!("{error:?}").contains("CaUsedAsEndEntity")
}

/// The path of the server's root. The URL of the API, which ends with the version, is accepted too.
fn base_of(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let base = path.strip_suffix("/v4").or(path.strip_suffix("/v4beta"));
    base.unwrap_or(path).trim_end_matches('/')
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
            "HTTP://LOCALHOST:8080/",
            "http://[::1]:8080/garth",
            "http://[::1]",
        ] {
            assert!(HttpClient::new(server, None).is_ok(), "{server}");
        }
        for server in [
            "http://192.0.2.1",
            "http://garth.example",
            "garth.example",
            "ftp://localhost",
            "",
            "http://127.0.0.1:99999",
            "http://127.0.0.1:",
            "http://[::1]:99999",
            "http://user:password@localhost",
            "http://localhost?x=1",
        ] {
            assert!(HttpClient::new(server, None).is_err(), "{server}");
        }
    }

    #[test]
    fn the_url_of_the_api_is_accepted() {
        for (path, base) in [
            ("", ""),
            ("/", ""),
            ("/v4", ""),
            ("/v4/", ""),
            ("/v4beta", ""),
            ("/garth/v4", "/garth"),
            ("/garth/", "/garth"),
            ("/garth-v4", "/garth-v4"),
        ] {
            assert_eq!(base_of(path), base, "{path}");
        }
    }

    #[tokio::test]
    async fn a_refused_connection_has_the_address() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let client = HttpClient::new(&format!("http://{address}"), None).unwrap();
        let error = client.post("/", None, Vec::new()).await.unwrap_err();
        assert!(error.text.contains(&address.to_string()), "{error}");
        assert!(error.text.contains("refused"), "{error}");
    }
}
