//! Changes of the account and its settings.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::TestApp;

#[tokio::test]
async fn a_change_of_the_account_is_partial_and_records_an_event() {
    let app = TestApp::new().await;
    let ada = app
        .user("ada")
        .scopes("account:read_write events:read_only")
        .await;
    let before = ada.get("/account").await.json();

    let contact = json!({
        "email": "new@example.com", "company": "", "first_name": "Ada", "last_name": "Lovelace",
        "address_1": "1 Main Street", "address_2": "Floor 2", "city": "London", "state": "England",
        "zip": "SW1A 1AA", "country": "GB", "phone": "+44 20 7946 0000", "tax_id": "GB123456789",
    });
    let changed = ada.put("/account", contact.clone()).await.json();

    for (name, value) in contact.as_object().unwrap() {
        assert_eq!(changed[name], *value, "{name}");
    }
    assert_eq!(changed["euuid"], before["euuid"], "the identifier is stable");
    assert_eq!(ada.get("/account").await.json(), changed);
    let one = ada.put("/v4beta/account", json!({"city": "Paris"})).await.json();
    assert_eq!((&one["city"], &one["zip"]), (&json!("Paris"), &json!("SW1A 1AA")));
    // A response can be sent back as a request.
    assert_eq!(ada.put("/account", one.clone()).await.json(), one);
    assert_eq!(
        ada.events().await,
        [
            "account_update null",
            "account_update null",
            "account_update null"
        ]
    );
    let other = app.user("grace").of(app.another_account().await).await;
    assert_eq!(other.get("/account").await.json()["city"], "");
}

#[tokio::test]
async fn an_invalid_account_changes_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let refused = ada
        .put(
            "/account",
            json!({
                "email": "nobody", "company": "c".repeat(129), "first_name": "a\nb", "city": "ä".repeat(25),
                "country": "Germany", "phone": 7, "zip": null, "state": "ä".repeat(24),
            }),
        )
        .await;
    assert_eq!(
        refused.errors(),
        [
            "email email_invalid",
            "company too_long",
            "first_name control_characters",
            "city too_long",
            "country choice_invalid",
            "phone wrong_type",
        ]
    );
    assert_eq!(ada.get("/account").await.json()["state"], "");
    assert!(ada.events().await.is_empty());
}

#[tokio::test]
async fn settings_are_stored_and_those_that_cannot_be_true_are_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    // As a published client sends it.
    let sent = json!({
        "backups_enabled": false, "network_helper": false, "interfaces_for_new_linodes": null,
        "maintenance_policy": "linode/power_off_on",
    });
    let changed = ada.put("/account/settings", sent).await.json();

    let expected = json!({
        "managed": false, "longview_subscription": null, "network_helper": false,
        "backups_enabled": false, "object_storage": "disabled",
        "interfaces_for_new_linodes": "legacy_config_only", "maintenance_policy": "linode/power_off_on",
    });
    assert_eq!(changed, expected);
    assert_eq!(ada.get("/account/settings").await.json(), expected);
    assert_eq!(
        ada.put("/account/settings", expected.clone()).await.json(),
        expected
    );
    for (field, value) in [
        ("managed", json!(true)),
        ("backups_enabled", json!(true)),
        ("longview_subscription", json!("longview-3")),
        ("object_storage", json!("active")),
        ("interfaces_for_new_linodes", json!("linode_only")),
        (
            "interfaces_for_new_linodes",
            json!("legacy_config_default_but_linode_allowed"),
        ),
    ] {
        let refused = ada.put("/account/settings", json!({field: value})).await;
        assert_eq!(refused.errors(), [format!("{field} not_offered")], "{value}");
    }
    let refused = ada
        .put("/account/settings", json!({"maintenance_policy": "linode/none"}))
        .await;
    assert_eq!(refused.errors(), ["maintenance_policy choice_invalid"]);
    assert!(
        refused
            .reason()
            .contains("Unsupported maintenance policy slug format.")
    );
    assert_eq!(
        ada.events().await,
        ["account_settings_update null", "account_settings_update null"]
    );
}

#[tokio::test]
async fn the_settings_are_the_defaults_of_new_instances_and_configs() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let image = |extra: Value| {
        let mut body = json!({
            "type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "x",
        });
        let fields = body.as_object_mut().expect("an object");
        fields.extend(extra.as_object().expect("an object").clone());
        body
    };
    let helpers = async |path: &str| ada.get(path).await.json()["helpers"].clone();
    ada.post("/linode/instances", image(json!({}))).await;
    let change = json!({"network_helper": false, "maintenance_policy": "linode/power_off_on"});
    ada.put("/account/settings", change).await;

    let second = ada.post("/linode/instances", image(json!({}))).await.json();
    let own = json!({"network_helper": true, "maintenance_policy": "linode/migrate"});
    let third = ada.post("/linode/instances", image(own)).await.json();
    let config = ada
        .post("/linode/instances/1/configs", json!({"label": "own"}))
        .await
        .json();
    let sent = json!({"label": "sent", "helpers": {"network": true, "distro": false}});
    let sent = ada.post("/linode/instances/1/configs", sent).await.json();

    let first = ada.get("/linode/instances/1").await.json();
    assert_eq!(
        [
            &first["maintenance_policy"],
            &second["maintenance_policy"],
            &third["maintenance_policy"]
        ],
        ["linode/migrate", "linode/power_off_on", "linode/migrate"],
        "existing instances are unchanged"
    );
    let network = [
        helpers("/linode/instances/1/configs/1").await,
        helpers("/linode/instances/2/configs/2").await,
        helpers("/linode/instances/3/configs/3").await,
        config["helpers"].clone(),
        sent["helpers"].clone(),
    ];
    assert_eq!(
        network.map(|helpers| [helpers["network"].clone(), helpers["distro"].clone()]),
        [
            [json!(true), json!(true)],
            [json!(false), json!(true)],
            [json!(true), json!(true)],
            [json!(false), json!(true)],
            [json!(true), json!(false)],
        ]
    );
    let rename = json!({"label": "renamed"});
    let renamed = ada.put("/linode/instances/1/configs/1", rename).await.json();
    assert_eq!(renamed["helpers"]["network"], true, "a change keeps the helper");
}

#[tokio::test]
async fn a_restricted_user_needs_account_access_to_change_the_account() {
    let app = TestApp::new().await;
    let bob = app.user("bob").restricted().await;
    for access in [None, Some(Permission::ReadOnly)] {
        if let Some(access) = access {
            app.grant("bob", Grant::AccountAccess(access)).await;
        }
        for path in ["/account", "/account/settings"] {
            assert_eq!(
                bob.put(path, json!({})).await.errors(),
                ["- grant_missing"],
                "{path}"
            );
        }
    }
    app.grant("bob", Grant::AccountAccess(Permission::ReadWrite))
        .await;
    for path in ["/account", "/account/settings"] {
        assert_eq!(bob.put(path, json!({})).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn changes_of_the_account_detect_conflicts() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (path, body) in [
        ("/account", json!({"city": "Rome"})),
        ("/account/settings", json!({"network_helper": false})),
    ] {
        let tag = ada.get(path).await.header("etag").to_owned();
        let put = || ada.call(Method::PUT, path).header("if-match", &tag).json(&body);
        assert_eq!(put().await.status, 200, "{path}");
        assert_eq!(put().await.errors(), ["- precondition_failed"], "{path}");
    }
}

#[tokio::test]
async fn the_transfer_quota_is_that_of_the_instances() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let transfer = |quota: i64| json!({"billable": 0, "quota": quota, "used": 0, "region_transfers": []});
    assert_eq!(ada.get("/account/transfer").await.json(), transfer(0));
    for plan in ["g6-nanode-1", "g6-nanode-1", "g6-standard-1"] {
        let body = json!({"type": plan, "region": "us-east"});
        assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    }
    assert_eq!(ada.get("/account/transfer").await.json(), transfer(4000));
}
