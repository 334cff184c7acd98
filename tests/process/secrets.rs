//! What nobody gets to read: tokens and passwords anywhere, and in logs and figures nothing of
//! what clients send.

use std::fs::File;

use hyper_util::client::legacy::Client as Http2;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, eventually};
use crate::settings::free_address;

/// Never known to the server, but a token all the same.
const UNKNOWN: &str = "feedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedface";
const PASSWORD: &str = "correct horse battery staple";
/// Stands for whatever a client would not like to see in a log.
const CANARY: &str = "canary-7f3a";

#[test]
fn logs_figures_and_refusals_tell_no_secrets() {
    let folder = Folder::new("secrets");
    let metrics = free_address();
    let mut serve = folder.serve();
    serve.args([
        "--log",
        "debug",
        "--log-format",
        "json",
        "--metrics-listen",
        &metrics.to_string(),
    ]);
    let server = Server::start(&mut serve);
    let tokens = use_tokens(&folder, &server);
    let refusals = send_canaries(&server);
    speak_http2(&server);

    let figures = Client::new(metrics, UNKNOWN).get("/metrics").text();
    for operation in ["getVpcs", "createVpc", "none"] {
        let counter = format!("garth_http_requests_total{{operation=\"{operation}\"");
        assert!(figures.contains(&counter), "{figures}");
    }
    let log = server.stop().stderr;
    for operation in ["getVpcs", "createVpc"] {
        assert!(log.contains(operation), "the log tells what was done: {log}");
    }
    for secret in tokens
        .iter()
        .map(String::as_str)
        .chain([UNKNOWN, CANARY, PASSWORD])
    {
        for (place, text) in [("log", &log), ("metrics", &figures), ("refusals", &refusals)] {
            assert!(!text.contains(secret), "{secret} is in the {place}: {text}");
        }
    }
}

#[test]
fn the_store_keeps_neither_tokens_nor_passwords() {
    let folder = Folder::new("hashes");
    let server = folder.start();
    let typed = File::open(folder.write("typed", PASSWORD)).expect("it was just written");
    let create = "user create --account 1 --username ada --email ada@example.com --password-stdin";
    let made = Process::spawn(folder.garth(create).stdin(typed)).ended();
    assert_eq!(made.code, Some(0), "{made:?}");
    let tokens = use_tokens(&folder, &server);

    let mut bytes = Vec::new();
    for file in std::fs::read_dir(folder.data())
        .expect("the store is there")
        .flatten()
    {
        bytes.extend(std::fs::read(file.path()).unwrap_or_default());
    }
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("ada@example.com"), "this is where things are kept");
    for secret in tokens.iter().map(String::as_str).chain([PASSWORD]) {
        assert!(!holds(secret), "{secret} is in the store");
    }
}

/// Uses every kind of token there is; those that somebody really had.
fn use_tokens(folder: &Folder, server: &Server) -> Vec<String> {
    let (_, good) = folder.make_token("admin");
    let (_, short) = folder.make_token("admin --expiry 1s");
    let (id, revoked) = folder.make_token("admin");
    folder.run(&format!("token revoke {id}"));
    eventually("the token to expire", || {
        (server.client_with(&short).get("/v4/vpcs").status == 401).then_some(())
    });
    for (token, status) in [(&good, 200), (&revoked, 401), (&UNKNOWN.to_owned(), 401)] {
        assert_eq!(server.client_with(token).get("/v4/vpcs").status, status);
    }
    vec![TOKEN.to_owned(), good, short, revoked]
}

/// Sends the canary wherever a client's own words can stand; all that was refused.
fn send_canaries(server: &Server) -> String {
    let mut client = server.client();
    let good = json!({"label": "core", "region": "us-east", "description": CANARY});
    client.post("/v4/vpcs", good).ok();
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
    let mut said = String::new();
    for reply in refused {
        assert!((400..500).contains(&reply.status), "{reply:?}");
        said += &reply.text();
    }
    for (extra, body) in [
        ("", format!("{{\"label\": \"{CANARY}\"")),
        ("content-type: text/plain\r\n", CANARY.to_owned()),
    ] {
        let extra = format!("{extra}content-length: {}\r\n", body.len());
        let head = client.head("POST", &format!("/v4/vpcs?secret={CANARY}"), &extra);
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        connection.send(format!("{head}{body}")).expect("it can be sent");
        said += &connection.reply_to("POST").expect("it is answered").text();
    }
    // Not even HTTP, and broken off: what a log would be most eager to tell of.
    let mut broken = Connection::open(server.address).expect("the server accepts connections");
    let head = client.head("POST", "/v4/vpcs", "content-length: 1000\r\n");
    broken.send(format!("{head}{CANARY}")).expect("it can be sent");
    let mut nonsense = Connection::open(server.address).expect("the server accepts connections");
    nonsense
        .send(format!("{CANARY} {TOKEN}\r\n\r\n"))
        .expect("it can be sent");
    let answer = nonsense.reply_to("GET").expect("it is answered");
    said + &answer.text()
}

fn speak_http2(server: &Server) {
    let url = format!("http://{}/v4/vpcs?secret={CANARY}", server.address);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(async {
        let client = Http2::builder(TokioExecutor::new()).http2_only(true).build_http();
        for token in [TOKEN, UNKNOWN] {
            let request = hyper::Request::post(&url).header("authorization", format!("Bearer {token}"));
            let body = http_body_util::Full::new(bytes::Bytes::from(CANARY));
            let answered = client
                .request(request.body(body).expect("it is well-formed"))
                .await;
            assert!(answered.expect("it is answered").status().is_client_error());
        }
    });
}
