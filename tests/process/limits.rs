//! How much a request may be: one that is too long, too wide or too large is told so in JSON.

use crate::connection::{Connection, Reply};
use crate::harness::{Folder, Server};

const MIB: usize = 1024 * 1024;

#[test]
fn a_url_of_more_than_8_kib_is_refused_with_414() {
    let folder = Folder::new("url");
    let server = folder.start();
    get(&server, &long(8 * 1024), "").ok();
    for length in [8 * 1024 + 2, 60_000] {
        assert_refused(&get(&server, &long(length), ""), 414, "uri_too_long");
    }
}

#[test]
fn more_than_100_headers_or_32_kib_of_them_are_refused_with_431() {
    let folder = Folder::new("headers");
    let server = folder.start();
    for extra in [many(98), large(32_000)] {
        get(&server, "/v4/vpcs", &extra).ok();
    }
    for extra in [many(99), many(250), large(33_000), large(200_000)] {
        assert_refused(&get(&server, "/v4/vpcs", &extra), 431, "headers_too_large");
    }
}

/// There are limits below ours, of those who read HTTP for us; their answers are ours all the same.
#[test]
fn what_is_beyond_all_measure_is_refused_in_json_too() {
    let folder = Folder::new("beyond");
    let server = folder.start();
    assert_refused(&get(&server, &long(100_000), ""), 414, "uri_too_long");
    for extra in [many(1000), large(400_000)] {
        assert_refused(&get(&server, "/v4/vpcs", &extra), 431, "headers_too_large");
    }
}

#[test]
fn what_is_not_http_is_refused_in_json_too() {
    let folder = Folder::new("nonsense");
    let server = folder.start();
    for nonsense in [
        "nonsense\r\n\r\n",
        "GET /v4/vpcs HTTP/9.9\r\n\r\n",
        "GET /v4/vpcs HTTP/1.1\r\nno colon\r\n\r\n",
        "POST /v4/vpcs HTTP/1.1\r\ncontent-length: many\r\n\r\n",
    ] {
        let refused = answer(&server, nonsense);
        assert_eq!(refused.status, 400, "{nonsense}");
        assert!(refused.json()["errors"][0]["reason"].is_string(), "{nonsense}");
    }
}

#[test]
fn a_body_of_more_than_a_mebibyte_is_refused_with_413() {
    let folder = Folder::new("body");
    let server = folder.start();
    let post = |extra: &str, body: &str| {
        let head = server.client().head("POST", "/v4/vpcs", extra);
        answer(&server, &format!("{head}{body}"))
    };
    let announced = |body: &str| post(&format!("content-length: {}\r\n", body.len()), body);
    let chunked = |body: &str| {
        let chunk = |piece: &[u8]| format!("{:x}\r\n{}\r\n", piece.len(), String::from_utf8_lossy(piece));
        let chunks: String = body.as_bytes().chunks(10_000).map(chunk).collect();
        post("transfer-encoding: chunked\r\n", &format!("{chunks}0\r\n\r\n"))
    };

    announced(&padded("announced", MIB)).ok();
    chunked(&padded("chunked", MIB)).ok();
    for body in [padded("more", MIB + 1), padded("much-more", 5 * MIB)] {
        assert_refused(&announced(&body), 413, "body_too_large");
        assert_refused(&chunked(&body), 413, "body_too_large");
    }
    // Whoever announces far too much is told before sending it.
    assert_refused(
        &post("content-length: 1073741824\r\n", "{"),
        413,
        "body_too_large",
    );
    assert_eq!(server.client().vpc_labels(), ["announced", "chunked"]);
}

#[test]
fn a_client_that_waits_is_refused_before_it_sends_too_much() {
    let folder = Folder::new("expect");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
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
        connection.send(head).expect("it can be sent");
        let reply = connection.reply_to("POST").expect("it is answered");
        assert_eq!(reply.status, 413, "{path} {length}: {}", reply.text());
        assert!(reply.text().contains(code), "{path} {length}: {}", reply.text());
        assert_eq!(reply.header("connection"), Some("close"), "{path} {length}");
        assert!(connection.is_closed(), "{path} {length}");
    }
    // What is small enough is asked for.
    let body = r#"{"label": "core", "region": "us-east"}"#;
    let extra = format!("content-length: {}\r\nexpect: 100-continue\r\n", body.len());
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    let head = server.client().head("POST", "/v4/vpcs", &extra);
    connection.send(head).expect("it can be sent");
    assert_eq!(connection.head().expect("it is asked for").status, 100);
    connection.send(body).expect("it can be sent");
    connection.reply_to("POST").expect("it is answered").ok();
}

#[test]
fn a_host_that_names_no_host_is_refused_with_400() {
    let folder = Folder::new("host");
    let server = folder.start();
    let request = |version: &str, host: &str| {
        answer(
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

fn long(length: usize) -> String {
    let path = "/v4/vpcs?x=";
    format!("{path}{}", "x".repeat(length - path.len()))
}

fn many(count: usize) -> String {
    (0..count).map(|number| format!("x-{number}: 1\r\n")).collect()
}

fn large(bytes: usize) -> String {
    format!("x-large: {}\r\n", "x".repeat(bytes))
}

/// A good body with spaces behind it.
fn padded(label: &str, bytes: usize) -> String {
    let body = format!(r#"{{"label": "{label}", "region": "us-east"}}"#);
    let spaces = " ".repeat(bytes - body.len());
    body + &spaces
}

fn get(server: &Server, path: &str, extra: &str) -> Reply {
    answer(server, &server.client().head("GET", path, extra))
}

/// What the server says to a text on a new connection.
fn answer(server: &Server, text: &str) -> Reply {
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    // A server that has heard enough closes early; its answer is there all the same.
    let _ = connection.send(text);
    connection.reply_to("GET").expect("it is answered")
}

fn assert_refused(reply: &Reply, status: u16, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (status, code));
    let length = reply.body.len().to_string();
    assert_eq!(reply.header("content-length"), Some(length.as_str()));
}
