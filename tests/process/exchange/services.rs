//! Services that are not Garth: the requests that they get, redirects and compressed responses.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use super::{Recording, exchanges, replay};
use crate::harness::{Folder, TOKEN};
use crate::process::WAIT_TIMEOUT;
use crate::uploads::sha256;

/// A service that sends the same response to all requests. Returns its URL, and the heads of the requests.
fn serve(response: impl FnOnce(&str) -> Vec<u8>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let response = response(&url);
    let (heads, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("the request can be read");
                head.extend(byte);
            }
            stream.write_all(&response).expect("the response is sent");
            if heads.send(String::from_utf8(head).expect("text")).is_err() {
                break;
            }
        }
    });
    (url, received)
}

/// A response with these lines in its head.
fn response(status: &str, lines: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n{lines}\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn a_service_gets_the_query_and_the_headers_of_the_client() {
    let folder = Folder::new("record-request");
    let (url, requests) = serve(|_| response("200 OK", "", b"{}"));
    let recording = Recording::of(&folder, &format!("{url}/v4"), &[]);
    let mut client = recording.client();
    let extra =
        "x-filter: {\"label\": \"a b\"}\r\naccept-encoding: gzip\r\nconnection: x-hop\r\nx-hop: 1\r\n";
    let head = client.head("GET", "/vpcs?page=2&label=a%20b&&flag", extra);
    assert_eq!(
        client.try_send_head("GET", &head).expect("a response").status,
        200
    );

    let request = requests.recv_timeout(WAIT_TIMEOUT).expect("a request");

    assert!(
        request.starts_with("GET /v4/vpcs?page=2&label=a%20b&&flag HTTP/1.1\r\n"),
        "{request}"
    );
    let host = url.replace("http://", "host: ");
    let token = format!("authorization: Bearer {TOKEN}");
    for line in [
        host.as_str(),
        token.as_str(),
        "x-filter: {\"label\": \"a b\"}",
        "accept-encoding: identity",
    ] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line}: {request}");
    }
    assert!(!request.contains("x-hop"), "{request}");
    let (file, _) = recording.end();
    assert_eq!(
        exchanges(&file)[0]["request"]["query"],
        "page=2&label=a%20b&&flag"
    );
}

#[test]
fn a_redirect_within_the_service_leads_to_the_proxy() {
    for (location, expected) in [
        ("URL/api/v4/vpcs?page=2", "/v4/vpcs?page=2"),
        ("/api/v4/vpcs", "/v4/vpcs"),
        ("https://other.example/v4/vpcs", "https://other.example/v4/vpcs"),
    ] {
        let folder = Folder::new("record-redirect");
        let (url, _requests) = serve(|url| {
            let line = format!("location: {}\r\n", location.replace("URL", url));
            response("302 Found", &line, b"{}")
        });
        let recording = Recording::of(&folder, &format!("{url}/api/v4"), &[]);
        let reply = recording.client().get("/networks");
        assert_eq!((reply.status, reply.header("location")), (302, Some(expected)));
        let (file, _) = recording.end();
        let recorded = exchanges(&file)[0]["response"].clone();
        assert_eq!(
            (&recorded["status"], &recorded["headers"]["location"]),
            (&json!(302), &json!(expected))
        );
    }
}

#[test]
fn a_compressed_response_is_passed_on_and_not_comparable() {
    let folder = Folder::new("record-gzip");
    // Only the header says that it is compressed, because nothing reads it.
    let body = b"\x1f\x8b compressed";
    let (url, _requests) = serve(|_| response("200 OK", "content-encoding: gzip\r\n", body));
    let recording = Recording::of(&folder, &url, &[]);
    let reply = recording.client().get("/v4/vpcs");
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert_eq!(reply.body, body);
    let (file, _) = recording.end();
    let expected = json!({"bytes": {"size": body.len(), "sha256": sha256(body)}});
    assert_eq!(exchanges(&file)[0]["response"]["body"], expected);

    let output = replay(&folder, &file, &[]);

    assert_eq!(output.code, Some(2), "{output:?}");
    let expected = "1 GET /v4/vpcs: not comparable: the recorded response is compressed (gzip)\n";
    assert!(output.stdout.contains(expected), "{output:?}");
}
