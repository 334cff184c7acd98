//! Where a request comes from, and under which address the client has called this server.

use std::net::SocketAddr;

use axum::http::request::Parts;
use axum::http::{Uri, header};

use super::App;

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Whether what was asked came through TLS, all the way to us or to a proxy that is trusted.
#[derive(Clone, Copy, Debug)]
pub struct Secured(pub bool);

/// The server's own address: as the provider has set it, or as the client has called it.
pub fn issuer(app: &App, parts: &Parts) -> String {
    if let Some(set) = &app.options().public_url {
        return set.clone();
    }
    let secured = parts.extensions.get::<Secured>().is_some_and(|secured| secured.0);
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
