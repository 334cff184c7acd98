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

/// The base URL of this server: as configured, or as the client used it.
pub fn issuer(app: &App, parts: &Parts) -> String {
    if let Some(set) = &app.options().public_url {
        return set.clone();
    }
    let secured = parts
        .extensions
        .get::<ClientUsedTls>()
        .is_some_and(|secured| secured.0);
    let called = parts
        .headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let called = called.or(parts.uri.authority().map(|authority| authority.as_str()));
    let scheme = if secured { "https" } else { "http" };
    let address = called.map(|host| format!("{scheme}://{host}"));
    let plain = |address: &String| {
        address
            .parse::<Uri>()
            .is_ok_and(|uri| uri.path() == "/" && uri.query().is_none())
    };
    let host = |address: &String| !address.contains('@') && plain(address);
    address
        .filter(host)
        .unwrap_or_else(|| format!("{scheme}://localhost"))
}
