//! The clock: tokens, streams, jobs and rate limits follow it.

use garth::web::Options;
use hyper::Method;
use serde_json::{Value, json};

use super::{assert_ends, open_stream};
use crate::harness::TestApp;

async fn advance(app: &TestApp, seconds: i64) -> Value {
    app.controls(Method::POST, "/clock/advance", json!({"seconds": seconds}))
        .await
}

async fn freeze(app: &TestApp) {
    let noon = json!({"now": "2024-06-01T12:00:00", "frozen": true});
    let clock = app.controls(Method::PUT, "/clock", noon.clone()).await;
    assert_eq!(clock, noon);
}

#[tokio::test]
async fn an_advance_of_a_frozen_clock_expires_a_token_and_its_stream() {
    let app = TestApp::with_test_control().await;
    freeze(&app).await;
    let ada = app.user("ada").expiring_in(60).await;
    let stream = open_stream(&ada).await;

    advance(&app, 59).await;
    assert_eq!(ada.get("/vpcs").await.status, 200);
    let clock = advance(&app, 1).await;

    assert_eq!(clock, json!({"now": "2024-06-01T12:01:00", "frozen": true}));
    assert_eq!(ada.get("/vpcs").await.status, 401);
    assert_ends(stream).await;
}

/// An advance computes its end first, then waits for jobs. Another advance during this time must not be lost.
#[tokio::test]
async fn an_advance_during_another_one_is_added_to_it() {
    let app = TestApp::with_test_control().await;
    freeze(&app).await;
    app.controls(Method::PUT, "/settings", json!({"compute.settle_ms": 60_000}))
        .await;
    let admin = app.admin();
    // Each instance has a job, so that the first advance has many steps.
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    for _ in 0..10 {
        assert_eq!(admin.post("/linode/instances", body.clone()).await.status, 200);
        advance(&app, 1).await;
    }
    let now = async || app.controls(Method::GET, "/clock", Value::Null).await["now"].clone();
    let begin = now().await;
    assert_eq!(begin, "2024-06-01T12:00:10");
    let during = async {
        while now().await == begin {}
        advance(&app, 60).await;
    };
    tokio::join!(advance(&app, 600), during);
    assert_eq!(now().await, "2024-06-01T12:11:10");
}

#[tokio::test]
async fn null_returns_to_the_running_clock_of_the_system() {
    let app = TestApp::with_test_control().await;
    let started = app.controls(Method::GET, "/clock", Value::Null).await["now"].clone();
    freeze(&app).await;
    let clock = app.controls(Method::PUT, "/clock", json!({"now": null})).await;
    assert_eq!(clock["frozen"], false);
    assert!(clock["now"].as_str() >= started.as_str(), "{clock} {started}");
    let frozen = app
        .controls(Method::PUT, "/clock", json!({"now": null, "frozen": true}))
        .await;
    assert_eq!(frozen["frozen"], true);
    // A missing field does not change the time.
    freeze(&app).await;
    let clock = app.controls(Method::PUT, "/clock", json!({"frozen": true})).await;
    assert_eq!(clock["now"], "2024-06-01T12:00:00");
}

#[tokio::test]
async fn an_advance_returns_after_the_jobs_that_became_due_have_run() {
    let app = TestApp::with_test_control().await;
    freeze(&app).await;
    app.controls(Method::PUT, "/settings", json!({"compute.settle_ms": 600_000}))
        .await;
    let admin = app.admin();
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(admin.post("/linode/instances", body).await.status, 200);
    let status = async || {
        let instance = admin.get("/linode/instances/1").await.json();
        instance["status"].as_str().expect("a status").to_owned()
    };
    let before = status().await;

    advance(&app, 1200).await;

    let after = status().await;
    assert_ne!(before, after);
    assert!(matches!(after.as_str(), "running" | "offline"), "{after}");
}

#[tokio::test]
async fn an_advance_runs_the_jobs_that_follow_from_other_jobs() {
    let app = TestApp::with_test_control().await;
    freeze(&app).await;
    app.controls(Method::PUT, "/settings", json!({"compute.settle_ms": 60_000}))
        .await;
    let admin = app.admin();
    let body = json!({
        "type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "Correct-Horse 7 Battery",
    });
    assert_eq!(admin.post("/linode/instances", body).await.status, 200);

    let clock = advance(&app, 30 * 86_400).await;

    assert_eq!(clock["now"], "2024-07-01T12:00:00");
    let instance = admin.get("/linode/instances/1").await.json();
    assert_eq!(instance["status"], "running");
    // Each step has its own time.
    assert!(
        instance["updated"]
            .as_str()
            .is_some_and(|time| time.starts_with("2024-06-01T12:0")),
        "{instance}"
    );
}

#[tokio::test]
async fn a_time_with_an_offset_is_converted() {
    let app = TestApp::with_test_control().await;
    for (sent, expected) in [
        ("2024-06-01T12:00:00+02:00", "2024-06-01T10:00:00"),
        ("2024-06-01T12:00:00-00:30", "2024-06-01T12:30:00"),
        ("2024-06-01T12:00:00Z", "2024-06-01T12:00:00"),
    ] {
        let set = json!({"now": sent, "frozen": true});
        let clock = app.controls(Method::PUT, "/clock", set).await;
        assert_eq!(clock["now"], expected, "{sent}");
    }
}

#[tokio::test]
async fn an_advance_ends_a_rate_limit() {
    let options = Options {
        rate_limits: true,
        ..Options::default()
    };
    let app = TestApp::controlled(options, None).await;
    freeze(&app).await;
    let admin = app.admin();
    let ticket = json!({"summary": "Question", "description": "Please look into it."});
    for expected in [200, 200, 429] {
        assert_eq!(
            admin.post("/support/tickets", ticket.clone()).await.status,
            expected
        );
    }
    advance(&app, 60).await;
    assert_eq!(admin.post("/support/tickets", ticket).await.status, 200);
}

#[tokio::test]
async fn a_clock_that_is_set_runs_on_until_it_is_frozen() {
    let app = TestApp::with_test_control().await;
    let set = json!({"now": "2030-01-01T00:00:00"});
    let clock = app.controls(Method::PUT, "/clock", set).await;
    assert_eq!(clock["frozen"], false);
    assert!(
        clock["now"]
            .as_str()
            .is_some_and(|now| now.starts_with("2030-01-01T00:0")),
        "{clock}"
    );
    app.admin().create_vpc("core", &[]).await;
    let vpc = app.admin().get("/vpcs/1").await.json();
    assert!(
        vpc["created"]
            .as_str()
            .is_some_and(|created| created.starts_with("2030-")),
        "{vpc}"
    );
}

#[tokio::test]
async fn invalid_times_are_refused() {
    let app = TestApp::with_test_control().await;
    for (method, path, body) in [
        (Method::PUT, "/clock", json!({"now": "soon"})),
        (Method::PUT, "/clock", json!({"frozen": "yes"})),
        (Method::POST, "/clock/advance", json!({"seconds": -1})),
        (Method::POST, "/clock/advance", json!({"seconds": i64::MAX})),
        (Method::POST, "/clock/advance", json!({})),
        (Method::PUT, "/clock", json!({"now": "1969-12-31T23:59:59"})),
        (Method::PUT, "/clock", json!({"now": "9999-01-01T00:00:00"})),
        (Method::PUT, "/clock", json!({"frozn": true})),
        (Method::PUT, "/clock", json!([null, true])),
        (
            Method::POST,
            "/clock/advance",
            json!({"seconds": 1, "minutes": 1}),
        ),
        (Method::POST, "/clock/advance", json!([1])),
    ] {
        let (status, reply) = app.control(method, path, body.clone()).await;
        assert_eq!(status, 400, "{body}: {reply}");
        assert!(reply["errors"][0]["code"].is_string(), "{reply}");
        let reason = reply["errors"][0]["reason"].as_str().expect("a reason");
        assert!(!reason.contains("struct") && !reason.contains("i64"), "{reason}");
    }
}
