//! Refuses requests to test control that do not come from a program on this machine.
//!
//! The server listens only on loopback addresses. A proxy or a web page in a browser on this machine could still pass
//! on requests of others. A proxy adds `X-Forwarded-For` or a similar header, or has another host name. A browser sends
//! the origin of the page, and a name that an attacker points to this machine is not a loopback name.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::model::reason::Code;
use crate::web::error;
use crate::web::origin::Peer;

/// Headers that proxies add.
const PROXY_HEADERS: [&str; 6] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// The middleware that refuses requests of others.
pub async fn refuse_others(request: Request, next: Next) -> Response {
    match refusal(&request) {
        None => next.run(request).await,
        Some(reason) => error::plain(StatusCode::FORBIDDEN, Code::NotLocal, reason),
    }
}

fn refusal(request: &Request) -> Option<&'static str> {
    let headers = request.headers();
    let is_loopback = |Peer(address): &Peer| address.ip().to_canonical().is_loopback();
    if !request.extensions().get::<Peer>().is_some_and(is_loopback) {
        return Some("Test control accepts only clients on the same machine");
    }
    if PROXY_HEADERS.iter().any(|name| headers.contains_key(*name)) {
        return Some("Test control accepts no requests from proxies");
    }
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let host = text(headers, header::HOST.as_str()).or(authority);
    let Some(host) = host.filter(|host| is_local_name(host)) else {
        return Some("The Host header must be localhost or a loopback address");
    };
    let is_same_origin = |origin: &str| {
        let origin = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
        origin == Some(host)
    };
    let is_same_site = |site: &str| matches!(site, "same-origin" | "none");
    if headers.contains_key(header::ORIGIN) && !text(headers, "origin").is_some_and(is_same_origin)
        || headers.contains_key("sec-fetch-site")
            && !text(headers, "sec-fetch-site").is_some_and(is_same_site)
    {
        return Some("Test control accepts no requests from pages of other sites");
    }
    None
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a host name, with an optional port, is `localhost` or a loopback address.
fn is_local_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::is_local_name;

    #[test]
    fn only_loopback_names_are_local() {
        for local in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:80",
            "127.1.2.3",
            "[::1]:8080",
        ] {
            assert!(is_local_name(local), "{local}");
        }
        for other in [
            "",
            "example.com",
            "localhost.example.com:80",
            "127.0.0.1.example.com",
            "192.0.2.1",
            "[2001:db8::1]:80",
            "0.0.0.0:8080",
        ] {
            assert!(!is_local_name(other), "{other}");
        }
    }
}
