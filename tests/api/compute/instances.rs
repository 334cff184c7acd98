//! Instances, and the life cycle of a subnet in use.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, User};

const NANODE: &str = "g6-nanode-1";

#[tokio::test]
async fn a_new_instance_has_all_fields() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let made = ada
        .post(
            "/linode/instances",
            json!({"type": NANODE, "region": "us-east", "label": "web-1"}),
        )
        .await;

    let instance = made.json();
    assert_eq!(
        (made.status.as_u16(), instance.clone()),
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
        "no image and no interfaces make no config"
    );
    assert_eq!(ada.events().await, ["linode_create 1"]);
}

#[tokio::test]
async fn the_fields_of_an_instance_have_the_recorded_order_and_defaults() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let made = ada
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
    let text = String::from_utf8(made.body.to_vec()).unwrap();
    let places: Vec<_> = keys.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    let instance = made.json();
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
async fn the_upkeep_of_an_instance_is_permanent_and_returned() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({
        "type": NANODE, "region": "us-east", "image": "linode/debian12", "root_pass": "x",
        "alerts": {"cpu": 60, "io": 0}, "backups": {"enabled": false, "schedule": {"day": "Monday"}},
        "maintenance_policy": "linode/power_off_on", "watchdog_enabled": false, "disk_encryption": "enabled",
        "group": "web", "metadata": {"user_data": "bXk="}, "kernel": "linode/grub2", "network_helper": false,
        "interface_generation": "legacy_config", "private_ip": false, "backups_enabled": false,
        "firewall_id": 0, "stackscript_data": {}, "placement_group": null, "ipv4": [],
    });
    let made = ada.post("/linode/instances", body).await.json();
    assert_eq!(made, ada.get("/linode/instances/1").await.json());
    let upkeep = |instance: &Value| {
        let (alerts, backups) = (&instance["alerts"], &instance["backups"]);
        json!([
            alerts["cpu"],
            alerts["io"],
            alerts["transfer_quota"],
            backups["enabled"],
            backups["schedule"]["day"],
            backups["schedule"]["window"],
            instance["maintenance_policy"],
            instance["watchdog_enabled"],
        ])
    };
    let kept = json!([60, 0, 80, false, "Monday", null, "linode/power_off_on", false]);
    assert_eq!(upkeep(&made), kept);
    assert_eq!(
        (&made["disk_encryption"], &made["group"], &made["has_user_data"]),
        (&json!("enabled"), &json!("web"), &json!(true))
    );
    let disk = ada.get("/linode/instances/1/disks/1").await.json();
    assert_eq!(disk["disk_encryption"], "enabled");
    let config = ada.get("/linode/instances/1/configs/1").await.json();
    assert_eq!(
        (
            &config["kernel"],
            &config["helpers"]["network"],
            &config["helpers"]["distro"]
        ),
        (&json!("linode/grub2"), &json!(false), &json!(true))
    );

    // As linodego sends it: an empty policy is none.
    let same = ada
        .put("/linode/instances/1", json!({"maintenance_policy": ""}))
        .await;
    assert_eq!(upkeep(&same.json()), kept);
    assert_eq!(
        ada.put("/linode/instances/1", made).await.status,
        200,
        "a response can be sent back as a request"
    );
    let zeros = json!({"cpu": 60, "io": 0, "network_in": 0, "network_out": 0, "transfer_quota": 0});
    let change = json!({
        "alerts": zeros, "backups": {"schedule": {"window": "W4"}}, "maintenance_policy": "linode/migrate",
        "watchdog_enabled": true,
    });
    assert_eq!(
        upkeep(&ada.put("/linode/instances/1", change).await.json()),
        json!([60, 0, 0, false, "Monday", "W4", "linode/migrate", true])
    );
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    assert_eq!(
        upkeep(&ada.get("/linode/instances/1").await.json()),
        json!([60, 0, 0, false, "Monday", "W4", "linode/migrate", true]),
        "a power change keeps it"
    );
}

#[tokio::test]
async fn disks_are_encrypted_by_default_in_regions_that_support_it() {
    let app = TestApp::with(|policy, _| {
        let region = policy.regions.iter_mut().find(|region| region.id == "us-east");
        let region = region.expect("the region exists");
        region.capabilities.push("Disk Encryption".to_owned());
    })
    .await;
    let ada = app.user("ada").await;
    let image = json!({"type": NANODE, "image": "linode/debian12", "root_pass": "x"});
    for (id, extra, expected) in [
        (1, json!({"region": "us-east"}), "enabled"),
        (
            2,
            json!({"region": "us-east", "disk_encryption": "disabled"}),
            "disabled",
        ),
        (3, json!({"region": "us-mia"}), "disabled"),
        (
            4,
            json!({"region": "us-mia", "disk_encryption": "enabled"}),
            "enabled",
        ),
    ] {
        let mut body = image.as_object().unwrap().clone();
        body.extend(extra.as_object().unwrap().clone());
        let made = ada.post("/linode/instances", Value::Object(body)).await.json();
        assert_eq!(made["disk_encryption"], expected, "{extra}");
        let disks = ada.get(&format!("/linode/instances/{id}/disks")).await.data();
        assert!(disks.iter().all(|disk| disk["disk_encryption"] == expected));
    }
}

#[tokio::test]
async fn fields_that_garth_cannot_keep_are_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({
        "type": NANODE, "region": "us-east", "disk_encryption": "strong",
        "alerts": {"cpu": 4801, "io": -1, "network_in": "much", "user_alerts": [1]},
        "backups": {"enabled": true, "schedule": {"day": "Someday", "window": "W1"}},
        "maintenance_policy": "linode/none", "interface_generation": "linode", "stackscript_id": 9,
        "backups_enabled": true, "backup_id": 4, "placement_group": {"id": 1}, "firewall_id": 3,
        "ipv4": [""],
    });
    let refused = ada.post("/linode/instances", body).await;
    assert_eq!(
        refused.errors(),
        [
            "disk_encryption choice_invalid",
            "alerts.cpu out_of_range",
            "alerts.network_in wrong_type",
            "alerts.io out_of_range",
            "alerts.user_alerts not_offered",
            "backups.enabled not_offered",
            "backups.schedule.day choice_invalid",
            "backups.schedule.window choice_invalid",
            "maintenance_policy choice_invalid",
            "interface_generation not_offered",
            "stackscript_id not_offered",
            "backups_enabled not_offered",
            "backup_id not_offered",
            "placement_group not_offered",
            "firewall_id not_offered",
            "ipv4 not_offered",
        ]
    );
    assert_eq!(ada.count("/linode/instances").await, 0);
    ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;
    let change =
        json!({"maintenance_policy": "other", "backups": {"enabled": true}, "alerts": {"cpu": 5000}});
    assert_eq!(
        ada.put("/linode/instances/1", change).await.errors(),
        [
            "alerts.cpu out_of_range",
            "backups.enabled not_offered",
            "maintenance_policy choice_invalid"
        ]
    );
    let encrypted = json!({"label": "a", "size": 1, "disk_encryption": "enabled"});
    assert_eq!(
        ada.post("/linode/instances/1/disks", encrypted).await.errors(),
        ["disk_encryption not_offered"]
    );
}

#[tokio::test]
async fn an_instance_labeled_like_a_host_does_not_block_the_next_one() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": NANODE, "region": "us-east"});
    let first = ada.post("/linode/instances", body.clone()).await.json();
    let host = first["host_uuid"].as_str().unwrap();
    // All hosts are equal here, as if the random number of the next one had been guessed.
    let labeled = json!({"type": NANODE, "region": "us-east", "label": host});
    assert_eq!(ada.post("/linode/instances", labeled).await.status, 200);
    let made = ada.post("/linode/instances", body).await;
    assert_eq!(
        (made.status.as_u16(), &made.json()["label"]),
        (200, &json!("linode3"))
    );
}

#[tokio::test]
async fn an_instance_from_an_image_gets_a_disk_and_a_config_and_boots() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": NANODE, "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
    let made = ada.post("/linode/instances", body.clone()).await.json();

    assert_eq!(
        (&made["status"], &made["label"], &made["image"]),
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
        "it is off already"
    );
    assert_eq!(
        ada.post("/linode/instances/1/reboot", json!({})).await.errors(),
        ["- config_missing"]
    );
    assert_eq!(ada.events().await, ["linode_create 1", "linode_update 1"]);
}

#[tokio::test]
async fn a_boot_uses_the_requested_the_only_or_the_last_config() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;
    ada.post(
        "/linode/instances/1/configs",
        json!({"label": "one", "devices": {}}),
    )
    .await;
    assert_eq!(ada.post("/linode/instances/1/boot", json!({})).await.status, 200);
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    ada.post(
        "/linode/instances/1/configs",
        json!({"label": "two", "devices": {}}),
    )
    .await;

    assert_eq!(
        ada.post("/linode/instances/1/boot", json!({"config_id": 9}))
            .await
            .errors(),
        ["config_id config_invalid"]
    );
    assert_eq!(
        ada.post("/linode/instances/1/boot", json!({"config_id": 2}))
            .await
            .status,
        200
    );
    assert_eq!(
        ada.post("/linode/instances/1/boot", json!({"config_id": 1}))
            .await
            .errors(),
        ["- instance_state"]
    );
    assert_eq!(
        ada.post("/linode/instances/1/boot", json!({"config_id": 2}))
            .await
            .status,
        200,
        "it runs with it already"
    );
    assert_eq!(
        ada.delete("/linode/instances/1/configs/2").await.errors(),
        ["- config_active"]
    );
    assert_eq!(ada.delete("/linode/instances/1/configs/1").await.status, 200);
    let booted = ada
        .filter("/account/events", r#"{"action":"linode_boot","+order_by":"id"}"#)
        .await
        .data();
    let configs: Vec<_> = booted
        .iter()
        .map(|event| event["secondary_entity"]["label"].clone())
        .collect();
    assert_eq!(configs, ["one", "two"]);
}

#[tokio::test]
async fn config_id_0_boots_the_last_config_or_else_the_first() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;
    let zero = json!({"config_id": 0});
    assert_eq!(
        ada.post("/linode/instances/1/boot", zero.clone()).await.errors(),
        ["- config_missing"]
    );
    for label in ["one", "two"] {
        let body = json!({"label": label, "devices": {}});
        ada.post("/linode/instances/1/configs", body).await;
    }

    for (path, body) in [
        ("boot", zero.clone()),
        ("reboot", json!({"config_id": 2})),
        ("reboot", zero.clone()),
        ("shutdown", json!({})),
        ("boot", zero),
    ] {
        let reply = ada.post(&format!("/linode/instances/1/{path}"), body).await;
        assert_eq!(reply.status, 200, "{path}");
    }
    let events = ada.get("/account/events?after=0").await.data();
    let booted = events.iter().map(|event| &event["secondary_entity"]);
    let configs = booted.filter(|entity| entity["type"] == "linode_config");
    let configs: Vec<_> = configs.map(|entity| entity["label"].as_str().unwrap()).collect();
    assert_eq!(configs[2..], ["one", "two", "two", "two"]);
}

/// The account's events as `action entity status`.
async fn story(user: &User<'_>) -> Vec<String> {
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
async fn a_subnet_in_use_can_be_deleted_only_in_the_documented_order() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.creates_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let interfaces =
        json!([{"purpose": "public"}, {"purpose": "vpc", "subnet_id": 2, "ipv4": {"nat_1_1": "any"}}]);
    let body = json!({"type": NANODE, "region": "us-east", "label": "web-1", "interfaces": interfaces});
    ada.post("/linode/instances", body).await;
    assert_eq!(ada.post("/linode/instances/1/boot", json!({})).await.status, 200);

    let record = json!({
        "address": "10.0.1.2", "address_range": null, "vpc_id": 1, "subnet_id": 2, "region": "us-east",
        "linode_id": 1, "compute_id": 1, "config_id": 1, "interface_id": 2, "active": true,
        "nat_1_1": "192.0.2.2", "gateway": "10.0.1.1", "prefix": 24, "subnet_mask": "255.255.255.0",
    });
    for path in ["/vpcs/ips", "/networking/vpcs/ips", "/vpcs/1/ips"] {
        assert_eq!(
            ada.get(path).await.data()[..],
            *std::slice::from_ref(&record),
            "{path}"
        );
    }
    let compute = json!([{"id": 1, "interfaces": [{"id": 2, "active": true, "config_id": 1}]}]);
    let subnet = ada.get("/vpcs/1/subnets/2").await.json();
    assert_eq!((&subnet["linodes"], &subnet["computes"]), (&compute, &compute));

    let (before, recorded) = (ada.get("/vpcs").await.body, story(&ada).await);
    for path in ["/vpcs/1/subnets/2", "/vpcs/1"] {
        let refused = ada.delete(path).await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (400, vec!["- subnet_in_use".to_owned()])
        );
        let error = &refused.json()["errors"][0];
        assert_eq!(
            error["reason"],
            "Subnet b is in use by instance 1 (web-1), config 1, interface 2; shut the instance down, then delete the interface"
        );
        let blocker = json!({
            "subnet_id": 2, "linode_id": 1, "compute_id": 1, "linode_label": "web-1", "config_id": 1,
            "interface_id": 2, "active": true,
        });
        assert_eq!(error["blocker"], blocker);
    }
    let interface = "/linode/instances/1/configs/1/interfaces/2";
    assert_eq!(ada.delete(interface).await.errors(), ["- interface_active"]);
    assert_eq!(
        (ada.get("/vpcs").await.body, story(&ada).await),
        (before, recorded),
        "nothing changed, and no event was recorded"
    );

    ada.post("/linode/instances/1/shutdown", json!({})).await;
    let inactive = ada.delete("/vpcs/1").await.json();
    assert_eq!(inactive["errors"][0]["blocker"]["active"], false);
    assert_eq!(ada.delete(interface).await.status, 200);
    assert_eq!(ada.delete("/vpcs/1/subnets/2").await.status, 200);
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    assert_eq!(
        story(&ada).await,
        [
            "vpc_create 1 notification",
            "subnet_create 1 notification",
            "subnet_create 2 notification",
            "linode_create 1 finished",
            "linode_boot 1 finished",
            "linode_shutdown 1 finished",
            "linode_config_update 1 notification",
            "subnet_delete 2 notification",
            "subnet_delete 1 notification",
            "vpc_delete 1 notification",
        ]
    );
}

#[tokio::test]
async fn deleting_an_instance_releases_its_addresses_in_any_state() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.creates_vpc("core", &["10.0.0.0/24"]).await;
    ada.creates_instance_on(1).await;
    ada.post("/linode/instances/1/boot", json!({})).await;

    assert_eq!(ada.delete("/linode/instances/1").await.status, 200);
    assert_eq!(ada.get("/linode/instances/1").await.status, 404);
    assert_eq!(ada.count("/vpcs/ips").await, 0);
    let again = ada.creates_instance_on(1).await.json();
    assert_eq!(
        (&again["id"], &again["ipv4"]),
        (&json!(2), &json!(["192.0.2.2"])),
        "the address is free, the id is not"
    );
    assert_eq!(ada.get("/vpcs/ips").await.data()[0]["address"], "10.0.0.2");
    ada.delete("/linode/instances/2").await;
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
}

#[tokio::test]
async fn the_event_of_a_deletion_ends_as_finished_and_outlives_the_instance() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;

    ada.delete("/linode/instances/1").await;

    let filter = r#"{"entity.type":"linode","entity.id":1,"action":"linode_delete"}"#;
    let found = ada.filter("/account/events", filter).await.ids();
    assert_eq!(found, [2]);
    assert_eq!(ada.get("/linode/instances/1").await.status, 404);
    let event = ada.get("/account/events/2").await.json();
    assert_eq!(
        (&event["status"], &event["percent_complete"], &event["duration"]),
        (&json!("finished"), &json!(100), &json!(0.0))
    );
    assert_eq!(event["entity"]["label"], "linode1");
}

#[tokio::test]
async fn public_addresses_can_be_exhausted_and_are_reused() {
    let range = garth::model::cidr::Cidr::parse("203.0.113.0/29").unwrap();
    let app = TestApp::with(|policy, _| policy.public_ranges = vec![range]).await;
    let ada = app.user("ada").await;
    let create = async || {
        ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
            .await
    };

    for last in 2..=6 {
        assert_eq!(
            create().await.json()["ipv4"],
            json!([format!("203.0.113.{last}")])
        );
    }
    assert_eq!(create().await.errors(), ["- addresses_exhausted"]);
    for freed in [1, 3] {
        ada.delete(&format!("/linode/instances/{freed}")).await;
    }
    assert_eq!(create().await.json()["ipv4"], json!(["203.0.113.2"]));
    assert_eq!(create().await.json()["ipv4"], json!(["203.0.113.4"]));
    assert_eq!(create().await.errors(), ["- addresses_exhausted"]);
}

#[tokio::test]
async fn a_slow_power_change_is_scheduled_then_finished_while_the_instance_is_busy() {
    let app = TestApp::with(|policy, _| policy.settle_ms = 10_000).await;
    let ada = app.user("ada").await;
    let body = json!({"type": NANODE, "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
    assert_eq!(
        ada.post("/linode/instances", body).await.json()["status"],
        "provisioning"
    );
    let settle = async || app.store.write(garth::rules::power::run_due_jobs).await.unwrap();
    let state = async || {
        let status = ada.get("/linode/instances/1").await.json()["status"]
            .as_str()
            .unwrap()
            .to_owned();
        (status, story(&ada).await.pop().unwrap())
    };

    settle().await;
    assert_eq!(
        state().await,
        ("provisioning".to_owned(), "linode_create 1 scheduled".to_owned())
    );
    app.advance(5);
    settle().await;
    assert_eq!(
        state().await,
        ("provisioning".to_owned(), "linode_create 1 started".to_owned())
    );
    let busy = ada.post("/linode/instances/1/boot", json!({})).await;
    assert_eq!(
        (busy.errors(), busy.reason()),
        (vec!["- instance_busy".to_owned()], "Linode busy.".to_owned())
    );
    app.advance(5);
    settle().await;
    assert_eq!(
        state().await,
        ("booting".to_owned(), "linode_boot 1 scheduled".to_owned())
    );
    assert_eq!(story(&ada).await[0], "linode_create 1 finished");
    app.advance(60);
    settle().await;
    assert_eq!(
        state().await,
        ("running".to_owned(), "linode_boot 1 finished".to_owned())
    );
    let event = ada.get("/account/events/2").await.json();
    assert_eq!(
        (&event["percent_complete"], &event["duration"], &event["username"]),
        (&json!(100), &json!(10.0), &json!("ada"))
    );
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    assert_eq!(state().await.0, "shutting_down");
    assert_eq!(
        ada.delete("/linode/instances/1").await.status,
        200,
        "deleting is always allowed"
    );
    assert_eq!(
        story(&ada).await[2],
        "linode_shutdown 1 failed",
        "the change does not wait forever"
    );
    app.advance(60);
    settle().await;
}

#[tokio::test]
async fn restricted_users_see_and_change_only_granted_instances() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.creates_vpc("core", &["10.0.0.0/24"]).await;
    for _ in 0..3 {
        ada.creates_instance_on(1).await;
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
        "addresses are seen through the VPC"
    );
    let interface =
        json!({"label": "new", "devices": {}, "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    let hidden = bob.post("/linode/instances/2/configs", interface).await;
    assert_eq!(
        hidden.errors(),
        ["interfaces[0].subnet_id subnet_invalid"],
        "he may not know of that subnet"
    );
    assert!(
        bob.events()
            .await
            .iter()
            .all(|event| event.ends_with(" 1") || event.ends_with(" 2"))
    );
}

#[tokio::test]
async fn a_blocker_shows_the_instance_label_only_if_it_is_visible() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.creates_vpc("core", &["10.0.0.0/24"]).await;
    ada.creates_instance_on(1).await;
    let grant = Grant::Vpc(garth::model::id::VpcId(1), Permission::ReadWrite);
    let bob = app.user("bob").may(grant).await;

    let refused = bob.delete("/vpcs/1").await.json();

    let blocker = &refused["errors"][0]["blocker"];
    assert_eq!(
        (&blocker["linode_id"], blocker.get("linode_label")),
        (&json!(1), None)
    );
    assert!(!refused.to_string().contains("linode1"), "{refused}");
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
