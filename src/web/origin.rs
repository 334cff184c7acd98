//! The origin of a request: client address, TLS, and the URL that the client used.

use std::net::SocketAddr;

use axum::http::request::Parts;
use axum::http::{Uri, header};

use super::App;

/// The client address.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Whether the client used TLS, to this server or to a trusted proxy.
#[derive(Clone, Copy, Debug)]
pub struct ClientUsedTls(pub bool);

/// The base URL of this server: the configured URL, or the URL that the client used.
pub fn issuer(app: &App, parts: &Parts) -> String {
    if let Some(configured) = &app.options().public_url {
        return configured.clone();
    }
    let used_tls = parts
        .extensions
        .get::<ClientUsedTls>()
        .is_some_and(|used_tls| used_tls.0);
    let host = parts
        .headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.or(parts.uri.authority().map(|authority| authority.as_str()));
    let scheme = if used_tls { "https" } else { "http" };
    let url = host.map(|host| format!("{scheme}://{host}"));
    let has_no_path = |url: &String| {
        url.parse::<Uri>()
            .is_ok_and(|uri| uri.path() == "/" && uri.query().is_none())
    };
    let is_valid = |url: &String| !url.contains('@') && has_no_path(url);
    url.filter(is_valid)
        .unwrap_or_else(|| format!("{scheme}://localhost"))
}
