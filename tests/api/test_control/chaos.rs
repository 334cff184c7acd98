//! Chaos: the seed determines the faults.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use garth::model::id::AccountId;
use garth::store::vpcs;
use garth::test_control::{Chaos, ChaosLevel};
use garth::web::Options;
use hyper::Method;
use serde_json::{Value, json};

use crate::account::stream::Stream;
use crate::harness::TestApp;

async fn chaotic_app(seed: u64) -> TestApp {
    let chaos = Chaos::new(ChaosLevel::Heavy, seed).with_max_delay(Duration::from_millis(10));
    TestApp::controlled(Options::default(), Some(chaos)).await
}

/// The outcome of each of some requests: the status, or `dropped`.
async fn outcomes(app: &TestApp) -> Vec<String> {
    let admin = app.admin();
    let mut outcomes = Vec::new();
    for number in 0..200 {
        let body = json!({"label": format!("vpc-{number}"), "region": "us-east"});
        let sent = match number % 2 {
            0 => admin.call(Method::POST, "/vpcs").json(&body).try_send().await,
            _ => admin.call(Method::GET, "/vpcs").try_send().await,
        };
        let status = sent.map(|response| {
            let has_wait = response.headers().contains_key("retry-after");
            let status = response.status().as_u16();
            assert_eq!(has_wait, matches!(status, 429 | 503), "{status}");
            status.to_string()
        });
        outcomes.push(status.unwrap_or("dropped".to_owned()));
    }
    outcomes
}

#[tokio::test]
async fn the_same_seed_and_requests_give_the_same_faults() {
    let app = chaotic_app(11).await;
    let first = outcomes(&app).await;
    let kinds: BTreeSet<&str> = first.iter().map(String::as_str).collect();
    assert_eq!(
        kinds,
        BTreeSet::from(["200", "429", "503", "dropped"]),
        "{first:?}"
    );

    app.controls(Method::POST, "/reset", Value::Null).await;
    assert_eq!(outcomes(&app).await, first, "a reset starts the sequence again");
    assert_eq!(outcomes(&chaotic_app(11).await).await, first);
    assert_ne!(outcomes(&chaotic_app(12).await).await, first);
}

#[tokio::test]
async fn drops_before_and_after_the_commit_both_occur() {
    let app = chaotic_app(11).await;
    outcomes(&app).await;
    let recorded = app.controls(Method::GET, "/requests", Value::Null).await;
    let recorded = recorded["data"].as_array().expect("a list").clone();
    let dropped = recorded
        .iter()
        .filter(|request| request["operation"] == "createVpc" && request["status"].is_null())
        .count();
    let succeeded = recorded
        .iter()
        .filter(|request| request["operation"] == "createVpc" && request["status"] == 200)
        .count();
    let stored = app.store.read(|tx| vpcs::counts(tx, AccountId(1))).await;
    let stored: i64 = stored.expect("counts").iter().map(|(_, count)| count).sum();
    let committed_drops = stored as usize - succeeded;
    assert!(
        committed_drops > 0 && committed_drops < dropped,
        "{committed_drops} of {dropped}"
    );
}

#[tokio::test]
async fn events_are_delivered_late() {
    let chaos = Chaos::new(ChaosLevel::Heavy, 3);
    let delay = chaos.event_delay(0);
    assert!(
        delay > Duration::from_millis(100),
        "choose another seed: {delay:?}"
    );
    let app = TestApp::controlled(Options::default(), Some(chaos)).await;
    let admin = app.admin();
    let stream = loop {
        let sent = admin.call(Method::GET, "/account/events/stream").try_send().await;
        if let Some(response) = sent.ok().filter(|response| response.status() == 200) {
            break response;
        }
    };
    let mut stream = Stream::from_response(stream);
    let started = Instant::now();
    for number in 0..20 {
        let body = json!({"label": format!("vpc-{number}"), "region": "us-east"});
        let sent = app
            .admin()
            .call(Method::POST, "/vpcs")
            .json(&body)
            .try_send()
            .await;
        if sent.is_ok_and(|response| response.status() == 200) {
            break;
        }
    }
    let message = stream.next().await.expect("a message");
    assert!(
        message.iter().any(|line| line.contains("vpc_create")),
        "{message:?}"
    );
    assert!(started.elapsed() >= delay);
}
