//! The event stream delivers events immediately and misses none.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::{TestApp, User};

/// Maximum time to wait for a message. It is long, because the test machine may be slow.
pub const STREAM_TIMEOUT: Duration = Duration::from_secs(20);

/// A stream of server-sent events.
pub struct Stream {
    body: Incoming,
    text: String,
}

impl Stream {
    async fn open(user: &User<'_>, path: &str, last: Option<&str>) -> Stream {
        let mut call = user.call(Method::GET, path);
        if let Some(last) = last {
            call = call.header("last-event-id", last);
        }
        Self::from_response(call.send().await)
    }

    pub fn from_response(response: Response<Incoming>) -> Stream {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// The next message as lines; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Vec<String>> {
        loop {
            if let Some((message, rest)) = self.text.split_once("\n\n") {
                let message = message.lines().map(str::to_owned).collect();
                self.text = rest.to_owned();
                return Some(message);
            }
            let frame = timeout(STREAM_TIMEOUT, self.body.frame())
                .await
                .expect("a message in time")?;
            let data = frame.expect("the stream stays open").into_data().expect("data");
            self.text += std::str::from_utf8(&data).expect("text");
        }
    }

    /// The next event as `id action`, skipping heartbeats.
    async fn event(&mut self) -> Option<String> {
        loop {
            let message = self.next().await?;
            let part = |name: &str| message.iter().find_map(|line| line.strip_prefix(name));
            if let (Some(id), Some(data)) = (part("id: "), part("data: ")) {
                let data: Value = serde_json::from_str(data).expect("JSON");
                assert_eq!(data["id"].to_string(), id);
                return Some(format!("{id} {}", data["action"].as_str().expect("an action")));
            }
        }
    }
}

#[tokio::test]
async fn a_commit_notifies_only_the_streams_of_its_account() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let grace = app.user("grace").of(app.another_account().await).await;
    ada.create_vpc("before", &[]).await;
    let mut stream = Stream::open(&ada, "/account/events/stream", None).await;

    grace.create_vpc("theirs", &[]).await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    assert_eq!(stream.event().await.as_deref(), Some("3 vpc_create"));
    assert_eq!(stream.event().await.as_deref(), Some("4 subnet_create"));
    ada.delete("/vpcs/1").await;
    assert_eq!(stream.event().await.as_deref(), Some("5 vpc_delete"));
}

#[tokio::test]
async fn a_client_that_reconnects_gets_the_missed_events() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..250 {
        ada.create_vpc(&format!("vpc-{number}"), &[]).await;
    }

    for (path, last) in [
        ("/account/events/stream", Some("1")),
        ("/account/events/stream?after=1", None),
        ("/account/events/stream?after=200", Some("1")),
    ] {
        let mut stream = Stream::open(&ada, path, last).await;
        for id in 2..=250 {
            assert_eq!(stream.event().await, Some(format!("{id} vpc_create")), "{path}");
        }
    }
    let invalid = ada
        .call(Method::GET, "/account/events/stream")
        .header("last-event-id", "x")
        .await;
    assert_eq!(invalid.errors(), ["Last-Event-ID after_invalid"]);
    let both = ada
        .call(Method::GET, "/account/events/stream?after=9223372036854775808")
        .header("last-event-id", "0");
    assert_eq!(
        both.send().await.status(),
        400,
        "an invalid after is refused even with a valid header"
    );
}

#[tokio::test]
async fn an_idle_stream_sends_heartbeats() {
    let app = TestApp::with(|_, options| options.heartbeat = Duration::from_millis(50)).await;
    let ada = app.user("ada").await;
    let mut stream = Stream::open(&ada, "/account/events/stream", None).await;

    assert_eq!(stream.next().await.unwrap(), [": still here"]);
    assert_eq!(stream.next().await.unwrap(), [": still here"]);
    ada.create_vpc("core", &[]).await;
    assert_eq!(stream.event().await.as_deref(), Some("1 vpc_create"));
}

#[tokio::test]
async fn commits_do_not_delay_heartbeats() {
    let app = TestApp::with(|_, options| options.heartbeat = Duration::from_millis(300)).await;
    let ada = app.user("ada").await;
    let mut stream = Stream::open(&ada, "/account/events/stream", None).await;

    for at in 0.. {
        ada.create_vpc(&format!("vpc-{at}"), &[]).await;
        if stream.next().await.unwrap() == [": still here"] {
            break;
        }
        assert!(at < 500, "no heartbeat among 500 events");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_revoked_token_ends_its_stream_without_further_events() {
    let app = TestApp::new().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    let mut stream = Stream::open(&bob, "/account/events/stream", None).await;

    app.revoke(bob.token_id).await;
    ada.create_vpc("core", &[]).await;

    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn the_streams_of_a_suspended_account_end() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let mut stream = Stream::open(&ada, "/account/events/stream", None).await;
    let suspended = sam.post("/provider/accounts/1/suspend", json!({})).await;
    assert_eq!(suspended.status, 200, "{suspended}");
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn the_stream_and_the_list_return_the_same_events() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut stream = Stream::open(&ada, "/account/events/stream?after=0", None).await;

    let message = stream.next().await.unwrap();
    let data = message
        .iter()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data, ada.get("/account/events/1").await.json());
    assert_eq!(data["secondary_entity"], json!(null));
}
