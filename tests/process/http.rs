//! HTTP: pipelining, HEAD, compression, HTTP/2.

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, Version};
use hyper_util::client::legacy::Client as Http2;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::connection::{Connection, Reply};
use crate::harness::{Folder, Server, TOKEN};

/// Sends a request with additional headers; returns the response.
fn get(server: &Server, path: &str, extra: &str) -> Reply {
    let head = server.client().head("GET", path, extra);
    Connection::open(server.address)
        .and_then(|mut connection| {
            connection.send(head)?;
            connection.reply_to("GET")
        })
        .expect("the server responds")
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let folder = Folder::new("pipeline");
    let server = folder.start();
    let client = server.client();
    let body = r#"{"label": "core", "region": "us-east"}"#;
    let create = client.head("POST", "/v4/vpcs", &format!("content-length: {}\r\n", body.len()));
    let list = client.head("GET", "/v4/vpcs", "");

    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection
        .send(format!("{create}{body}{list}{list}"))
        .expect("the request can be sent");
    let mut next = |method: &str| connection.reply_to(method).expect("the server responds").ok();
    assert_eq!(next("POST")["label"], "core");
    assert_eq!(next("GET")["results"], 1);
    assert_eq!(next("GET")["data"][0]["label"], "core");
}

#[test]
fn head_has_the_length_of_the_body_and_no_body() {
    let folder = Folder::new("head");
    let server = folder.start();
    server.client().create_vpc("core");
    for path in ["/v4/vpcs", "/v4/vpcs/1", "/v4/regions", "/v4/nowhere"] {
        let full = get(&server, path, "");
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        for _ in 0..2 {
            connection
                .send(server.client().head("HEAD", path, ""))
                .expect("the request can be sent");
            // A body would be read as the start of the second response.
            let head = connection.reply_to("HEAD").expect("the server responds");
            assert_eq!(head.status, full.status);
            let length = full.body.len().to_string();
            assert_eq!(head.header("content-length"), Some(length.as_str()), "{path}");
            assert_eq!(head.header("etag"), full.header("etag"), "{path}");
        }
    }
}

#[test]
fn large_response_is_compressed_on_request() {
    let folder = Folder::new("compression");
    let server = folder.start();
    let plain = get(&server, "/v4/regions", "");
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.ok()["results"], 34);

    let gzip = get(&server, "/v4/regions", "accept-encoding: gzip\r\n");
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    // A gzip file starts with a signature and ends with the uncompressed size.
    let size = (plain.body.len() as u32).to_le_bytes();
    assert!(gzip.body.starts_with(b"\x1f\x8b") && gzip.body.ends_with(&size));
    assert!(gzip.body.len() < plain.body.len() / 3);

    let zstd = get(&server, "/v4/regions", "accept-encoding: gzip, zstd\r\n");
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert!(zstd.body.starts_with(b"\x28\xb5\x2f\xfd"));
    for reply in [&gzip, &zstd] {
        let vary = reply.headers.iter().filter(|(name, _)| name == "vary");
        let vary: Vec<_> = vary.map(|(_, value)| value.to_ascii_lowercase()).collect();
        assert!(vary.join(", ").contains("accept-encoding"), "{vary:?}");
    }

    let small = get(&server, "/v4/regions/us-east", "accept-encoding: gzip, zstd\r\n");
    assert_eq!(small.header("content-encoding"), None);
}

#[tokio::test]
async fn http2_works_with_prior_knowledge() {
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
    let (status, created) = read(send("POST", "/v4/vpcs", 0, &new).await).await;
    assert_eq!((status, &created["label"]), (200, &json!("core")));
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

type HttpResult = Result<Response<hyper::body::Incoming>, hyper_util::client::legacy::Error>;

async fn read(result: HttpResult) -> (u16, Value) {
    let response = result.expect("the server responds");
    assert_eq!(response.version(), Version::HTTP_2);
    let status = response.status().as_u16();
    let body = response
        .into_body()
        .collect()
        .await
        .expect("the body is complete");
    (
        status,
        serde_json::from_slice(&body.to_bytes()).expect("the body is JSON"),
    )
}
