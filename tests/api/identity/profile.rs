//! The caller's own profile.

use hyper::Method;
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn the_profile_belongs_to_the_user_of_the_token() {
    let app = TestApp::new().await;
    let bob = app.user("bob").restricted().scopes("domains:read_only").await;

    let profile = bob.get("/profile").await;

    let expected = json!({
        "uid": 1, "username": "bob", "email": "bob@example.com", "timezone": "GMT",
        "email_notifications": true, "ip_whitelist_enabled": false, "lish_auth_method": "password_keys",
        "authorized_keys": null, "two_factor_auth": false, "restricted": true,
        "authentication_type": "password", "user_type": "default", "verified_phone_number": null,
        "referrals": {"code": "", "url": "", "total": 0, "completed": 0, "pending": 0, "credit": 0},
    });
    assert_eq!(profile.json(), expected);
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&profile.json()), keys(&expected), "in this order");
}

#[tokio::test]
async fn only_writable_profile_fields_change() {
    let app = TestApp::new().await;
    let bob = app.user("bob").restricted().await;
    let tag = bob.get("/profile").await.header("etag").to_owned();
    let change = json!({
        "email": "robert@example.com", "timezone": "Europe/Berlin", "email_notifications": false,
        "lish_auth_method": "keys_only", "authorized_keys": ["ssh-ed25519 AAAA bob", "ssh-rsa BBBB"],
        "restricted": false, "username": "root", "uid": 7, "two_factor_auth": true,
    });

    let put = bob
        .call(Method::PUT, "/profile")
        .header("if-match", &tag)
        .json(&change);
    let changed = put.await.json();

    assert_eq!(changed, bob.get("/profile").await.json());
    for key in [
        "email",
        "timezone",
        "email_notifications",
        "lish_auth_method",
        "authorized_keys",
    ] {
        assert_eq!(changed[key], change[key], "{key}");
    }
    assert_eq!(
        (&changed["restricted"], &changed["username"]),
        (&json!(true), &json!("bob"))
    );
    let stale = bob
        .call(Method::PUT, "/profile")
        .header("if-match", &tag)
        .json(&json!({}));
    assert_eq!(stale.await.errors(), ["- precondition_failed"]);
    assert_eq!(
        bob.put("/profile", json!({})).await.json(),
        changed,
        "a missing field stays unchanged"
    );
    let none = bob.put("/profile", json!({"authorized_keys": []})).await.json();
    assert_eq!(none["authorized_keys"], json!([]));
    assert_eq!(bob.events().await, ["profile_update null"; 3]);
}

#[tokio::test]
async fn all_errors_of_a_profile_are_reported_together() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let wrong = json!({
        "authorized_keys": ["a\nb", 5, ""], "lish_auth_method": "telnet", "email_notifications": "yes",
        "timezone": "Middle Earth", "email": "nobody",
    });
    assert_eq!(
        ada.put("/profile", wrong).await.errors(),
        [
            "email email_invalid",
            "timezone timezone_invalid",
            "email_notifications wrong_type",
            "lish_auth_method choice_invalid",
            "authorized_keys[0] control_characters",
            "authorized_keys[1] wrong_type",
            "authorized_keys[2] too_short",
        ]
    );
    assert!(ada.events().await.is_empty());
}

#[tokio::test]
async fn preferences_are_stored_unchanged_per_user() {
    let app = TestApp::new().await;
    let (ada, bob) = (
        app.user("ada").scopes("account:read_write").await,
        app.user("bob").await,
    );
    let empty = ada.get("/profile/preferences").await;
    assert_eq!(empty.json(), json!({}));
    let preferences =
        json!({"theme": "dark", "gone": null, "sortKeys": {"vpcs-order": {"order": "asc", "n": 1.5}}});

    assert_eq!(
        ada.put("/profile/preferences", preferences.clone()).await.json(),
        preferences
    );

    let read = ada.get("/profile/preferences").await;
    assert_eq!(read.json(), preferences);
    assert_eq!(bob.get("/profile/preferences").await.json(), json!({}));
    assert_eq!(
        ada.put("/profile/preferences", json!({"a": 1})).await.json(),
        json!({"a": 1})
    );
    assert!(bob.events().await.is_empty(), "no event is recorded");

    // Two clients that write at the same time can detect the conflict.
    assert_ne!(read.header("etag"), empty.header("etag"));
    let put = ada
        .call(Method::PUT, "/profile/preferences")
        .header("if-match", read.header("etag"));
    assert_eq!(
        put.json(&json!({"b": 2})).await.errors(),
        ["- precondition_failed"]
    );
    let now = ada.get("/profile/preferences").await;
    let put = ada
        .call(Method::PUT, "/profile/preferences")
        .header("if-match", now.header("etag"));
    let put = put.json(&json!({"b": 2})).await;
    assert_eq!(put.status, 200);
    let again = ada
        .call(Method::GET, "/profile/preferences")
        .header("if-none-match", put.header("etag"));
    assert_eq!(again.await.status, 304);
}

#[tokio::test]
async fn preferences_are_an_object_of_limited_size() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    // {"x":"…"} has eight bytes in addition to the text.
    let most = json!({"x": "a".repeat(65536 - 8)});
    assert_eq!(ada.put("/profile/preferences", most.clone()).await.status, 200);
    let more = json!({"x": "a".repeat(65536 - 7)});
    assert_eq!(
        ada.put("/profile/preferences", more).await.errors(),
        ["- preferences_too_large"]
    );
    assert_eq!(
        ada.put("/profile/preferences", json!([1])).await.errors(),
        ["- json_not_object"]
    );
    assert_eq!(ada.get("/profile/preferences").await.json(), most);
}
