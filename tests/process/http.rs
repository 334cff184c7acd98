//! HTTP as it goes over the wire: pipelines, heads without bodies, compression, HTTP/2.

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, Version};
use hyper_util::client::legacy::Client as Http2;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::connection::{Connection, Reply};
use crate::harness::{Folder, Server, TOKEN};

/// What the server says to a request with some more headers.
fn get(server: &Server, path: &str, extra: &str) -> Reply {
    let head = server.client().head("GET", path, extra);
    Connection::open(server.address)
        .and_then(|mut connection| {
            connection.send(head)?;
            connection.reply_to("GET")
        })
        .expect("it is answered")
}

#[test]
fn requests_sent_in_one_breath_are_answered_in_order() {
    let folder = Folder::new("pipeline");
    let server = folder.start();
    let client = server.client();
    let body = r#"{"label": "core", "region": "us-east"}"#;
    let create = client.head("POST", "/v4/vpcs", &format!("content-length: {}\r\n", body.len()));
    let list = client.head("GET", "/v4/vpcs", "");

    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection
        .send(format!("{create}{body}{list}{list}"))
        .expect("it can be sent");
    let mut next = |method: &str| connection.reply_to(method).expect("it is answered").ok();
    assert_eq!(next("POST")["label"], "core");
    assert_eq!(next("GET")["results"], 1);
    assert_eq!(next("GET")["data"][0]["label"], "core");
}

#[test]
fn head_has_the_length_of_the_body_and_no_body() {
    let folder = Folder::new("head");
    let server = folder.start();
    server.client().creates_vpc("core");
    for path in ["/v4/vpcs", "/v4/vpcs/1", "/v4/regions", "/v4/nowhere"] {
        let whole = get(&server, path, "");
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        for _ in 0..2 {
            connection
                .send(server.client().head("HEAD", path, ""))
                .expect("it can be sent");
            // A body would be taken for the beginning of the second answer.
            let head = connection.reply_to("HEAD").expect("it is answered");
            assert_eq!(head.status, whole.status);
            let length = whole.body.len().to_string();
            assert_eq!(head.header("content-length"), Some(length.as_str()), "{path}");
            assert_eq!(head.header("etag"), whole.header("etag"), "{path}");
        }
    }
}

#[test]
fn a_large_answer_is_compressed_for_those_who_ask() {
    let folder = Folder::new("compression");
    let server = folder.start();
    let plain = get(&server, "/v4/regions", "");
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.ok()["results"], 25);

    let zipped = get(&server, "/v4/regions", "accept-encoding: gzip\r\n");
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    // A gzip file begins with its mark and ends with the size of what is in it.
    let size = (plain.body.len() as u32).to_le_bytes();
    assert!(zipped.body.starts_with(b"\x1f\x8b") && zipped.body.ends_with(&size));
    assert!(zipped.body.len() < plain.body.len() / 3);

    let packed = get(&server, "/v4/regions", "accept-encoding: gzip, zstd\r\n");
    assert_eq!(packed.header("content-encoding"), Some("zstd"));
    assert!(packed.body.starts_with(b"\x28\xb5\x2f\xfd"));
    for reply in [&zipped, &packed] {
        let vary = reply.headers.iter().filter(|(name, _)| name == "vary");
        let vary: Vec<_> = vary.map(|(_, value)| value.to_ascii_lowercase()).collect();
        assert!(vary.join(", ").contains("accept-encoding"), "{vary:?}");
    }

    let small = get(&server, "/v4/regions/us-east", "accept-encoding: gzip, zstd\r\n");
    assert_eq!(small.header("content-encoding"), None);
}

#[tokio::test]
async fn http2_is_spoken_to_whoever_begins_with_it() {
    let folder = Folder::new("http2");
    let server = folder.start();
    let client = Http2::builder(TokioExecutor::new()).http2_only(true).build_http();
    let send = |method: &str, path: &str, headers: usize, body: &Value| {
        let url = format!("http://{}{path}", server.address);
        let mut request = Request::builder().method(method).uri(url);
        request = request.header("authorization", format!("Bearer {TOKEN}"));
        for number in 0..headers {
            request = request.header(format!("x-{number}"), "1");
        }
        let body = Full::new(bytes::Bytes::from(body.to_string()));
        client.request(request.body(body).expect("the request is well-formed"))
    };

    let new = json!({"label": "core", "region": "us-east"});
    let (status, made) = read(send("POST", "/v4/vpcs", 0, &new).await).await;
    assert_eq!((status, &made["label"]), (200, &json!("core")));
    let lists = (0..50).map(|_| send("GET", "/v4/vpcs", 0, &json!({})));
    for list in futures_util::future::join_all(lists).await {
        assert_eq!(read(list).await.1["results"], 1);
    }
    let (status, refused) = read(send("GET", "/v4/vpcs", 110, &json!({})).await).await;
    assert_eq!(
        (status, &refused["errors"][0]["code"]),
        (431, &json!("headers_too_large"))
    );
}

type Answered = Result<Response<hyper::body::Incoming>, hyper_util::client::legacy::Error>;

async fn read(answered: Answered) -> (u16, Value) {
    let response = answered.expect("it is answered");
    assert_eq!(response.version(), Version::HTTP_2);
    let status = response.status().as_u16();
    let body = response
        .into_body()
        .collect()
        .await
        .expect("the body comes whole");
    (
        status,
        serde_json::from_slice(&body.to_bytes()).expect("it is JSON"),
    )
}
