//! Events: interface §6.

use garth::api::operations::OPERATIONS;
use garth::model::grant::Permission;
use garth::model::id::VpcId;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, add_vpcs};

/// The updates by tenants, each with a path and its event.
const UPDATES: [(&str, &str, &str); 16] = [
    ("updateVpc", "/vpcs/1", "vpc_update"),
    ("updateVpcSubnet", "/vpcs/1/subnets/1", "subnet_update"),
    ("updateIp", "/networking/ips/192.0.2.2", "ipaddress_update"),
    ("updateInstance", "/linode/instances/1", "linode_update"),
    (
        "updateInstanceIp",
        "/linode/instances/1/ips/192.0.2.2",
        "ipaddress_update",
    ),
    ("updateDisk", "/linode/instances/1/disks/1", "disk_update"),
    (
        "updateConfig",
        "/linode/instances/1/configs/1",
        "linode_config_update",
    ),
    (
        "updateConfigInterface",
        "/linode/instances/1/configs/1/interfaces/1",
        "linode_config_update",
    ),
    ("updateAccount", "/account", "account_update"),
    (
        "updateAccountSettings",
        "/account/settings",
        "account_settings_update",
    ),
    ("updateProfile", "/profile", "profile_update"),
    ("updateToken", "/profile/tokens/1", "token_update"),
    ("updateSshKey", "/profile/sshkeys/1", "user_ssh_key_update"),
    ("updateUser", "/account/users/bob", "user_update"),
    ("updateUserGrants", "/account/users/bob/grants", "user_update"),
    (
        "updateOauthClient",
        "/account/oauth-clients/{id}",
        "oauth_client_update",
    ),
];
/// Updates without an event: of the preferences of the web app, of objects of the provider, and those that are not offered.
const WITHOUT_EVENT: [&str; 20] = [
    "updatePreferences",
    "updateDeskTicket",
    "updateCannedReply",
    "updateDeskMailChoices",
    "updateHost",
    "updateRegionEncryption",
    "updateAnnouncement",
    "updateBranding",
    "updateMailTemplates",
    "updateProviderRegion",
    "updateProviderPlan",
    "setBrandingLogo",
    "setBrandingFavicon",
    "updateStaffUser",
    "updateInstanceFirewalls",
    "updateFirewallSettings",
    "updateLongviewPlan",
    // These have an event of the provider: see `provider_accounts.rs`.
    "updateProviderAccount",
    "updateProviderAccountQuotas",
    "updateProviderAccountUser",
];

#[tokio::test]
async fn an_event_has_an_action_an_entity_and_a_user() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    let events = ada.get("/account/events").await.data();

    let vpc = json!({"id": 1, "label": "core", "type": "vpc", "url": "/v4/vpcs/1"});
    let subnet = json!({"id": 1, "label": "a", "type": "subnet", "url": "/v4/vpcs/1/subnets/1"});
    let event = |id: i64, action: &str, entity, secondary| {
        json!({
            "id": id, "created": BEGINNING, "seen": false, "read": false, "percent_complete": null,
            "time_remaining": null, "rate": null, "duration": null, "action": action, "username": "ada",
            "entity": entity, "status": "notification", "secondary_entity": secondary, "message": "",
        })
    };
    let created = event(1, "vpc_create", vpc.clone(), json!(null));
    assert_eq!(
        events,
        [event(2, "subnet_create", subnet, vpc), created.clone()],
        "newest first"
    );
    assert_eq!(ada.get("/account/events/1").await.json(), created);
    assert_eq!(ada.get("/account/events/3").await.status, 404);
}

#[tokio::test]
async fn the_url_of_a_config_is_below_its_instance() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    for _ in 0..2 {
        ada.post("/linode/instances", body.clone()).await;
    }
    ada.post(
        "/linode/instances/2/configs",
        json!({"label": "boot", "devices": {}}),
    )
    .await;

    let event = ada.get("/account/events").await.data()[0].clone();

    let label = ada.get("/linode/instances/2").await.json()["label"].clone();
    let instance = json!({"id": 2, "label": label, "type": "linode", "url": "/v4/linode/instances/2"});
    let url = "/v4/linode/instances/2/configs/1";
    let config = json!({"id": 1, "label": "boot", "type": "linode_config", "url": url});
    assert_eq!(
        (&event["entity"], &event["secondary_entity"]),
        (&instance, &config)
    );
}

#[tokio::test]
async fn seen_marks_all_earlier_events_and_read_marks_one_per_user() {
    let app = TestApp::new().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    for label in ["one", "two", "three"] {
        ada.create_vpc(label, &[]).await;
    }

    assert_eq!(
        &ada.post("/account/events/2/seen", json!({})).await.body[..],
        b"{}"
    );
    assert_eq!(
        &ada.post("/account/events/3/read", json!({})).await.body[..],
        b"{}"
    );
    ada.post("/account/events/1/seen", json!({})).await;

    let marks = |events: Vec<serde_json::Value>| -> Vec<_> {
        events
            .iter()
            .map(|e| (e["seen"].as_bool().unwrap(), e["read"].as_bool().unwrap()))
            .collect()
    };
    let adas = marks(ada.get("/account/events?after=0").await.data());
    assert_eq!(adas, [(true, false), (true, false), (false, true)]);
    assert_eq!(
        marks(bob.get("/account/events").await.data()),
        [(false, false); 3]
    );
    assert_eq!(ada.filter("/account/events", r#"{"read":true}"#).await.ids(), [3]);
    assert_eq!(
        ada.filter("/account/events", r#"{"seen":false}"#).await.ids(),
        [3]
    );
    assert_eq!(ada.post("/account/events/9/seen", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_reader_that_sends_its_last_id_misses_no_event() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..7 {
        ada.create_vpc(&format!("vpc-{number}"), &[]).await;
    }

    let mut ids = Vec::new();
    loop {
        let after = ids.last().copied().unwrap_or(0);
        let page = ada
            .get(&format!("/account/events?after={after}&page_size=3"))
            .await
            .ids();
        if page.is_empty() {
            break;
        }
        ids.extend(page);
    }
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7]);
    for invalid in ["-1", "x", "1.5", ""] {
        let reply = ada.get(&format!("/account/events?after={invalid}")).await;
        assert_eq!(reply.errors(), ["after after_invalid"], "{invalid}");
    }
    let both = ada.get("/account/events?after=x&page=0").await;
    assert_eq!(both.errors(), ["page page_invalid", "after after_invalid"]);
}

#[tokio::test]
async fn restricted_users_see_events_of_visible_objects_and_their_own() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").may(add_vpcs()).await;
    ada.create_vpc("hidden", &["10.0.0.0/24"]).await;
    ada.create_vpc("shared", &["10.0.0.0/24"]).await;
    app.grant("bob", Grant::Vpc(VpcId(2), Permission::ReadOnly)).await;
    bob.create_vpc("own", &[]).await;
    ada.delete("/vpcs/2").await;

    assert_eq!(
        bob.events().await,
        [
            "vpc_create 2",
            "subnet_create 2",
            "vpc_create 3",
            "subnet_delete 2",
            "vpc_delete 2"
        ]
    );
    assert_eq!(bob.get("/account/events/1").await.status, 404);
    assert_eq!(bob.post("/account/events/1/read", json!({})).await.status, 404);
}

#[tokio::test]
async fn events_are_deleted_after_ninety_days() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("old", &[]).await;
    app.advance(89 * 24 * 3600);
    ada.create_vpc("new", &[]).await;
    assert_eq!(ada.events().await.len(), 2);

    app.advance(2 * 24 * 3600);
    assert_eq!(ada.events().await, ["vpc_create 2"]);
    assert_eq!(ada.get("/account/events/1").await.status, 404);

    let more = app.store.write(garth::rules::events::sweep).await.unwrap();
    assert!(!more);
    app.advance(-91 * 24 * 3600);
    app.omit_check();
    assert_eq!(
        ada.events().await,
        ["vpc_create 2"],
        "the old event remains deleted"
    );
}

#[tokio::test]
async fn the_filters_that_pollers_send_find_the_event() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.put("/vpcs/1", json!({})).await;

    for (filter, found) in [
        (
            r#"{"+order":"asc","+order_by":"created","entity.id":1,"entity.type":"vpc","action":"vpc_create"}"#,
            vec![1],
        ),
        (
            r#"{"action":{"+neq":"profile_update"},"+order":"desc","+order_by":"id","created":{"+gt":"2024-05-25T23:51:20"}}"#,
            vec![3, 2, 1],
        ),
        (
            r#"{"+and":[{"created":{"+gte":"2024-06-01T12:00:00"}},{"id":{"+neq":3}}],"+order":"desc","+order_by":"id"}"#,
            vec![2, 1],
        ),
        (
            r#"{"status":{"+or":["pending","notification"]},"entity.type":"subnet"}"#,
            vec![2],
        ),
        (r#"{"entity.type":"compute"}"#, vec![]),
    ] {
        assert_eq!(
            ada.filter("/account/events/", filter).await.ids(),
            found,
            "{filter}"
        );
    }
}

#[tokio::test]
async fn an_update_without_a_change_is_also_an_event() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").restricted().await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    ada.post("/linode/instances/1/disks", json!({"label": "data", "size": 10}))
        .await;
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChAo6ydHnFmR+ULJzOiiJ5uVkeKcjR1jTsCeuPHp";
    ada.post("/profile/sshkeys", json!({"label": "key", "ssh_key": key}))
        .await;
    let client = json!({"label": "app", "redirect_uri": "https://app.example.com/"});
    let client = ada.post("/account/oauth-clients", client).await.json()["id"].clone();

    for (operation, path, action) in UPDATES {
        let path = path.replace("{id}", client.as_str().expect("an ID"));
        let before: Value = ada.get(&path).await.json();
        let known = ada.events().await.len();
        app.advance(1);
        let reply = ada.put(&path, json!({})).await;
        assert_eq!(reply.status, 200, "{operation}: {reply}");
        let events = ada.events().await;
        let new: Vec<_> = events[known..]
            .iter()
            .map(|event| event.split(' ').next())
            .collect();
        assert_eq!(new, [Some(action)], "{operation}");
        let after = reply.json();
        assert!(
            after["updated"].is_null() || after["updated"] != before["updated"],
            "{operation} sets updated"
        );
    }

    let puts = OPERATIONS.iter().filter(|op| op.method == Method::PUT);
    let listed = |id: &str| UPDATES.iter().any(|update| update.0 == id) || WITHOUT_EVENT.contains(&id);
    let unlisted: Vec<_> = puts.map(|op| op.id).filter(|id| !listed(id)).collect();
    assert_eq!(unlisted, [""; 0]);
}
