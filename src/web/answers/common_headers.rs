//! Default headers of all responses.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The default headers of pages. They are stored as a map, because cloning a map is cheaper than inserting each header.
pub static PAGE_HEADERS: LazyLock<HeaderMap> = LazyLock::new(|| COMMON_HEADERS.iter().cloned().collect());
/// The default headers of API responses.
pub static API_HEADERS: LazyLock<HeaderMap> =
    LazyLock::new(|| CORS_HEADERS.iter().chain(&COMMON_HEADERS).cloned().collect());

/// The CORS headers, which let scripts of any origin call the API.
static CORS_HEADERS: [(HeaderName, HeaderValue); 6] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    (
        header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    ),
    (
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("HEAD, GET, OPTIONS, POST, PUT, DELETE"),
    ),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Authorization, Origin, X-Requested-With, Content-Type, Accept, X-Filter, \
             If-Match, If-None-Match, Last-Event-ID, X-Request-Id",
        ),
    ),
    (
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(
            "X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Status, X-Request-Id, ETag, Retry-After, \
             X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset",
        ),
    ),
    (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
];

/// The value of `Strict-Transport-Security`. Servers must send this header over TLS only (RFC 6797, 7.2).
pub const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

static COMMON_HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        HeaderName::from_static("x-spec-version"),
        HeaderValue::from_static("4.176.0"),
    ),
    (
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-cache"),
    ),
    (header::VARY, HeaderValue::from_static("Authorization, X-Filter")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'"),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        header::X_XSS_PROTECTION,
        HeaderValue::from_static("1; mode=block"),
    ),
];
