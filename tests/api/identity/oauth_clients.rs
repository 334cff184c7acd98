//! OAuth clients of an account.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::TestApp;

const CLIENTS: &str = "/account/oauth-clients";

fn dashboard() -> Value {
    json!({"label": "Dashboard", "redirect_uri": "https://app.example/callback"})
}

#[tokio::test]
async fn a_clients_secret_is_shown_once() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let created = ada.post(CLIENTS, dashboard()).await.json();

    let keys: Vec<_> = created.as_object().unwrap().keys().collect();
    let expected = [
        "id",
        "label",
        "redirect_uri",
        "secret",
        "public",
        "status",
        "thumbnail_url",
    ];
    assert_eq!(keys, expected);
    assert_eq!(created["secret"].as_str().unwrap().len(), 64);
    assert_eq!(created["id"].as_str().unwrap().len(), 20);
    assert_eq!(
        (&created["public"], &created["status"]),
        (&json!(false), &json!("active"))
    );
    let path = format!("{CLIENTS}/{}", created["id"].as_str().unwrap());
    let later = ada.get(&path).await.json();
    assert_eq!(later["secret"], "<REDACTED>");
    assert_eq!(ada.get(CLIENTS).await.data(), [later]);

    let tag = ada.get(&path).await.header("etag").to_owned();
    let reset = ada
        .call(Method::POST, &format!("{path}/reset-secret"))
        .header("if-match", &tag)
        .await;
    let secret = reset.json()["secret"].clone();
    assert_ne!(secret, created["secret"]);
    assert_eq!(secret.as_str().unwrap().len(), 64);
    assert_eq!(ada.get(&path).await.json()["secret"], "<REDACTED>");
    let stale = ada.call(Method::DELETE, &path).header("if-match", &tag).await;
    assert_eq!(stale.errors(), ["- precondition_failed"]);
}

#[tokio::test]
async fn clients_are_listed_changed_and_deleted_with_an_event_each() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let mut ids = Vec::new();
    for (label, public) in [("Zebra", true), ("Ant", false)] {
        let body = json!({"label": label, "redirect_uri": "http://localhost:4567", "public": public});
        ids.push(
            ada.post(CLIENTS, body).await.json()["id"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    let labels = |reply: crate::harness::Reply| -> Vec<Value> {
        reply
            .data()
            .iter()
            .map(|client| client["label"].clone())
            .collect()
    };
    assert_eq!(
        labels(ada.get(CLIENTS).await),
        ["Zebra", "Ant"],
        "in the order of their creation"
    );
    for (filter, found) in [
        (r#"{"public": true}"#.to_owned(), "Zebra"),
        (format!(r#"{{"id": "{}"}}"#, ids[1]), "Ant"),
        (
            r#"{"label": {"+contains": "ebr"}, "status": "active"}"#.to_owned(),
            "Zebra",
        ),
    ] {
        assert_eq!(labels(ada.filter(CLIENTS, &filter).await), [found], "{filter}");
    }
    let path = format!("{CLIENTS}/{}", ids[0]);
    let change =
        json!({"label": "Quagga", "redirect_uri": "https://q.example/cb", "public": false, "secret": "x"});
    let changed = ada.put(&path, change).await.json();
    assert_eq!(
        (&changed["label"], &changed["public"]),
        (&json!("Quagga"), &json!(true))
    );
    assert_eq!(changed["redirect_uri"], "https://q.example/cb");
    assert_eq!(ada.put(&path, json!({})).await.json(), changed);
    assert_eq!(ada.delete(&path).await.json(), json!({}));
    assert_eq!(ada.get(&path).await.status, 404);
    let actions =
        ["create", "create", "update", "update", "delete"].map(|step| format!("oauth_client_{step} null"));
    assert_eq!(ada.events().await, actions);
}

#[tokio::test]
async fn all_errors_of_a_client_are_reported_together() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (body, errors) in [
        (json!({}), vec!["label required", "redirect_uri required"]),
        (
            json!({"label": " ", "redirect_uri": "javascript:alert(1)", "public": "no"}),
            vec![
                "label too_short",
                "redirect_uri redirect_uri_invalid",
                "public wrong_type",
            ],
        ),
        (
            json!({"label": "x".repeat(513), "redirect_uri": "https://a/#b"}),
            vec!["label too_long", "redirect_uri redirect_uri_invalid"],
        ),
        (
            json!({"label": "Web\u{202e}ppa", "redirect_uri": "https://a.example/cb?code=1"}),
            vec!["label control_characters", "redirect_uri redirect_uri_invalid"],
        ),
    ] {
        assert_eq!(ada.post(CLIENTS, body.clone()).await.errors(), errors, "{body}");
    }
    assert_eq!(ada.count(CLIENTS).await, 0);
}

#[tokio::test]
async fn restricted_users_with_account_access_can_only_read_clients() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let id = ada.post(CLIENTS, dashboard()).await.json()["id"].clone();
    let path = format!("{CLIENTS}/{}", id.as_str().unwrap());
    let reader = app
        .user("reader")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    let writer = app
        .user("writer")
        .may(Grant::AccountAccess(Permission::ReadWrite))
        .await;
    let bound = app.user("bound").restricted().await;
    for (user, read, write) in [(&reader, 200, 403), (&writer, 200, 403), (&bound, 403, 403)] {
        assert_eq!(user.get(CLIENTS).await.status, read);
        assert_eq!(user.get(&path).await.status, read);
        assert_eq!(user.put(&path, json!({})).await.status, write);
        assert_eq!(
            user.post(&format!("{path}/reset-secret"), json!({})).await.status,
            write
        );
        assert_eq!(user.post(CLIENTS, dashboard()).await.status, write);
        assert_eq!(user.delete(&path).await.status, write);
    }
}

#[tokio::test]
async fn a_refused_redirect_uri_has_a_reason() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (uri, why) in [
        ("ftp://a.example/", "http"),
        ("/callback", "http"),
        ("https://a.example/#x", "fragment"),
        ("https://a@b.example/", "username"),
        ("https://ada:secret@b.example/", "username"),
        ("https://ada:1@b.example:443/", "username"),
        ("https://a.example:x/mail@b.example", "port"),
        ("https://a.example:0/", "port"),
        ("https://a.example:65536/", "port"),
        ("https://a.example:0443/", "port"),
        ("https://a.example:/", "port"),
        ("http://localhost:/cb", "port"),
        ("https://a.example/?x=1&state=2", "state"),
        ("https://a.example/?%63ode=2", "code"),
        ("http://a.example/cb", "https://"),
        ("http://127.a.example/cb", "https://"),
    ] {
        let refused = ada
            .post(CLIENTS, json!({"label": "x", "redirect_uri": uri}))
            .await;
        assert_eq!(refused.errors(), ["redirect_uri redirect_uri_invalid"], "{uri}");
        assert!(refused.reason().contains(why), "{uri}: {refused}");
    }
}

#[tokio::test]
async fn a_previously_registered_http_uri_remains_until_it_is_changed() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let new = garth::rules::oauth_clients::NewClient {
        id: Some("0123456789abcdef0123".to_owned()),
        account: Some(app.account),
        label: garth::model::oauth::ClientLabel::parse("Old").expect("a label"),
        redirect_uri: garth::model::oauth::RedirectUri::parse("http://old.example/cb").expect("an address"),
        public: false,
    };
    let created = app
        .store
        .write(move |tx| garth::rules::oauth_clients::register(tx, &new))
        .await;
    created.expect("a client can be created");
    let path = format!("{CLIENTS}/0123456789abcdef0123");
    let same = json!({"label": "Renamed", "redirect_uri": "http://old.example/cb"});
    assert_eq!(ada.put(&path, same).await.json()["label"], "Renamed");
    let other = json!({"redirect_uri": "http://other.example/cb"});
    assert_eq!(
        ada.put(&path, other).await.errors(),
        ["redirect_uri redirect_uri_invalid"]
    );
    let query =
        "client_id=0123456789abcdef0123&response_type=code&scope=*&redirect_uri=http://old.example/cb";
    let page = app.anonymous().get(&format!("//oauth/authorize?{query}")).await;
    assert_eq!(page.status, 200, "the registered URI can still be used");
}
