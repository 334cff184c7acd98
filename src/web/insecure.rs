//! Refuses to show password forms over unencrypted connections.
//!
//! If a browser on another host uses plain HTTP, it drops the `Secure` session cookie, so a log-in cannot
//! succeed. The password would also cross the network in clear text. The browser therefore gets a page with
//! instructions instead of a form.

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::web::origin::ClientUsedTls;
use crate::web::{host, pages};

/// Middleware for pages with a password form, and for the requests that submit such a form.
pub async fn refuse(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match is_secure(&parts) {
        true => next.run(Request::from_parts(parts, body)).await,
        false => pages::insecure(StatusCode::FORBIDDEN, &local_url(&parts)),
    }
}

/// Whether the browser considers its connection secure. Only then does it store the session cookie.
fn is_secure(parts: &Parts) -> bool {
    let used_tls = parts
        .extensions
        .get::<ClientUsedTls>()
        .is_some_and(|used_tls| used_tls.0);
    used_tls || host_of(parts).is_some_and(is_loopback) || browser_uses_tls(&parts.headers)
}

fn host_of(parts: &Parts) -> Option<&str> {
    let host = parts.headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    host.or(parts.uri.authority().map(|authority| authority.as_str()))
}

/// The URL of this server for a browser on the same machine, with the port that the browser used.
fn local_url(parts: &Parts) -> String {
    match host_of(parts).and_then(host::port) {
        None | Some(80) => "http://localhost".to_owned(),
        Some(port) => format!("http://localhost:{port}"),
    }
}

/// Whether the headers show that the browser uses TLS, even if its proxy is not configured as trusted. A client that
/// forges these headers gains nothing: it only sees the form.
fn browser_uses_tls(headers: &HeaderMap) -> bool {
    let starts_with = |name: &str, prefix: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.starts_with(prefix))
    };
    // Browsers send Sec-Fetch-Site only to trustworthy origins.
    headers.contains_key("sec-fetch-site")
        || starts_with("origin", "https://")
        || starts_with("x-forwarded-proto", "https")
}

/// Whether browsers trust plain HTTP to this host, because the traffic never leaves the machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let address = name.parse::<std::net::IpAddr>();
    address.is_ok_and(|address| address.is_loopback()) || name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_hosts_are_trusted_without_tls() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.:8080",
            "app.localhost:8080",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]:8080",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "garth.example",
            "10.0.0.1:8080",
            "[fd00::1]:8080",
            "localhost.example",
            "127.0.0.1.example",
            "notlocalhost",
            "",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
