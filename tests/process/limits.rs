//! Limits on the size of requests, and their JSON errors.

use crate::connection::{Connection, Reply};
use crate::harness::{Folder, Server};

const MIB: usize = 1024 * 1024;

#[test]
fn url_above_8_kib_returns_414() {
    let folder = Folder::new("url");
    let server = folder.start();
    get(&server, &url_of(8 * 1024), "").ok();
    for length in [8 * 1024 + 2, 60_000] {
        assert_refused(&get(&server, &url_of(length), ""), 414, "uri_too_long");
    }
}

#[test]
fn more_than_100_headers_or_32_kib_return_431() {
    let folder = Folder::new("headers");
    let server = folder.start();
    for extra in [many_headers(98), large_header(32_000)] {
        get(&server, "/v4/vpcs", &extra).ok();
    }
    for extra in [
        many_headers(99),
        many_headers(250),
        large_header(33_000),
        large_header(200_000),
    ] {
        assert_refused(&get(&server, "/v4/vpcs", &extra), 431, "headers_too_large");
    }
}

/// The HTTP library has its own limits. Its errors have the same format.
#[test]
fn oversized_requests_get_json_errors() {
    let folder = Folder::new("beyond");
    let server = folder.start();
    assert_refused(&get(&server, &url_of(100_000), ""), 414, "uri_too_long");
    for extra in [many_headers(1000), large_header(400_000)] {
        assert_refused(&get(&server, "/v4/vpcs", &extra), 431, "headers_too_large");
    }
}

#[test]
fn malformed_http_gets_json_errors() {
    let folder = Folder::new("malformed");
    let server = folder.start();
    for malformed in [
        "malformed\r\n\r\n",
        "GET /v4/vpcs HTTP/9.9\r\n\r\n",
        "GET /v4/vpcs HTTP/1.1\r\nno colon\r\n\r\n",
        "POST /v4/vpcs HTTP/1.1\r\ncontent-length: many\r\n\r\n",
    ] {
        let refused = send_text(&server, malformed);
        assert_eq!(refused.status, 400, "{malformed}");
        assert!(refused.json()["errors"][0]["reason"].is_string(), "{malformed}");
    }
}

#[test]
fn body_above_1_mib_returns_413() {
    let folder = Folder::new("body");
    let server = folder.start();
    let post = |extra: &str, body: &str| {
        let head = server.client().head("POST", "/v4/vpcs", extra);
        send_text(&server, &format!("{head}{body}"))
    };
    let with_length = |body: &str| post(&format!("content-length: {}\r\n", body.len()), body);
    let chunked = |body: &str| {
        let chunk = |piece: &[u8]| format!("{:x}\r\n{}\r\n", piece.len(), String::from_utf8_lossy(piece));
        let chunks: String = body.as_bytes().chunks(10_000).map(chunk).collect();
        post("transfer-encoding: chunked\r\n", &format!("{chunks}0\r\n\r\n"))
    };

    with_length(&padded("with-length", MIB)).ok();
    chunked(&padded("chunked", MIB)).ok();
    for body in [padded("more", MIB + 1), padded("much-more", 5 * MIB)] {
        assert_refused(&with_length(&body), 413, "body_too_large");
        assert_refused(&chunked(&body), 413, "body_too_large");
    }
    // A Content-Length above the limit is refused before the body is sent.
    assert_refused(
        &post("content-length: 1073741824\r\n", "{"),
        413,
        "body_too_large",
    );
    assert_eq!(server.client().vpc_labels(), ["with-length", "chunked"]);
}

#[test]
fn expect_100_continue_is_refused_before_an_oversized_body() {
    let folder = Folder::new("expect");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let attachments = format!("/v4/support/tickets/{ticket}/attachments");
    let multipart = "content-type: multipart/form-data; boundary=x\r\n";
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    for (path, kind, length, code) in [
        ("/v4/vpcs", "", MIB + 1, "body_too_large"),
        ("/v4/vpcs", "", 5 * MIB, "body_too_large"),
        ("/oauth/token", form, MIB + 1, "body_too_large"),
        (&attachments, multipart, 7 * MIB, "file_too_large"),
    ] {
        let extra = format!("{kind}content-length: {length}\r\nexpect: 100-continue\r\n");
        let head = server.client().head("POST", path, &extra);
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        connection.send(head).expect("the request can be sent");
        let reply = connection.reply_to("POST").expect("the server responds");
        assert_eq!(reply.status, 413, "{path} {length}: {}", reply.text());
        assert!(reply.text().contains(code), "{path} {length}: {}", reply.text());
        assert_eq!(reply.header("connection"), Some("close"), "{path} {length}");
        assert!(connection.is_closed(), "{path} {length}");
    }
    // A small body gets `100 Continue`.
    let body = r#"{"label": "core", "region": "us-east"}"#;
    let extra = format!("content-length: {}\r\nexpect: 100-continue\r\n", body.len());
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    let head = server.client().head("POST", "/v4/vpcs", &extra);
    connection.send(head).expect("the request can be sent");
    assert_eq!(
        connection.head().expect("the server sends 100 Continue").status,
        100
    );
    connection.send(body).expect("the request can be sent");
    connection.reply_to("POST").expect("the server responds").ok();
}

#[test]
fn invalid_host_header_returns_400() {
    let folder = Folder::new("host");
    let server = folder.start();
    let request = |version: &str, host: &str| {
        send_text(
            &server,
            &format!("GET /v4/regions HTTP/{version}\r\nhost: {host}\r\n\r\n"),
        )
    };
    for host in [
        "",
        "a b",
        "a/b",
        "user@garth",
        "garth:port",
        "garth:70000",
        "[::1",
        "::1",
        "a,b",
        "<x>",
        "g%zz",
    ] {
        for version in ["1.1", "1.0"] {
            assert_refused(&request(version, host), 400, "http_invalid");
        }
    }
    for host in [
        "garth",
        "garth.example.",
        "garth:",
        "127.0.0.1:80",
        "[::1]:8080",
        "a_b-c",
        "xn--bcher-kva.example",
    ] {
        request("1.1", host).ok();
    }
}

fn url_of(length: usize) -> String {
    let path = "/v4/vpcs?x=";
    format!("{path}{}", "x".repeat(length - path.len()))
}

fn many_headers(count: usize) -> String {
    (0..count).map(|number| format!("x-{number}: 1\r\n")).collect()
}

fn large_header(bytes: usize) -> String {
    format!("x-large: {}\r\n", "x".repeat(bytes))
}

/// A valid body, padded with spaces.
fn padded(label: &str, bytes: usize) -> String {
    let body = format!(r#"{{"label": "{label}", "region": "us-east"}}"#);
    let spaces = " ".repeat(bytes - body.len());
    body + &spaces
}

fn get(server: &Server, path: &str, extra: &str) -> Reply {
    send_text(server, &server.client().head("GET", path, extra))
}

/// Sends a text on a new connection; returns the response.
fn send_text(server: &Server, text: &str) -> Reply {
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    // The server may close early; its response can still be read.
    let _ = connection.send(text);
    connection.reply_to("GET").expect("the server responds")
}

fn assert_refused(reply: &Reply, status: u16, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (status, code));
    let length = reply.body.len().to_string();
    assert_eq!(reply.header("content-length"), Some(length.as_str()));
}
