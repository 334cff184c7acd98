//! Staff and their roles, and disabled users.

use garth::model::staff_role::StaffRole;
use garth::rules::{self, Error};
use serde_json::json;

use crate::console::{assert_contains, logged_in};
use crate::harness::TestApp;

#[tokio::test]
async fn a_role_changes_what_an_open_token_can_do_immediately() {
    let app = TestApp::new().await;
    let (sam, noor) = (
        app.user("sam").staff().await,
        app.user("noor").role(StaffRole::Support).await,
    );
    let host = json!({"label": "rack-1", "region": "us-west", "underlay_address": "192.0.2.1"});
    let refused = noor.post("/hosts", host.clone()).await;
    assert_eq!(
        (refused.status.as_u16(), refused.errors()),
        (403, vec!["- role_missing".to_owned()])
    );
    assert_eq!(noor.get("/hosts").await.status, 200);

    let changed = sam.put("/provider/staff/noor", json!({"role": "operator"})).await;

    assert_eq!(changed.json()["role"], "operator");
    assert_eq!(noor.post("/hosts", host).await.status, 200);
    assert_eq!(noor.get("/provider/staff").await.errors(), ["- role_missing"]);
    sam.put("/provider/staff/noor", json!({"role": "support"})).await;
    assert_eq!(noor.delete("/hosts/1").await.errors(), ["- role_missing"]);
}

#[tokio::test]
async fn staff_are_created_listed_and_deleted() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    app.user("ada").await;
    let body = json!({"username": "noor", "email": "noor@example.com", "role": "support"});

    let created = sam.post("/provider/staff", body.clone()).await;

    assert_eq!(created.status, 200, "{created}");
    assert_eq!(
        created.json(),
        json!({
            "username": "noor", "email": "noor@example.com", "role": "support", "disabled": false,
            "created": "2024-06-01T12:00:00", "last_login": null,
        })
    );
    let names = |list: Vec<serde_json::Value>| -> Vec<String> {
        let name = |user: &serde_json::Value| user["username"].as_str().expect("a name").to_owned();
        list.iter().map(name).collect()
    };
    assert_eq!(names(sam.get("/provider/staff").await.data()), ["sam", "noor"]);
    let admins = sam.filter("/provider/staff", r#"{"role": "admin"}"#).await;
    assert_eq!(names(admins.data()), ["sam"]);
    let again = sam.post("/provider/staff", body).await;
    assert_eq!(again.errors(), ["username username_taken"]);
    let invalid = sam
        .post(
            "/provider/staff",
            json!({"username": "x", "email": "y", "role": "owner"}),
        )
        .await;
    assert_eq!(
        invalid.errors(),
        [
            "username username_invalid",
            "email email_invalid",
            "role choice_invalid"
        ]
    );
    // A user of an account is not a member of staff.
    assert_eq!(sam.get("/provider/staff/ada").await.status, 404);
    assert_eq!(sam.delete("/provider/staff/ada").await.status, 404);
    assert_eq!(sam.delete("/provider/staff/noor").await.status, 200);
    assert_eq!(sam.get("/provider/staff/noor").await.status, 404);
}

#[tokio::test]
async fn the_last_admin_remains() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    app.user("noor").role(StaffRole::Operator).await;
    let path = "/provider/staff/sam";
    for (body, error) in [
        (json!({"role": "operator"}), "role last_admin"),
        (json!({"disabled": true}), "disabled last_admin"),
    ] {
        assert_eq!(sam.put(path, body).await.errors(), [error]);
    }
    assert_eq!(sam.delete(path).await.errors(), ["- last_admin"]);
    for command in [
        |tx: &mut garth::store::WriteTx| rules::users::remove(tx, "sam"),
        |tx: &mut garth::store::WriteTx| rules::staff::set_role(tx, "sam", StaffRole::Support).map(drop),
        |tx: &mut garth::store::WriteTx| rules::staff::set_disabled(tx, "sam", true).map(drop),
    ] {
        assert!(matches!(app.store.write(command).await, Err(Error::Refused(_))));
    }
    assert_eq!(sam.put(path, json!({"role": "admin"})).await.status, 200);

    sam.put("/provider/staff/noor", json!({"role": "admin", "disabled": true}))
        .await;
    assert_eq!(
        sam.delete(path).await.errors(),
        ["- last_admin"],
        "a disabled admin does not count"
    );
    sam.put("/provider/staff/noor", json!({"disabled": false})).await;
    assert_eq!(sam.put(path, json!({"role": "support"})).await.status, 200);
    assert_eq!(sam.get(path).await.errors(), ["- role_missing"]);
}

#[tokio::test]
async fn a_disabled_user_has_no_access_until_enabled() {
    let app = TestApp::new().await;
    let (sam, noor, ada, bob) = (
        app.user("sam").staff().await,
        app.user("noor").role(StaffRole::Support).await,
        app.user("ada").await,
        app.user("bob").await,
    );
    let mut browser = logged_in(&app, "ada").await;
    let path = "/provider/accounts/1/users/ada";

    let disabled = sam.put(path, json!({"disabled": true})).await;

    assert_eq!(disabled.json()["disabled"], true);
    let refused = ada.get("/vpcs").await;
    assert_eq!(
        (refused.status.as_u16(), refused.errors()),
        (403, vec!["- user_disabled".to_owned()])
    );
    assert_contains(&browser.get("/vpcs").await, "User disabled");
    assert_eq!(bob.get("/vpcs").await.status, 200);
    sam.put(path, json!({"disabled": false})).await;
    assert_eq!(ada.get("/vpcs").await.status, 200);

    sam.put("/provider/staff/noor", json!({"disabled": true})).await;
    assert_eq!(noor.get("/desk/tickets").await.errors(), ["- user_disabled"]);
    let missing = sam
        .put("/provider/accounts/1/users/noor", json!({"disabled": false}))
        .await;
    assert_eq!(missing.status, 404);
}
