//! Tokens and passwords are not stored; logs and metrics contain no data of clients.

use std::fs::File;

use hyper_util::client::legacy::Client as Http2;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, eventually};

/// A token that does not exist.
const UNKNOWN: &str = "feedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedface";
const PASSWORD: &str = "correct horse battery staple";
/// Stands for private data of a client.
const CANARY: &str = "canary-7f3a";

#[test]
fn logs_metrics_and_errors_contain_no_secrets() {
    let folder = Folder::new("secrets");
    let mut serve = folder.serve();
    serve.args(["--log", "debug", "--log-format", "json"]);
    let server = Server::start_with_metrics(&mut serve);
    let tokens = use_tokens(&folder, &server);
    let errors = send_canaries(&server);
    send_http2(&server);

    let metrics_page = Client::new(server.metrics_address(), UNKNOWN)
        .get("/metrics")
        .text();
    for operation in ["getVpcs", "createVpc", "none"] {
        let counter = format!("garth_http_requests_total{{operation=\"{operation}\"");
        assert!(metrics_page.contains(&counter), "{metrics_page}");
    }
    let log = server.stop().stderr;
    for operation in ["getVpcs", "createVpc"] {
        assert!(log.contains(operation), "the log names the operation: {log}");
    }
    for secret in tokens
        .iter()
        .map(String::as_str)
        .chain([UNKNOWN, CANARY, PASSWORD])
    {
        for (location, text) in [("log", &log), ("metrics", &metrics_page), ("errors", &errors)] {
            assert!(!text.contains(secret), "{secret} is in the {location}: {text}");
        }
    }
}

#[test]
fn store_contains_no_tokens_or_passwords() {
    let folder = Folder::new("hashes");
    let server = folder.start();
    let typed = File::open(folder.write("typed", PASSWORD)).expect("the file was just written");
    let create = "user create --account 1 --username ada --email ada@example.com --password-stdin";
    let created = Process::spawn(folder.garth(create).stdin(typed)).wait();
    assert_eq!(created.code, Some(0), "{created:?}");
    let tokens = use_tokens(&folder, &server);

    let mut bytes = Vec::new();
    for file in std::fs::read_dir(folder.data())
        .expect("the store exists")
        .flatten()
    {
        bytes.extend(std::fs::read(file.path()).unwrap_or_default());
    }
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("ada@example.com"), "the files have the stored data");
    for secret in tokens.iter().map(String::as_str).chain([PASSWORD]) {
        assert!(!holds(secret), "{secret} is in the store");
    }
}

/// Uses every kind of token. Returns the tokens that existed.
fn use_tokens(folder: &Folder, server: &Server) -> Vec<String> {
    let (_, good) = folder.create_token("admin");
    let (_, short) = folder.create_token("admin --expiry 1s");
    let (id, revoked) = folder.create_token("admin");
    folder.run(&format!("token revoke {id}"));
    eventually("the token to expire", || {
        (server.client_with(&short).get("/v4/vpcs").status == 401).then_some(())
    });
    for (token, status) in [(&good, 200), (&revoked, 401), (&UNKNOWN.to_owned(), 401)] {
        assert_eq!(server.client_with(token).get("/v4/vpcs").status, status);
    }
    vec![TOKEN.to_owned(), good, short, revoked]
}

/// Sends the canary in every kind of input; returns the texts of all errors.
fn send_canaries(server: &Server) -> String {
    let mut client = server.client();
    let valid = json!({"label": "core", "region": "us-east", "description": CANARY});
    client.post("/v4/vpcs", valid).ok();
    let subnets = json!([{"label": "web", "ipv4": CANARY}]);
    let refused = [
        client.post(
            "/v4/vpcs",
            json!({"label": "core", "region": CANARY, "description": CANARY}),
        ),
        client.post(
            "/v4/vpcs",
            json!({"label": format!("{CANARY}!"), "region": "us-east"}),
        ),
        client.post(
            "/v4/vpcs",
            json!({"label": "edge", "region": "us-east", "subnets": subnets}),
        ),
        client.post("/v4/vpcs", json!(CANARY)),
        client.get(&format!("/v4/vpcs?page={CANARY}&page_size={CANARY}")),
        client.get(&format!("/v4/account/events?after={CANARY}")),
        client.get(&format!("/v4/nowhere?secret={CANARY}")),
        server
            .client_with(CANARY)
            .get(&format!("/v4/vpcs?secret={CANARY}")),
    ];
    let mut errors = String::new();
    for reply in refused {
        assert!((400..500).contains(&reply.status), "{reply:?}");
        errors += &reply.text();
    }
    for (extra, body) in [
        ("", format!("{{\"label\": \"{CANARY}\"")),
        ("content-type: text/plain\r\n", CANARY.to_owned()),
    ] {
        let extra = format!("{extra}content-length: {}\r\n", body.len());
        let head = client.head("POST", &format!("/v4/vpcs?secret={CANARY}"), &extra);
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        connection
            .send(format!("{head}{body}"))
            .expect("the request can be sent");
        errors += &connection.reply_to("POST").expect("the server responds").text();
    }
    // A log might print malformed and incomplete requests.
    let mut broken = Connection::open(server.address).expect("the server accepts connections");
    let head = client.head("POST", "/v4/vpcs", "content-length: 1000\r\n");
    broken
        .send(format!("{head}{CANARY}"))
        .expect("the request can be sent");
    let mut malformed = Connection::open(server.address).expect("the server accepts connections");
    malformed
        .send(format!("{CANARY} {TOKEN}\r\n\r\n"))
        .expect("the request can be sent");
    let error = malformed.reply_to("GET").expect("the server responds");
    errors + &error.text()
}

fn send_http2(server: &Server) {
    let url = format!("http://{}/v4/vpcs?secret={CANARY}", server.address);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be created").block_on(async {
        let client = Http2::builder(TokioExecutor::new()).http2_only(true).build_http();
        for token in [TOKEN, UNKNOWN] {
            let request = hyper::Request::post(&url).header("authorization", format!("Bearer {token}"));
            let body = http_body_util::Full::new(bytes::Bytes::from(CANARY));
            let response = client
                .request(request.body(body).expect("the request is well-formed"))
                .await;
            assert!(response.expect("the server responds").status().is_client_error());
        }
    });
}
