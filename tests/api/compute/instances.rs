//! Instances: fields, creation, changes, permissions and filters.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, User};

pub const NANODE: &str = "g6-nanode-1";

/// The account's events as `action entity status`.
pub async fn event_lines(user: &User<'_>) -> Vec<String> {
    let events = user.get("/account/events?after=0&page_size=500").await.data();
    let line = |event: &Value| {
        let (action, status) = (
            event["action"].as_str().unwrap(),
            event["status"].as_str().unwrap(),
        );
        format!("{action} {} {status}", event["entity"]["id"])
    };
    events.iter().map(line).collect()
}

#[tokio::test]
async fn a_new_instance_has_all_fields() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let created = ada
        .post(
            "/linode/instances",
            json!({"type": NANODE, "region": "us-east", "label": "web-1"}),
        )
        .await;

    let instance = created.json();
    assert_eq!(
        (created.status.as_u16(), instance.clone()),
        (200, ada.get("/compute/instances/1").await.json())
    );
    assert_eq!(
        (&instance["label"], &instance["status"], &instance["type"]),
        (&json!("web-1"), &json!("offline"), &json!(NANODE))
    );
    assert_eq!(
        instance["specs"],
        json!({"disk": 25600, "memory": 1024, "vcpus": 1, "gpus": 0, "transfer": 1000, "accelerated_devices": 0})
    );
    assert_eq!(
        (&instance["ipv4"], &instance["hypervisor"]),
        (&json!(["192.0.2.2"]), &json!("kvm"))
    );
    assert_eq!(
        (&instance["created"], &instance["image"]),
        (&json!(BEGINNING), &json!(null))
    );
    assert_eq!(instance["host_uuid"].as_str().unwrap().len(), 40);
    assert_eq!(
        ada.count("/linode/instances/1/configs").await,
        0,
        "without an image and interfaces, there is no config"
    );
    assert_eq!(ada.events().await, ["linode_create 1"]);
}

#[tokio::test]
async fn the_fields_of_an_instance_have_the_recorded_order_and_defaults() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let created = ada
        .post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;
    let keys = [
        "id",
        "label",
        "group",
        "status",
        "created",
        "updated",
        "type",
        "ipv4",
        "ipv6",
        "image",
        "region",
        "site_type",
        "specs",
        "alerts",
        "backups",
        "hypervisor",
        "watchdog_enabled",
        "tags",
        "host_uuid",
        "has_user_data",
        "placement_group",
        "disk_encryption",
        "lke_cluster_id",
        "capabilities",
        "interface_generation",
        "maintenance_policy",
        "locks",
    ];
    let text = String::from_utf8(created.body.to_vec()).unwrap();
    let places: Vec<_> = keys.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    let instance = created.json();
    assert_eq!(instance.as_object().unwrap().len(), keys.len());
    for (key, value) in [
        ("site_type", json!("core")),
        ("disk_encryption", json!("disabled")),
        ("lke_cluster_id", json!(null)),
        ("capabilities", json!([])),
        ("interface_generation", json!("legacy_config")),
        ("maintenance_policy", json!("linode/migrate")),
        ("locks", json!([])),
    ] {
        assert_eq!(instance[key], value, "{key}");
    }
    let alerts = json!({
        "cpu": 90, "network_in": 10, "network_out": 10, "transfer_quota": 80, "io": 10000,
        "system_alerts": [], "user_alerts": [],
    });
    assert_eq!(instance["alerts"], alerts);
}

#[tokio::test]
async fn an_instance_labeled_like_a_host_does_not_block_the_next_one() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": NANODE, "region": "us-east"});
    let first = ada.post("/linode/instances", body.clone()).await.json();
    let host = first["host_uuid"].as_str().unwrap();
    // All hosts have the same ID here, as if a user had guessed the random ID of the next host.
    let labeled = json!({"type": NANODE, "region": "us-east", "label": host});
    assert_eq!(ada.post("/linode/instances", labeled).await.status, 200);
    let created = ada.post("/linode/instances", body).await;
    assert_eq!(
        (created.status.as_u16(), &created.json()["label"]),
        (200, &json!("linode3"))
    );
}

#[tokio::test]
async fn an_instance_from_an_image_gets_a_disk_and_a_config_and_boots() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": NANODE, "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
    let created = ada.post("/linode/instances", body.clone()).await.json();

    assert_eq!(
        (&created["status"], &created["label"], &created["image"]),
        (&json!("running"), &json!("linode1"), &json!("linode/debian12"))
    );
    let configs = ada.get("/linode/instances/1/configs").await.data();
    assert_eq!(configs[0]["label"], "My Debian 12 Disk Profile");
    assert_eq!(
        configs[0]["devices"]["sda"],
        json!({"disk_id": 1, "volume_id": null})
    );
    assert_eq!(ada.events().await, ["linode_create 1", "linode_boot 1"]);
    let mut off = body.clone();
    off["booted"] = json!(false);
    assert_eq!(
        ada.post("/linode/instances", off).await.json()["status"],
        "offline"
    );
}

#[tokio::test]
async fn an_instance_without_a_label_gets_a_free_default_label() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let named = json!({"type": NANODE, "region": "us-east", "label": "LINODE2", "tags": ["prod", "prod"]});
    assert_eq!(
        ada.post("/linode/instances", named).await.json()["tags"],
        json!(["prod"])
    );

    let second = ada
        .post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;

    assert_eq!(second.json()["label"], "linode2-1");
}

#[tokio::test]
async fn all_errors_of_a_create_are_reported_together() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post(
        "/linode/instances",
        json!({"type": NANODE, "region": "us-east", "label": "taken"}),
    )
    .await;

    let reply = ada
        .post(
            "/linode/instances",
            json!({"type": "huge", "region": "mars", "label": "Taken", "image": "linode/none", "tags": ["x", 5]}),
        )
        .await;

    assert_eq!(
        reply.errors(),
        [
            "type plan_invalid",
            "region region_invalid",
            "label label_taken",
            "image image_invalid",
            "tags[0] tag_invalid",
            "tags[1] wrong_type",
            "root_pass credentials_missing",
        ]
    );
    assert_eq!(reply.reason(), "A valid plan type by that ID was not found");
    assert_eq!(ada.count("/linode/instances").await, 1);
}

#[tokio::test]
async fn labels_tags_and_group_change_and_a_boot_needs_a_config() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;

    app.advance(9);
    let changed = ada
        .put(
            "/linode/instances/1",
            json!({"label": "db.main", "tags": ["prod"], "group": "g"}),
        )
        .await
        .json();
    assert_eq!(
        (&changed["label"], &changed["tags"], &changed["group"]),
        (&json!("db.main"), &json!(["prod"]), &json!("g"))
    );
    assert_eq!(changed["updated"], "2024-06-01T12:00:09");
    assert_eq!(
        ada.put("/linode/instances/1", json!({"label": "a"}))
            .await
            .errors(),
        ["label label_length"]
    );
    assert_eq!(
        ada.post("/linode/instances/1/boot", json!({})).await.errors(),
        ["- config_missing"]
    );
    assert_eq!(
        ada.post("/linode/instances/1/shutdown", json!({})).await.status,
        200,
        "the instance is already offline"
    );
    assert_eq!(
        ada.post("/linode/instances/1/reboot", json!({})).await.errors(),
        ["- config_missing"]
    );
    assert_eq!(ada.events().await, ["linode_create 1", "linode_update 1"]);
}

#[tokio::test]
async fn restricted_users_see_and_change_only_granted_instances() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    for _ in 0..3 {
        ada.create_instance_on(1).await;
    }
    let bob = app
        .user("bob")
        .may(Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .await;
    app.grant("bob", Grant::Linode(InstanceId(2), Permission::ReadWrite))
        .await;

    assert_eq!(bob.get("/linode/instances").await.ids(), [1, 2]);
    assert_eq!(bob.post("/linode/instances/1/boot", json!({})).await.status, 403);
    assert_eq!(bob.post("/linode/instances/2/boot", json!({})).await.status, 200);
    assert_eq!(bob.get("/linode/instances/3").await.status, 404);
    assert_eq!(
        bob.get("/linode/instances/3/configs/3/interfaces").await.status,
        404
    );
    assert_eq!(
        bob.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
            .await
            .status,
        403
    );
    assert_eq!(
        bob.count("/vpcs/ips").await,
        0,
        "a list of VPC addresses has only those of visible VPCs"
    );
    let interface =
        json!({"label": "new", "devices": {}, "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    let hidden = bob.post("/linode/instances/2/configs", interface).await;
    assert_eq!(
        hidden.errors(),
        ["interfaces[0].subnet_id subnet_invalid"],
        "bob cannot see the subnet"
    );
    assert!(
        bob.events()
            .await
            .iter()
            .all(|event| event.ends_with(" 1") || event.ends_with(" 2"))
    );
}

#[tokio::test]
async fn create_and_update_of_an_instance_have_the_same_validation() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let make = async |more: Value| {
        let mut body = json!({"type": "g6-nanode-1", "region": "us-east"});
        let fields = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        ada.post("/compute/instances", body).await
    };
    assert_eq!(
        make(json!({"group": "a\u{0}b"})).await.errors(),
        ["group control_characters"]
    );
    assert_eq!(
        make(json!({"group": "a".repeat(256)})).await.errors(),
        ["group too_long"]
    );
    let wrong = json!({
        "image": "linode/debian12",
        "metadata": {"user_data": {}},
        "root_pass": 1,
        "authorized_keys": "key",
        "authorized_users": ["ada", 2],
    });
    assert_eq!(
        make(wrong).await.errors(),
        [
            "metadata.user_data wrong_type",
            "root_pass wrong_type",
            "authorized_keys wrong_type",
            "authorized_users[1] wrong_type",
        ]
    );
}

#[tokio::test]
async fn locks_of_an_instance_are_not_offered() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = |locks: Value| json!({"type": "g6-nanode-1", "region": "us-east", "locks": locks});
    for locks in [json!(["cannot_delete"]), json!("cannot_delete"), json!([{}])] {
        let refused = ada.post("/linode/instances", body(locks.clone())).await;
        assert_eq!(refused.errors(), ["locks not_offered"], "{locks}");
    }
    assert_eq!(ada.post("/linode/instances", body(json!([]))).await.status, 200);
    let refused = ada
        .put("/linode/instances/1", json!({"locks": ["cannot_delete"]}))
        .await;
    assert_eq!(refused.errors(), ["locks not_offered"]);
    let refused = ada
        .put("/linode/instances/1", json!({"placement_group": {"id": 3}}))
        .await;
    assert_eq!(refused.errors(), ["placement_group not_offered"]);
    // Clients send the whole object back.
    let instance = ada.get("/linode/instances/1").await.json();
    let echoed = ada.put("/linode/instances/1", instance.clone()).await;
    assert_eq!(
        (echoed.status.as_u16(), &echoed.json()["locks"]),
        (200, &json!([])),
        "{echoed}"
    );
}

#[tokio::test]
async fn user_data_must_be_base64() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let make = async |user_data: &str| {
        let metadata = json!({"user_data": user_data});
        let body = json!({"type": "g6-nanode-1", "region": "us-east", "metadata": metadata});
        ada.post("/linode/instances", body).await
    };
    for invalid in [
        "#cloud-config",
        "bXk",
        "bXk==",
        "b=Xk",
        "====",
        "bXk=\n",
        "bX-_",
        "bXk=bXk=",
        "=",
        "é=",
    ] {
        let refused = make(invalid).await;
        assert_eq!(
            refused.errors(),
            ["metadata.user_data user_data_invalid"],
            "{invalid}"
        );
    }
    for (valid, has_user_data) in [
        ("", false),
        ("bXk=", true),
        ("bQ==", true),
        ("bXkx", true),
        ("+/+/", true),
    ] {
        let created = make(valid).await;
        assert_eq!(created.status, 200, "{created}");
        assert_eq!(created.json()["has_user_data"], has_user_data, "{valid}");
    }
}

#[tokio::test]
async fn an_unknown_region_of_an_instance_has_one_error() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1}]);
    let body = json!({"type": "g6-nanode-1", "region": "mars", "interfaces": interfaces});
    let refused = ada.post("/linode/instances", body).await;
    assert_eq!(refused.errors(), ["region region_invalid"]);
}

#[tokio::test]
async fn instances_are_filtered_by_the_fields_that_clients_send() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (label, region, group) in [("web", "us-east", "a"), ("api", "fr-par", "b")] {
        let body = json!({"type": NANODE, "region": region, "label": label, "group": group});
        ada.post("/linode/instances", body).await;
        app.advance(60);
    }
    for (filter, ids) in [
        (
            r#"{"site_type": "core", "+order": "asc", "+order_by": "label"}"#,
            vec![2, 1],
        ),
        (r#"{"site_type": "distributed"}"#, vec![]),
        (r#"{"+order_by": "site_type", "+order": "desc"}"#, vec![2, 1]),
        (r#"{"updated": {"+gt": "2024-06-01T12:00:30"}}"#, vec![2]),
        (
            r#"{"+and": [{"+or": [{"id": 2}]}, {"+or": [{"label": "api"}, {"label": "b"}]}, {"+or": [{"group": "b"}]}]}"#,
            vec![2],
        ),
    ] {
        let found = ada.filter("/linode/instances", filter).await;
        assert_eq!(found.ids(), ids, "{filter}");
    }
}
