//! Errors before the body is read: the connection stays usable, or the response announces that it will be
//! closed.

use serde_json::json;

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};

/// The number of repetitions, enough to hit a race.
const ROUNDS: usize = 300;

fn assert_connection_stays_usable(server: &Server, token: &str, method: &str, path: &str, refused: u16) {
    let body = format!("{{\"description\": \"{}\"}}", "x".repeat(20_000));
    let client = Client::new(server.address, token);
    let valid = Client::new(server.address, TOKEN).head("GET", "/v4/vpcs", "");
    let length = format!(
        "content-length: {}\r\ncontent-type: application/json\r\n",
        body.len()
    );
    let head = client.head(method, path, &length);
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    for round in 0..ROUNDS {
        let mut exchange = || {
            connection.send(&head)?;
            // The response may be sent before the body.
            if round % 2 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            connection.send(&body)?;
            let reply = connection.reply_to(method)?;
            assert_eq!(reply.status, refused, "{}", reply.text());
            assert_eq!(
                reply.header("connection"),
                None,
                "a short body is read completely"
            );
            connection.send(&valid)?;
            connection.reply_to("GET")
        };
        let followed = exchange().unwrap_or_else(|cause| panic!("round {round} of {method} {path}: {cause}"));
        assert_eq!(followed.status, 200);
    }
}

#[test]
fn connection_works_after_an_early_error() {
    let folder = Folder::new("attack-early-errors");
    let server = folder.start();
    let (_, reader) = {
        folder.run("user create --account 1 --username reader --email reader@example.com --restricted");
        folder.create_token("reader")
    };
    for (token, method, path, refused) in [
        ("no-token", "POST", "/v4/vpcs", 401),
        (reader.as_str(), "POST", "/v4/vpcs", 403),
        (TOKEN, "POST", "/v4/nothing-here", 404),
        (TOKEN, "PUT", "/v4/vpcs", 405),
    ] {
        assert_connection_stays_usable(&server, token, method, path, refused);
    }
}

#[test]
fn unread_long_body_closes_the_connection() {
    let folder = Folder::new("attack-long-body");
    let server = folder.start();
    let client = Client::new(server.address, "no-token");
    for extra in [
        "content-length: 900000000\r\n",
        "content-length: 10\r\nexpect: 100-continue\r\n",
    ] {
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        connection
            .send(client.head("POST", "/v4/vpcs", extra))
            .expect("the headers can be sent");
        let reply = connection.reply_to("POST").expect("the server responds");
        assert_eq!(reply.status, 401, "{}", reply.text());
        assert_eq!(reply.header("connection"), Some("close"), "{extra}");
    }
}

#[test]
fn request_head_needs_one_host_and_crlf() {
    let folder = Folder::new("attack-heads");
    let server = folder.start();
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\nhost: garth\r\n\r\n", 200),
        ("GET /healthz HTTP/1.0\r\n\r\n", 200),
        ("GET /healthz HTTP/1.1\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\nhost: garth\n\n", 400),
        ("GET /healthz HTTP/1.1\r\nhost: garth\nx: y\r\n\r\n", 400),
    ] {
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        connection.send(head).expect("the headers can be sent");
        let reply = connection.reply_to("GET").expect("the server responds");
        assert_eq!(reply.status, status, "{head:?}");
        if status == 400 {
            assert_eq!(reply.code(), "http_invalid", "{head:?}");
        }
    }
    let mut client = server.client();
    client
        .post("/v4/vpcs", json!({"label": "still-here", "region": "us-east"}))
        .ok();
}
