//! Faults by rule, and the record of requests.

use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::Method;
use serde_json::{Value, json};

use super::{delay_new_vpcs, labels, tenant_token, wait_until_applied};
use crate::harness::{TestApp, User};

async fn set_faults(app: &TestApp, faults: Value) -> Value {
    app.controls(Method::PUT, "/faults", faults).await
}

/// The status of a request; `None` if the connection was closed.
async fn status(user: &User<'_>, method: Method, path: &str) -> Option<u16> {
    let sent = user.call(method, path).try_send().await;
    sent.ok().map(|response| response.status().as_u16())
}

#[tokio::test]
async fn a_rule_applies_to_the_requests_that_it_matches_until_its_number_is_reached() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let other = tenant_token(&app).await;
    let other = app.with_token(&other);
    admin.create_vpc("core", &[]).await;
    for (condition, matching, not_matching) in [
        (json!({}), "/regions", None),
        (json!({"path": "/vpcs"}), "/vpcs", Some("/vpcs/1")),
        (json!({"path": "/vpcs/*"}), "/v4beta/vpcs/1/", Some("/vpcs")),
        (
            json!({"path": "/linode/instances"}),
            "/compute/instances",
            Some("/linode/types"),
        ),
        (
            json!({"operation": "getVpcsIps"}),
            "/networking/vpcs/ips",
            Some("/vpcs/1"),
        ),
        (json!({"method": "get", "account": 1}), "/vpcs", None),
    ] {
        let rule = json!({"match": condition, "times": 2, "action": {"status": 503}});
        let reply = set_faults(&app, json!([rule])).await;
        assert_eq!(reply["data"][0]["times"], 2);
        if let Some(path) = not_matching {
            assert_eq!(
                status(&admin, Method::GET, path).await,
                Some(200),
                "{condition} {path}"
            );
        }
        for expected in [503, 503, 200] {
            assert_eq!(
                status(&admin, Method::GET, matching).await,
                Some(expected),
                "{condition}"
            );
        }
    }
    set_faults(
        &app,
        json!([{"match": {"account": 1}, "action": {"status": 500}}]),
    )
    .await;
    assert_eq!(status(&other, Method::GET, "/vpcs").await, Some(200));
    assert_eq!(status(&admin, Method::GET, "/vpcs").await, Some(500));
    app.controls(Method::DELETE, "/faults", Value::Null).await;
    assert_eq!(status(&admin, Method::GET, "/vpcs").await, Some(200));
}

#[tokio::test]
async fn an_injected_status_looks_like_an_error_of_the_server() {
    let app = TestApp::with_test_control().await;
    let faults = json!([
        {"times": 1, "action": {"status": 429}},
        {"times": 1, "action": {"status": 503}},
        {"times": 1, "action": {"status": 404}},
        {"times": 1, "action": {"status": 500}},
    ]);
    set_faults(&app, faults).await;
    for (status, code, wait) in [
        (429, "rate_limited", "1"),
        (503, "overloaded", "1"),
        (404, "fault_injected", ""),
        (500, "fault_injected", ""),
    ] {
        let reply = app.admin().call(Method::GET, "/vpcs").send().await;
        let header = reply
            .headers()
            .get("retry-after")
            .map_or("", |wait| wait.to_str().unwrap());
        assert_eq!((reply.status().as_u16(), header), (status, wait));
        assert!(reply.headers().contains_key("x-request-id"));
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["errors"][0]["code"], code);
    }
}

#[tokio::test]
async fn a_fault_before_the_work_has_no_effect_and_one_after_it_commits() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let (core, both) = (vec!["core"], vec!["core", "edge"]);
    for (action, label, expected) in [
        (json!({"drop": "before"}), "core", vec![]),
        (json!({"status": 503}), "core", vec![]),
        (json!({"status": 400, "delay_ms": 1}), "core", vec![]),
        (json!({"drop": "after"}), "core", core),
        (json!({"truncate": 0}), "edge", both),
    ] {
        let rule = json!({"match": {"operation": "createVpc"}, "times": 1, "action": action});
        set_faults(&app, json!([rule])).await;
        let body = json!({"label": label, "region": "us-east"});
        let sent = admin.call(Method::POST, "/vpcs").json(&body).try_send().await;
        let is_dropped = action.get("drop").is_some();
        assert_eq!(
            sent.is_err(),
            is_dropped,
            "{action}: only a drop closes the connection without a response"
        );
        assert_eq!(labels(&admin).await, expected, "{action}");
    }
}

#[tokio::test]
async fn a_truncated_body_ends_after_its_first_bytes() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    admin.create_vpc("core", &[]).await;
    for bytes in [0, 1, 20] {
        set_faults(&app, json!([{"times": 1, "action": {"truncate": bytes}}])).await;
        let mut body = admin.call(Method::GET, "/vpcs/1").send().await.into_body();
        let mut received = Vec::new();
        let ended = loop {
            match body.frame().await {
                Some(Ok(frame)) => received.extend(frame.into_data().expect("data")),
                ended => break ended,
            }
        };
        assert_eq!(received.len(), bytes);
        assert!(
            ended.is_some_and(|frame| frame.is_err()),
            "{bytes}: the body is incomplete"
        );
    }
    assert_eq!(admin.get("/vpcs/1").await.status, 200);
}

#[tokio::test]
async fn a_delay_precedes_the_work_and_can_be_combined_with_a_status() {
    let app = TestApp::with_test_control().await;
    for (action, expected) in [
        (json!({"delay_ms": 300}), 200),
        (json!({"delay_ms": 300, "status": 502}), 502),
    ] {
        set_faults(&app, json!([{"times": 1, "action": action}])).await;
        let started = Instant::now();
        assert_eq!(status(&app.admin(), Method::GET, "/vpcs").await, Some(expected));
        assert!(started.elapsed() >= Duration::from_millis(300));
    }
}

#[tokio::test]
async fn a_delayed_request_has_no_effect_before_the_end_of_its_delay() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    delay_new_vpcs(&app).await;
    let body = json!({"label": "core", "region": "us-east"});
    let observe = async {
        wait_until_applied(&app).await;
        let before = labels(&admin).await;
        app.controls(Method::DELETE, "/faults", Value::Null).await;
        before
    };
    let (created, before) = tokio::join!(async { admin.post("/vpcs", body).await.status }, observe);
    assert_eq!((created.as_u16(), before.len()), (200, 0));
    assert_eq!(labels(&admin).await, ["core"]);
}

#[tokio::test]
async fn a_probability_chooses_the_same_requests_each_time() {
    let app = TestApp::with_test_control().await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        set_faults(&app, json!([{"probability": 0.5, "action": {"status": 503}}])).await;
        let mut statuses = Vec::new();
        for _ in 0..40 {
            statuses.push(
                status(&app.admin(), Method::GET, "/vpcs")
                    .await
                    .expect("a response"),
            );
        }
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
    let faults = runs[0].iter().filter(|status| **status == 503).count();
    assert!((8..=32).contains(&faults), "{faults}");
}

#[tokio::test]
async fn invalid_rules_are_refused_and_change_nothing() {
    let app = TestApp::with_test_control().await;
    let valid = json!({"match": {"path": "/vpcs"}, "action": {"status": 503}});
    set_faults(&app, json!([valid])).await;
    for (rule, field) in [
        (json!({"action": {}}), "[1].action"),
        (json!({"action": {"status": 200}}), "[1].action.status"),
        (json!({"action": {"status": 503, "drop": "after"}}), "[1].action"),
        (json!({"action": {"delay_ms": 600_001}}), "[1].action.delay_ms"),
        (
            json!({"action": {"status": 503}, "probability": 1.5}),
            "[1].probability",
        ),
        (
            json!({"action": {"status": 503}, "match": {"path": "/v4/vpcs"}}),
            "[1].match.path",
        ),
        (
            json!({"action": {"status": 503}, "match": {"operation": "x"}}),
            "[1].match.operation",
        ),
        (json!({"action": {"status": 70_000}}), "[1].action.status"),
        (json!({"action": {"delay_ms": -1}}), "[1].action.delay_ms"),
        (json!({"action": {"truncate": -1}}), "[1].action.truncate"),
        (json!({"action": {"status": 503}, "times": -1}), "[1].times"),
        (
            json!({"action": {"status": 503}, "match": {"method": "FETCH"}}),
            "[1].match.method",
        ),
        (
            json!({"action": {"status": 503}, "match": {"path": "/vp*"}}),
            "[1].match.path",
        ),
        (
            json!({"action": {"status": 503}, "match": {"path": "/vpcs?page=1"}}),
            "[1].match.path",
        ),
        (
            json!({"action": {"status": 503}, "match": {"path": "/Vpcs"}}),
            "[1].match.path",
        ),
        (json!({"action": {"status": 1e20}}), "[1].action.status"),
        (json!({"action": {"delay_ms": u64::MAX}}), "[1].action.delay_ms"),
        (json!({"action": {"status": 503}, "times": -1e19}), "[1].times"),
        (
            json!({"action": {"status": 503}, "match": {"account": 1e300}}),
            "[1].match.account",
        ),
        (json!({"action": [503, null, null, null]}), ""),
        (json!({"action": {"status": 503}, "match": ["GET"]}), ""),
        (json!([{}, null, null, {"status": 503}]), ""),
        (json!({"action": {"status": 503}, "match": {"paht": "/vpcs"}}), ""),
        (json!({"action": {"drop": "during"}}), ""),
        (json!({}), ""),
    ] {
        let (status, reply) = app.control(Method::PUT, "/faults", json!([valid, rule])).await;
        assert_eq!(status, 400, "{rule}");
        assert_eq!(
            reply["errors"][0]["field"].as_str().unwrap_or(""),
            field,
            "{reply}"
        );
    }
    let listed = app.controls(Method::GET, "/faults", Value::Null).await;
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn an_added_rule_applies_after_the_others() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let rule = |status: u16| json!({"match": {"path": "/vpcs"}, "times": 1, "action": {"status": status}});
    for (status, number) in [(503, 1), (502, 2)] {
        let rules = app.controls(Method::POST, "/faults", rule(status)).await;
        let rules = rules["data"].as_array().expect("a list");
        assert_eq!(rules.len(), number);
        assert_eq!(rules[number - 1]["action"]["status"], status);
    }
    let (refused, reply) = app.control(Method::POST, "/faults", rule(200)).await;
    assert_eq!(
        (refused, &reply["errors"][0]["field"]),
        (400, &json!("action.status"))
    );
    for expected in [503, 502, 200] {
        assert_eq!(status(&admin, Method::GET, "/vpcs").await, Some(expected));
    }
}

#[tokio::test]
async fn a_rule_is_deleted_by_its_id() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let rule = |status: u16| json!({"match": {"path": "/vpcs"}, "action": {"status": status}});
    let mut ids = Vec::new();
    for status in [503, 502] {
        let rules = app.controls(Method::POST, "/faults", rule(status)).await;
        let added = rules["data"].as_array().and_then(|rules| rules.last()).cloned();
        ids.push(added.expect("a rule")["id"].as_u64().expect("an ID"));
    }
    let path = format!("/faults/{}", ids[0]);
    app.controls(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status(&admin, Method::GET, "/vpcs").await, Some(502));
    assert_eq!(app.control(Method::DELETE, &path, Value::Null).await.0, 404);

    // A list can be sent back. The rules have new IDs, so that those of deleted rules are not used again.
    let listed = app.controls(Method::GET, "/faults", Value::Null).await["data"].clone();
    let replaced = set_faults(&app, listed).await;
    let new = replaced["data"][0]["id"].as_u64().expect("an ID");
    assert!(new > ids[1], "{replaced}");
}

#[tokio::test]
async fn the_deletion_of_a_rule_ends_its_delays() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let started = Instant::now();
    for path in ["/faults", "/faults/2"] {
        let rule = json!({"match": {"path": "/vpcs"}, "action": {"delay_ms": 60_000}});
        app.controls(Method::POST, "/faults", rule).await;
        let delete = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            app.controls(Method::DELETE, path, Value::Null).await
        };
        let (status, _) = tokio::join!(status(&admin, Method::GET, "/vpcs"), delete);
        assert_eq!(status, Some(200), "{path}");
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn recorded_requests_have_the_account_of_their_token() {
    let app = TestApp::with_test_control().await;
    let token = tenant_token(&app).await;
    app.with_token(&token).get("/vpcs").await;
    app.with_token(&"0".repeat(64)).get("/vpcs").await;
    app.anonymous().get("/regions").await;
    // The account of a token that the request itself deletes.
    app.with_token(&token).delete("/profile/tokens/2").await;
    // Paths of test control are not recorded, even if they do not exist.
    for path in ["/nothing", "", "/reset/x"] {
        assert_eq!(app.control(Method::GET, path, Value::Null).await.0, 404, "{path}");
    }

    let recorded = app.controls(Method::GET, "/requests", Value::Null).await;

    let recorded = recorded["data"].as_array().expect("a list");
    let accounts: Vec<_> = recorded.iter().map(|request| &request["account_id"]).collect();
    let expected = [json!(2), Value::Null, Value::Null, json!(2)];
    assert_eq!(accounts, expected.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn requests_are_recorded_in_order_and_without_secrets() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    admin.get("/linode/instances?page=1").await;
    admin
        .post("/vpcs", json!({"label": "core", "region": "us-east"}))
        .await;
    app.anonymous()
        .call(Method::GET, "//oauth/password/s3cret")
        .send()
        .await;
    admin.get("/nothing").await;
    set_faults(&app, json!([{"action": {"drop": "after"}}])).await;
    assert_eq!(status(&admin, Method::DELETE, "/vpcs/1").await, None);

    let recorded = app.controls(Method::GET, "/requests", Value::Null).await;

    let data = recorded["data"].as_array().expect("a list");
    let line = |request: &Value| {
        let [method, path, status, operation, fault] = ["method", "path", "status", "operation", "fault"]
            .map(|key| request[key].to_string().replace('"', ""));
        format!("{method} {path} {status} {operation} {fault}")
    };
    let lines: Vec<String> = data.iter().map(line).collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(lines[0], "GET /v4/linode/instances 200 getInstances false");
    assert_eq!(lines[1], "POST /v4/vpcs 200 createVpc false");
    assert!(lines[2].starts_with("GET /oauth/password/{link} "), "{lines:?}");
    assert_eq!(lines[3], "GET /v4/nothing 404 null false");
    assert_eq!(lines[4], "DELETE /v4/vpcs/1 null deleteVpc true");
    assert!(!recorded.to_string().contains("s3cret"));

    app.controls(Method::DELETE, "/requests", Value::Null).await;
    assert_eq!(
        app.controls(Method::GET, "/requests", Value::Null).await,
        json!({"data": []})
    );
}
