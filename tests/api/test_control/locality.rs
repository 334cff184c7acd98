//! Test control serves only programs on the same machine, and only if it is enabled.

use hyper::Method;
use serde_json::Value;

use crate::harness::TestApp;

#[tokio::test]
async fn requests_of_proxies_and_of_other_sites_are_refused() {
    let app = TestApp::with_test_control().await;
    let own_origin = format!("http://{}", app.address);
    for (name, value, expected) in [
        ("x-forwarded-for", "127.0.0.1", 403),
        ("x-forwarded-for", "192.0.2.1", 403),
        ("x-forwarded-host", "localhost", 403),
        ("x-forwarded-proto", "https", 403),
        ("x-real-ip", "127.0.0.1", 403),
        ("forwarded", "for=127.0.0.1", 403),
        ("via", "1.1 proxy", 403),
        ("host", "example.com", 403),
        ("host", "192.0.2.1", 403),
        ("host", "localhost.example.com", 403),
        ("origin", "https://example.com", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("host", "localhost", 200),
        ("host", "[::1]:8080", 200),
        ("origin", &own_origin, 200),
        ("sec-fetch-site", "same-origin", 200),
        ("authorization", "Bearer wrong", 200),
    ] {
        for (method, path) in [(Method::GET, "//_test/clock"), (Method::POST, "//_test/reset")] {
            let anonymous = app.anonymous();
            let reply = anonymous.call(method, path).header(name, value).send().await;
            assert_eq!(reply.status(), expected, "{name}: {value}");
        }
    }
}

#[tokio::test]
async fn a_server_without_test_control_has_none_of_its_operations() {
    let app = TestApp::new().await;
    for (method, path) in [
        (Method::POST, "/reset"),
        (Method::GET, "/snapshots"),
        (Method::GET, "/clock"),
        (Method::GET, "/faults"),
        (Method::GET, "/requests"),
        (Method::POST, "/accounts"),
        (Method::PUT, "/settings"),
    ] {
        assert_eq!(app.control(method, path, Value::Null).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_errors_in_json() {
    let app = TestApp::with_test_control().await;
    assert_eq!(app.control(Method::GET, "/nothing", Value::Null).await.0, 404);
    assert_eq!(app.control(Method::GET, "/reset", Value::Null).await.0, 405);
    assert_eq!(app.control(Method::PATCH, "/clock", Value::Null).await.0, 405);
}
