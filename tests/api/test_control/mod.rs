//! Test control: reset, snapshots, the clock, faults, chaos, the record of requests, tenants and settings.

mod chaos;
mod clock;
mod faults;
mod locality;
mod settings;
mod snapshots;

use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use crate::account::stream::Stream;
use crate::harness::{TestApp, User};

/// Creates a tenant; returns its token.
async fn tenant_token(app: &TestApp) -> String {
    let tenant = app.controls(Method::POST, "/accounts", Value::Null).await;
    tenant["token"].as_str().expect("a token").to_owned()
}

async fn open_stream(user: &User<'_>) -> Stream {
    let stream = user.call(Method::GET, "/account/events/stream").send().await;
    Stream::from_response(stream)
}

/// Reads a stream to its end, which must be earlier than the next heartbeats.
async fn assert_ends(mut stream: Stream) {
    let read = async { while stream.next().await.is_some() {} };
    let ended = tokio::time::timeout(Duration::from_secs(10), read).await;
    assert!(ended.is_ok(), "the stream does not end");
}

async fn snapshot(app: &TestApp, name: &str) {
    app.controls(Method::POST, "/snapshots", json!({"name": name}))
        .await;
}

async fn restore(app: &TestApp, name: &str) {
    let path = format!("/snapshots/{name}/restore");
    app.controls(Method::POST, &path, Value::Null).await;
}

/// Delays the next creation of a VPC for longer than any test waits.
async fn delay_new_vpcs(app: &TestApp) {
    let rule = json!({"match": {"operation": "createVpc"}, "times": 1, "action": {"delay_ms": 60_000}});
    app.controls(Method::PUT, "/faults", json!([rule])).await;
}

/// Waits until the only rule has been applied as often as it can be, and its request has begun.
async fn wait_until_applied(app: &TestApp) {
    let pause = || tokio::time::sleep(Duration::from_millis(100));
    while app.controls(Method::GET, "/faults", Value::Null).await["data"][0]["times"] != 0 {
        pause().await;
    }
    pause().await;
}

/// The labels of all VPCs of the caller.
async fn labels(user: &User<'_>) -> Vec<String> {
    let vpcs = user.get("/vpcs").await.data();
    vpcs.iter()
        .map(|vpc| vpc["label"].as_str().expect("a label").to_owned())
        .collect()
}
