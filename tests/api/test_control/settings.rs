//! Settings that are changed while the server runs, and tenants.

use hyper::Method;
use serde_json::{Value, json};

use super::labels;
use crate::harness::TestApp;

#[tokio::test]
async fn changed_settings_apply_to_the_next_request_and_null_restores_them() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let changed = app
        .controls(
            Method::PUT,
            "/settings",
            json!({"quota.vpcs_per_region": 1, "page_size_min": 25}),
        )
        .await;
    assert_eq!(changed, json!({"quota.vpcs_per_region": 1, "page_size_min": 25}));
    assert_eq!(app.controls(Method::GET, "/settings", Value::Null).await, changed);
    admin.create_vpc("one", &[]).await;
    let body = json!({"label": "two", "region": "us-east"});
    assert_eq!(admin.post("/vpcs", body).await.errors(), ["- quota_exceeded"]);
    assert_eq!(admin.get("/vpcs?page_size=24").await.status, 400);

    let changed = app
        .controls(Method::PUT, "/settings", json!({"quota.vpcs_per_region": null}))
        .await;
    assert_eq!(changed, json!({"page_size_min": 25}));
    admin.create_vpc("two", &[]).await;
    assert_eq!(admin.get("/vpcs?page_size=24").await.status, 400);
    app.controls(Method::POST, "/reset", Value::Null).await;
    assert_eq!(admin.get("/vpcs?page_size=24").await.status, 200);
    assert_eq!(
        app.controls(Method::GET, "/settings", Value::Null).await,
        json!({})
    );
}

#[tokio::test]
async fn other_settings_and_invalid_values_are_refused() {
    let app = TestApp::with_test_control().await;
    for (name, value) in [
        ("listen", json!("0.0.0.0:80")),
        ("test_control", json!(false)),
        ("quota", json!({"vpcs_per_region": 1})),
        ("page_size_min", json!(0)),
        ("page_size_min", json!("25")),
        ("compute.settle_ms", json!(-1)),
        ("quota.vpcs_per_region", json!(-1)),
    ] {
        let (status, reply) = app.control(Method::PUT, "/settings", json!({name: value})).await;
        assert_eq!(status, 400, "{name}: {value}: {reply}");
        let error = &reply["errors"][0];
        let names_setting =
            error["field"] == name || error["reason"].as_str().is_some_and(|r| r.contains(name));
        assert!(names_setting, "{name}: {reply}");
    }
}

#[tokio::test]
async fn each_tenant_has_its_own_account() {
    let app = TestApp::with_test_control().await;
    let one = app.controls(Method::POST, "/accounts", Value::Null).await;
    let two = app.controls(Method::POST, "/accounts", Value::Null).await;
    assert_ne!(one["account_id"], two["account_id"]);
    assert_ne!(one["username"], two["username"]);
    let user = |tenant: &Value| app.with_token(tenant["token"].as_str().expect("a token"));
    user(&one).create_vpc("core", &[]).await;
    assert_eq!(labels(&user(&one)).await, ["core"]);
    assert_eq!(labels(&user(&two)).await.len(), 0);
    assert_eq!(user(&two).get("/vpcs/1").await.status, 404);
    let profile = user(&one).get("/profile").await.json();
    assert_eq!(profile["username"], one["username"]);
}
