//! Personal tokens through the API.

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::TestApp;

const NO_EXPIRY: &str = "2999-12-12T05:00:00";

#[tokio::test]
async fn a_token_is_shown_once_and_works_immediately() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let created = ada
        .post("/profile/tokens", json!({"label": "laptop"}))
        .await
        .json();

    let text = created["token"].as_str().unwrap();
    assert_eq!(text.len(), 64);
    let keys: Vec<_> = created.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "scopes", "created", "label", "token", "expiry"]);
    assert_eq!(
        (&created["scopes"], &created["expiry"]),
        (&json!("*"), &json!(NO_EXPIRY))
    );
    let path = format!("/profile/tokens/{}", created["id"]);
    let later = ada.get(&path).await.json();
    assert_eq!(later["token"], text[..16]);
    let listed = ada.get("/profile/tokens").await.data();
    assert_eq!(listed[1], later);
    assert_eq!(
        app.with_token(text).get("/profile").await.json()["username"],
        "ada"
    );
}

#[tokio::test]
async fn a_token_has_at_most_the_scopes_of_the_token_that_creates_it() {
    let app = TestApp::new().await;
    let ada = app
        .user("ada")
        .scopes("account:read_write events:read_only vpc:read_write")
        .await;
    let make = async |scopes: Value| ada.post("/profile/tokens", json!({"scopes": scopes})).await;
    let all = "account:read_write events:read_only vpc:read_write";

    for (requested, expected) in [
        (json!("*"), all),
        (Value::Null, all),
        (json!("vpc:read_only"), "vpc:read_only"),
        (json!("vpc,events:read_only"), "events:read_only vpc:read_write"),
        (json!("tokens:view"), "account:read_only"),
    ] {
        let created = make(requested.clone()).await.json();
        assert_eq!(created["scopes"], expected, "{requested}");
    }
    let omitted = ada.post("/profile/tokens", json!({})).await.json();
    assert_eq!(omitted["scopes"], all);
    for wider in [
        "events:read_write",
        "events",
        "linodes:read_only",
        "vpc:read_only ips:read_only",
    ] {
        let refused = make(json!(wider)).await;
        assert_eq!(refused.errors(), ["scopes token_scope_exceeded"], "{wider}");
        assert!(refused.reason().contains("events:read_only"), "{refused}");
    }
    assert_eq!(
        make(json!("vpcs:read_only")).await.errors(),
        ["scopes scopes_invalid"]
    );

    // A token with few scopes cannot create a token with more scopes.
    let narrow = make(json!("account:read_write")).await.json();
    let narrow = app.with_token(narrow["token"].as_str().unwrap());
    let again = narrow
        .post("/profile/tokens", json!({"scopes": "*"}))
        .await
        .json();
    assert_eq!(again["scopes"], "account:read_write");
}

#[tokio::test]
async fn no_field_of_a_new_token_is_required() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("account:read_write vpc:read_only").await;
    let nulls = json!({"label": null, "scopes": null, "expiry": null});
    for body in [Some(json!({})), Some(nulls), None] {
        let call = ada.call(Method::POST, "/profile/tokens");
        let created = match &body {
            Some(body) => call.json(body).await,
            None => call.await,
        };
        assert_eq!(created.status, 200, "{created}");
        let token = created.json();
        assert_eq!(
            (&token["label"], &token["scopes"], &token["expiry"]),
            (
                &json!(""),
                &json!("account:read_write vpc:read_only"),
                &json!("2999-12-12T05:00:00")
            )
        );
    }
    let blank = json!({"label": "", "scopes": "", "expiry": ""});
    assert_eq!(
        ada.post("/profile/tokens", blank).await.errors(),
        [
            "label too_short",
            "scopes scopes_invalid",
            "expiry expiry_invalid"
        ]
    );
}

#[tokio::test]
async fn an_expiry_is_in_the_future_and_takes_effect() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for invalid in [
        "soon",
        "2024-06-01",
        "2024-06-01T12:00:00",
        "2024-06-01T12:00:00.9",
        "2023-01-01T00:00:00",
    ] {
        let refused = ada.post("/profile/tokens", json!({"expiry": invalid})).await;
        assert_eq!(refused.errors(), ["expiry expiry_invalid"], "{invalid}");
    }
    let body = json!({"label": "short", "expiry": "2024-06-01T12:01:00"});
    let created = ada.post("/profile/tokens", body).await.json();
    assert_eq!(created["expiry"], "2024-06-01T12:01:00");
    let short = app.with_token(created["token"].as_str().unwrap());
    assert_eq!(short.get("/profile").await.status, 200);

    app.advance(60);

    assert_eq!(short.get("/profile").await.status, 401);
    assert_eq!(
        ada.get(&format!("/profile/tokens/{}", created["id"]))
            .await
            .status,
        404
    );
    assert_eq!(ada.count("/profile/tokens").await, 1);
    let never = ada.post("/profile/tokens", json!({"expiry": null})).await.json();
    assert_eq!(never["expiry"], NO_EXPIRY);
    let forever = json!({"expiry": NO_EXPIRY});
    assert_eq!(
        ada.post("/profile/tokens", forever).await.json()["expiry"],
        NO_EXPIRY
    );
}

#[tokio::test]
async fn the_list_shows_only_valid_tokens_of_the_caller() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").await;
    for label in ["one", "two", "three"] {
        ada.post("/profile/tokens", json!({"label": label})).await;
    }
    let listed = ada
        .filter("/profile/tokens", r#"{"label": {"+contains": "T"}}"#)
        .await;
    let (two, three) = (listed.data()[0]["id"].clone(), listed.data()[1]["id"].clone());
    ada.delete(&format!("/profile/tokens/{two}")).await;

    let listed = ada.get("/profile/tokens").await;
    let labels: Vec<_> = listed.data().iter().map(|token| token["label"].clone()).collect();
    assert_eq!(labels, ["", "one", "three"]);
    for (filter, ids) in [
        (format!(r#"{{"id": {three}}}"#), vec![three.as_i64().unwrap()]),
        (r#"{"scopes": "vpc:read_only"}"#.to_owned(), vec![]),
        (format!(r#"{{"expiry": "{NO_EXPIRY}"}}"#), listed.ids()),
        (
            r#"{"created": {"+gt": "2024-06-01T12:00:00"}}"#.to_owned(),
            vec![],
        ),
        (
            r#"{"+order_by": "label", "+order": "desc"}"#.to_owned(),
            vec![5, 3, 1],
        ),
    ] {
        assert_eq!(
            ada.filter("/profile/tokens", &filter).await.ids(),
            ids,
            "{filter}"
        );
    }
    let unknown = ada.filter("/profile/tokens", r#"{"token": "x"}"#).await;
    assert_eq!(unknown.errors(), ["X-Filter filter_field"]);
    let other = ada.get("/profile/tokens/2").await;
    assert_eq!(other.status, 404, "another user's token is not found");
}

#[tokio::test]
async fn only_the_label_of_a_token_can_change() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let tag = ada.get("/profile/tokens/1").await.header("etag").to_owned();
    let change = json!({"label": "desk", "scopes": "vpc:read_only", "expiry": null, "token": "x"});

    let renamed = ada
        .call(Method::PUT, "/profile/tokens/1")
        .header("if-match", &tag);
    let renamed = renamed.json(&change).await.json();

    assert_eq!(
        (&renamed["label"], &renamed["scopes"]),
        (&json!("desk"), &json!("*"))
    );
    let stale = ada
        .call(Method::DELETE, "/profile/tokens/1")
        .header("if-match", &tag)
        .await;
    assert_eq!(stale.errors(), ["- precondition_failed"]);
    let long = json!({"label": "x".repeat(101)});
    assert_eq!(
        ada.put("/profile/tokens/1", long).await.errors(),
        ["label too_long"]
    );
    assert_eq!(
        ada.put("/profile/tokens/1", json!({})).await.json()["label"],
        "desk"
    );
}

#[tokio::test]
async fn a_token_can_revoke_itself_and_each_change_is_an_event() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let created = ada
        .post("/profile/tokens", json!({"label": "laptop"}))
        .await
        .json();
    let path = format!("/profile/tokens/{}", created["id"]);
    let laptop = app.with_token(created["token"].as_str().unwrap());
    laptop.put(&path, json!({"label": "phone"})).await;

    assert_eq!(laptop.delete(&path).await.json(), json!({}));

    assert_eq!(laptop.get("/profile").await.errors(), ["- token_invalid"]);
    assert_eq!(ada.delete(&path).await.status, 404);
    assert_eq!(
        ada.events().await,
        ["token_create 2", "token_update 2", "token_delete 2"]
    );
    let event = &ada.get("/account/events").await.data()[0];
    assert_eq!(event["username"], "ada");
    let entity = json!({"id": 2, "label": "phone", "type": "token", "url": "/v4/profile/tokens/2"});
    assert_eq!(event["entity"], entity);
    assert!(
        !event
            .to_string()
            .contains(&created["token"].as_str().unwrap()[..16])
    );
}

#[tokio::test]
async fn the_scopes_of_a_revoked_token_are_not_shown() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("account:read_only").await;
    let alive = ada.get("/profile").await;
    assert_eq!(alive.header("x-oauth-scopes"), "account:read_only");
    app.revoke(ada.token_id).await;
    let dead = ada.get("/profile").await;
    assert_eq!(dead.errors(), ["- token_invalid"]);
    assert_eq!(dead.header("x-oauth-scopes"), "unknown");
    let bob = app.user("bob").scopes("account:read_only").await;
    let narrow = bob.post("/profile/tokens", json!({})).await;
    assert_eq!(narrow.errors(), ["- scope_missing"]);
    assert_eq!(narrow.header("x-oauth-scopes"), "account:read_only");
}
