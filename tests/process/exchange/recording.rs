//! The proxy: passed requests, recorded exchanges, and the end of a recording.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};

use super::{Recording, exchanges, replay};
use crate::connection::Connection;
use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};

#[test]
fn requests_and_responses_pass_through_the_proxy_unchanged() {
    let folder = Folder::new("record-proxy");
    let server = folder.start();
    let url = format!("http://{}/v4", server.address);
    let recording = Recording::of(&folder, &url, &[]);
    let mut proxied = recording.client();
    let created = proxied
        .post("/vpcs", json!({"label": "core", "region": "us-east"}))
        .ok();
    let direct = server.client().get("/v4/vpcs/1");
    let passed = proxied.get("/v4beta/vpcs/1");
    assert_eq!(passed.body, direct.body);
    assert_eq!(passed.header("etag"), direct.header("etag"));
    assert_eq!(passed.header("content-type"), direct.header("content-type"));
    assert_eq!(created["id"], 1);
    let mut head = proxied.head("HEAD", "/vpcs", "accept-encoding: gzip\r\n");
    let reply = proxied.try_send_head("HEAD", &head).expect("the server responds");
    assert_eq!((reply.status, reply.body.len()), (200, 0));
    head = proxied.head(
        "GET",
        "/vpcs?page=1&page_size=100",
        "x-filter: {\"label\": \"core\"}\r\n",
    );
    let reply = proxied.try_send_head("GET", &head).expect("the server responds");
    assert_eq!(reply.ok()["results"], 1);

    // Each exchange is in the file as soon as it is complete.
    let complete = eventually("the exchanges in the file", || {
        let found = exchanges(&recording.file);
        (found.len() == 4).then_some(found)
    });
    let paths: Vec<_> = complete
        .iter()
        .map(|exchange| exchange["request"]["path"].as_str().expect("a path"))
        .collect();
    assert_eq!(paths, ["/v4/vpcs", "/v4beta/vpcs/1", "/v4/vpcs", "/v4/vpcs"]);
    assert_eq!(complete[3]["request"]["query"], "page=1&page_size=100");
    assert_eq!(
        complete[3]["request"]["headers"]["x-filter"],
        "{\"label\": \"core\"}"
    );
    let stored: Value = serde_json::from_slice(&direct.body).expect("JSON");
    assert_eq!(complete[1]["response"]["body"]["json"], stored);
    let (file, output) = recording.end();
    assert_eq!(exchanges(&file).len(), 4);
    assert!(
        output.stdout.starts_with("recorded 4 exchanges in "),
        "{output:?}"
    );
}

#[test]
fn an_unreachable_service_is_a_502_and_is_recorded() {
    let folder = Folder::new("record-unreachable");
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("an address")
    };
    let recording = Recording::of(&folder, &format!("http://{address}"), &[]);
    let reply = recording.client().get("/v4/vpcs");
    assert_eq!(reply.status, 502);
    let reason = reply.json()["errors"][0]["reason"].to_string();
    assert!(reason.contains("cannot reach the upstream service"), "{reason}");
    let (file, output) = recording.end();
    assert!(output.stdout.starts_with("recorded 1 exchange in "), "{output:?}");
    let exchange = &exchanges(&file)[0];
    assert_eq!(exchange["response"], Value::Null);
    assert!(exchange["error"].to_string().contains("refused"), "{exchange}");
    let output = replay(&folder, &file, &[]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output
            .stdout
            .contains("not comparable: the recorded service did not respond"),
        "{output:?}"
    );
    assert!(
        output.stderr.contains("no response can be compared"),
        "{output:?}"
    );
}

#[test]
fn a_stream_passes_through_while_it_is_open() {
    let folder = Folder::new("record-stream");
    let server = folder.start();
    let recording = Recording::start(&folder, &server);
    let mut stream = recording.client().stream();
    server.client().create_vpc("core");
    eventually("the event", || {
        let event = stream.next().expect("the stream is open");
        event.contains("vpc_create").then_some(())
    });
    drop(stream);
    let recorded = eventually("the end of the stream", || {
        exchanges(&recording.file).into_iter().next()
    });
    assert_eq!(recorded["response"]["body"], "event_stream");
    let (file, _) = recording.end();
    assert!(
        !std::fs::read_to_string(file)
            .expect("a file")
            .contains("vpc_create")
    );
}

#[test]
fn a_service_with_tls_is_recorded() {
    let folder = Folder::new("record-tls");
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate can be created");
    let chain = folder.write("server.pem", &cert.pem());
    let key = folder.write("server.key", &signing_key.serialize_pem());
    let mut serve = folder.serve();
    serve.arg("--tls-cert").arg(&chain).arg("--tls-key").arg(&key);
    let server = Server::start(&mut serve);
    let url = format!("https://localhost:{}", server.address.port());
    let chain = chain.display().to_string();
    let recording = Recording::of(&folder, &url, &["--certificate", &chain]);
    assert_eq!(recording.client().create_vpc("core"), 1);
    recording.end();

    // Without the certificate, the proxy does not trust the server.
    let recording = Recording::of(&folder, &url, &["--force"]);
    assert_eq!(recording.client().get("/v4/vpcs").status, 502);
    recording.end();
}

#[test]
fn invalid_options_are_refused_before_anything_is_written() {
    let folder = Folder::new("record-options");
    let file = folder.write("existing.jsonl", "text\n");
    for (options, expected) in [
        (
            "--upstream http://localhost:1 --listen 0.0.0.0:0 --output new",
            "must be a loopback address",
        ),
        (
            "--upstream ftp://localhost --output new",
            "must begin with https:// or http://",
        ),
        (
            "--upstream http://a:b@localhost --output new",
            "must not have a password",
        ),
        (
            "--upstream http://localhost:1 --listen 127.0.0.1:0 --output existing.jsonl",
            "replace it with --force",
        ),
    ] {
        let output = Process::spawn(&mut folder.garth(&format!("record {options}"))).wait();
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains(expected), "{output:?}");
    }
    assert!(!folder.path("new").exists());
    assert_eq!(std::fs::read_to_string(file).expect("a file"), "text\n");
}

/// A service that accepts one connection.
fn serve_once(handle: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || handle(listener.accept().expect("a connection").0));
    url
}

#[test]
fn a_request_whose_client_hangs_up_is_carried_out_and_recorded() {
    let folder = Folder::new("record-hang-up");
    let url = serve_once(|mut stream| {
        let mut received = Vec::new();
        while !received.ends_with(b"{}") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).expect("the request can be read");
            assert!(length > 0, "the request is complete");
            received.extend(&part[..length]);
        }
        // The client has hung up by then.
        std::thread::sleep(Duration::from_millis(500));
        let body = "{\"id\": 7}";
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
        let response = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        stream
            .write_all(response.as_bytes())
            .expect("the response is sent");
    });
    let recording = Recording::of(&folder, &url, &[]);
    let head = recording
        .client()
        .head("POST", "/v4/vpcs", "content-length: 2\r\n");
    let mut stream = TcpStream::connect(recording.address).expect("the proxy listens");
    stream
        .write_all(format!("{head}{{}}").as_bytes())
        .expect("the request is sent");
    std::thread::sleep(Duration::from_millis(100));
    stream.shutdown(Shutdown::Both).expect("the client hangs up");
    drop(stream);

    let recorded = eventually("the exchange", || exchanges(&recording.file).into_iter().next());

    assert_eq!(recorded["request"]["body"], json!({"json": {}}), "{recorded}");
    assert_eq!(recorded["response"]["status"], 200, "{recorded}");
    assert_eq!(
        recorded["response"]["body"],
        json!({"json": {"id": 7}}),
        "{recorded}"
    );
    assert_eq!(recorded["response"]["incomplete"], Value::Null, "{recorded}");
    recording.end();
}

#[test]
fn a_response_before_the_end_of_the_body_is_passed_on() {
    let folder = Folder::new("record-early-response");
    let url = serve_once(|mut stream| {
        let mut part = [0; 1024];
        let length = stream.read(&mut part).expect("the request can be read");
        assert!(length > 0, "a request");
        let response = "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
        stream
            .write_all(response.as_bytes())
            .expect("the response is sent");
        // Closes the connection with unread bytes, so that the client gets a reset.
        drop(stream);
    });
    let recording = Recording::of(&folder, &url, &[]);
    let body = vec![b'x'; 4 * 1024 * 1024];
    let extra = format!("content-length: {}\r\nexpect: 100-continue\r\n", body.len());
    let head = recording.client().head("POST", "/v4/vpcs", &extra);
    let mut connection = Connection::open(recording.address).expect("the proxy listens");
    connection.send(head).expect("the head is sent");
    let mut reply = connection.head().expect("a response");
    if reply.status == 100 {
        // The proxy can close the connection before it has read the body.
        let _ = connection.send(&body);
        reply = connection.head().expect("a response");
    }
    assert_eq!(reply.status, 413, "{reply:?}");
    let recorded = eventually("the exchange", || exchanges(&recording.file).into_iter().next());
    assert_eq!(recorded["response"]["status"], 413, "{recorded}");
    recording.end();
}
