//! Users of an account, managed through the API.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{TestApp, add_vpcs};

#[tokio::test]
async fn a_new_user_is_restricted_and_has_no_password() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let created = ada
        .post(
            "/account/users",
            json!({"username": "bob", "email": "bob@example.com"}),
        )
        .await;

    let expected = json!({
        "username": "bob", "email": "bob@example.com", "restricted": true, "ssh_keys": [],
        "tfa_enabled": false, "verified_phone_number": null, "password_created": null, "last_login": null,
        "user_type": "default",
    });
    assert_eq!(created.json(), expected);
    assert_eq!(ada.get("/account/users/bob").await.json(), expected);
    assert_eq!(
        ada.get("/account/users/BOB").await.json(),
        expected,
        "usernames ignore case"
    );
    let free = json!({"username": "eve", "email": "eve@example.com", "restricted": false});
    assert_eq!(ada.post("/account/users", free).await.json()["restricted"], false);
    let names = |reply: crate::harness::Reply| -> Vec<Value> {
        reply.data().iter().map(|user| user["username"].clone()).collect()
    };
    assert_eq!(names(ada.get("/account/users").await), ["ada", "bob", "eve"]);
    for (filter, found) in [
        (r#"{"restricted": true}"#, vec!["bob"]),
        (r#"{"email": {"+contains": "EVE"}}"#, vec!["eve"]),
        (
            r#"{"+order_by": "username", "+order": "desc"}"#,
            vec!["eve", "bob", "ada"],
        ),
    ] {
        assert_eq!(
            names(ada.filter("/account/users", filter).await),
            found,
            "{filter}"
        );
    }
    assert_eq!(ada.events().await, ["user_create 2", "user_create 3"]);
    let entity = json!({"id": 3, "label": "eve", "type": "user", "url": "/v4/account/users/eve"});
    assert_eq!(ada.get("/account/events").await.data()[0]["entity"], entity);
}

#[tokio::test]
async fn all_errors_of_a_user_are_reported_together() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("taken").of(app.another_account().await).await;
    for (body, errors) in [
        (json!({}), vec!["username required", "email required"]),
        (
            json!({"username": "a--b", "email": "x", "restricted": 1}),
            vec![
                "username username_invalid",
                "email email_invalid",
                "restricted wrong_type",
            ],
        ),
        (
            json!({"username": "TAKEN", "email": "a@b"}),
            vec!["username username_taken"],
        ),
    ] {
        assert_eq!(
            ada.post("/account/users", body.clone()).await.errors(),
            errors,
            "{body}"
        );
    }
    let renamed = ada.put("/account/users/ada", json!({"username": "Taken"})).await;
    assert_eq!(renamed.errors(), ["username username_taken"]);
    assert!(ada.events().await.is_empty());
    assert_eq!(ada.count("/account/users").await, 1);
}

#[tokio::test]
async fn no_grant_lets_a_restricted_user_manage_users() {
    let app = TestApp::new().await;
    app.user("ada").await;
    let bob = app
        .user("bob")
        .may(Grant::AccountAccess(Permission::ReadWrite))
        .await;
    for (method, path) in [
        (Method::GET, "/account/users"),
        (Method::POST, "/account/users"),
        (Method::GET, "/account/users/bob"),
        (Method::PUT, "/account/users/bob"),
        (Method::DELETE, "/account/users/ada"),
        (Method::GET, "/account/users/nobody"),
        (Method::GET, "/account/users/bob/grants"),
        (Method::PUT, "/account/users/bob/grants"),
    ] {
        let body = json!({"restricted": false, "username": "bob", "email": "b@example.com"});
        let refused = bob.call(method.clone(), path).json(&body).await;
        assert_eq!(refused.errors(), ["- grant_missing"], "{method} {path}");
    }
}

#[tokio::test]
async fn renaming_a_user_keeps_its_tokens_and_grants() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").may(add_vpcs()).await;
    let vpc = bob.create_vpc("mine", &[]).await;
    let tag = ada.get("/account/users/bob").await.header("etag").to_owned();
    let change = json!({"username": "robert", "email": "robert@example.com", "tfa_enabled": true});

    let put = ada
        .call(Method::PUT, "/account/users/bob")
        .header("if-match", &tag)
        .json(&change);
    let renamed = put.await;

    assert_eq!(renamed.json()["username"], "robert");
    assert_eq!(renamed.json()["tfa_enabled"], false);
    assert_eq!(
        ada.get("/account/users/robert").await.header("etag"),
        renamed.header("etag")
    );
    assert_eq!(ada.get("/account/users/bob").await.status, 404);
    assert_eq!(bob.get("/profile").await.json()["username"], "robert", "at once");
    assert_eq!(
        bob.get(&format!("/vpcs/{vpc}")).await.status,
        200,
        "the user keeps its grants"
    );
    let stale = ada
        .call(Method::DELETE, "/account/users/robert")
        .header("if-match", &tag)
        .await;
    assert_eq!(stale.errors(), ["- precondition_failed"]);
    let same = ada
        .put("/account/users/robert", json!({"username": "Robert"}))
        .await;
    assert_eq!(
        same.json()["username"],
        "Robert",
        "users can change the case of their username"
    );
    assert_eq!(
        ada.events().await,
        ["vpc_create 1", "user_update 2", "user_update 2"]
    );
}

#[tokio::test]
async fn restricting_a_user_removes_access_and_unrestricting_deletes_grants() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").await;
    let vpc = bob.create_vpc("core", &[]).await;

    let restricted = ada.put("/account/users/bob", json!({"restricted": true})).await;

    assert_eq!(restricted.json()["restricted"], true);
    assert_eq!(
        bob.count("/vpcs").await,
        0,
        "the restriction applies immediately to an existing token"
    );
    assert_eq!(bob.get("/account/users").await.status, 403);
    app.grant("bob", add_vpcs()).await;
    app.grant("bob", Grant::Vpc(vpc, Permission::ReadWrite)).await;
    assert_eq!(
        ada.put("/account/users/bob", json!({"restricted": true}))
            .await
            .status,
        200
    );
    assert_eq!(
        bob.count("/vpcs").await,
        1,
        "a user who is already restricted keeps the grants"
    );
    ada.put("/account/users/bob", json!({"restricted": false})).await;
    assert_eq!(bob.get("/account/users").await.status, 200);
    ada.put("/account/users/bob", json!({"restricted": true})).await;
    assert_eq!(bob.count("/vpcs").await, 0, "earlier grants are not restored");
    assert_eq!(
        bob.post("/vpcs", json!({"label": "x", "region": "us-east"}))
            .await
            .status,
        403
    );
}

#[tokio::test]
async fn users_cannot_restrict_or_delete_themselves() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let refused = ada
        .put("/account/users/ada", json!({"restricted": true, "email": "x"}))
        .await;
    assert_eq!(refused.errors(), ["email email_invalid", "restricted user_self"]);
    assert_eq!(ada.delete("/account/users/ada").await.errors(), ["- user_self"]);
    assert_eq!(
        ada.put("/account/users/ada", json!({"restricted": false}))
            .await
            .status,
        200
    );
    assert_eq!(ada.count("/account/users").await, 1);
}

#[tokio::test]
async fn a_deleted_user_loses_access_immediately_and_its_texts_remain() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").may(add_vpcs()).await;
    let laptop = bob.post("/profile/tokens", json!({})).await.json()["token"].clone();
    let laptop = app.with_token(laptop.as_str().unwrap());
    let vpc = bob.create_vpc("left", &[]).await;
    let ticket = bob.open_ticket("Help").await;
    assert_eq!(laptop.get("/profile").await.status, 200);

    assert_eq!(ada.delete("/account/users/bob").await.json(), json!({}));

    for token in [&bob, &laptop] {
        assert_eq!(token.get("/profile").await.errors(), ["- token_invalid"]);
    }
    assert_eq!(ada.get("/account/users/bob").await.status, 404);
    assert_eq!(ada.get(&format!("/vpcs/{vpc}")).await.json()["label"], "left");
    let remaining = ada.get(&format!("/support/tickets/{ticket}")).await.json();
    assert_eq!(
        (&remaining["opened_by"], &remaining["status"]),
        (&json!("bob"), &json!("new"))
    );
    let recorded = ada.get("/account/events?after=0").await.data();
    let recorded: Vec<_> = recorded
        .iter()
        .map(|event| (&event["action"], &event["username"]))
        .collect();
    let (bob, ada) = (json!("bob"), json!("ada"));
    let expected = ["token_create", "vpc_create", "ticket_create", "user_delete"].map(Value::from);
    let authors = [&bob, &bob, &bob, &ada];
    assert_eq!(recorded, expected.iter().zip(authors).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reused_username_inherits_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let first = app.user("bob").may(add_vpcs()).await;
    let vpc = first.create_vpc("first", &[]).await;
    let ticket = first.open_ticket("Help").await;
    ada.delete("/account/users/bob").await;

    let second = app.user("bob").restricted().await;

    assert_eq!(second.count("/vpcs").await, 0);
    assert_eq!(second.get(&format!("/vpcs/{vpc}")).await.status, 404);
    assert_eq!(second.count("/support/tickets").await, 0);
    assert_eq!(
        second.get(&format!("/support/tickets/{ticket}")).await.status,
        404
    );
    assert!(
        second.events().await.is_empty(),
        "the events of an earlier bob are not visible"
    );
    assert_eq!(second.count("/profile/tokens").await, 1);
    // A username can also be reused after a rename.
    let third = app.user("carol").restricted().await;
    ada.put("/account/users/bob", json!({"username": "old-bob"}))
        .await;
    ada.put("/account/users/carol", json!({"username": "bob"})).await;
    second.open_ticket("Mine").await;
    assert_eq!(
        (
            second.count("/support/tickets").await,
            third.count("/support/tickets").await
        ),
        (1, 0)
    );
    assert!(third.events().await.is_empty());
}

#[tokio::test]
async fn the_length_of_an_email_is_in_characters() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let request = async |length: usize| {
        let email = format!("{}@example.com", "\u{e9}".repeat(length - 12));
        let body = json!({"username": format!("user-{length}"), "email": email});
        ada.post("/account/users", body).await
    };
    assert_eq!(request(254).await.status, 200);
    assert_eq!(request(255).await.errors(), ["email email_invalid"]);
}

#[tokio::test]
async fn a_taken_username_reveals_no_owner_and_is_limited_to_twenty_per_hour() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("agent").staff().await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    let try_name = async |name: &str| {
        let body = json!({"username": name, "email": "x@example.com"});
        ada.post("/account/users", body).await
    };
    let mut answers = std::collections::BTreeSet::new();
    for name in ["agent", "AGENT", "eve", "ada", "support"] {
        let taken = try_name(name).await;
        assert_eq!(taken.errors(), ["username username_taken"], "{name}");
        answers.insert(taken.body);
        let rename = ada.put("/account/users/ada", json!({"username": name})).await;
        let expected = if name == "ada" { 200 } else { 400 };
        assert_eq!(rename.status, expected, "{name}");
        if expected == 400 {
            answers.insert(rename.body);
        }
        let reply = ada.get(&format!("/account/users/{name}")).await;
        assert_eq!(reply.status, if name == "ada" { 200 } else { 404 }, "{name}");
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    for _ in 9..20 {
        assert_eq!(try_name("agent").await.status, 400);
    }
    for name in ["agent", "free-name"] {
        let refused = try_name(name).await;
        assert_eq!(
            (refused.status.as_u16(), refused.header("retry-after")),
            (429, "3600")
        );
        assert_eq!(refused.errors(), ["- rate_limited"]);
    }
    let rename = json!({"username": "eve"});
    assert_eq!(ada.put("/account/users/ada", rename).await.status, 429);
    // Changes without a new username do not count, and other accounts are not affected.
    let same = json!({"username": "Ada", "email": "new@example.com"});
    assert_eq!(ada.put("/account/users/ada", same).await.status, 200);
    let body = json!({"username": "frank", "email": "x@example.com"});
    assert_eq!(eve.post("/account/users", body).await.status, 200);
    app.advance(3600);
    assert_eq!(try_name("free-name").await.status, 200);
}
