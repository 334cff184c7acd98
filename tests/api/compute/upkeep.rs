//! Alerts, backups, maintenance policies and other upkeep of instances.

use serde_json::{Value, json};

use super::instances::NANODE;
use crate::harness::TestApp;

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
    let created = ada.post("/linode/instances", body).await.json();
    assert_eq!(created, ada.get("/linode/instances/1").await.json());
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
    let stored = json!([60, 0, 80, false, "Monday", null, "linode/power_off_on", false]);
    assert_eq!(upkeep(&created), stored);
    assert_eq!(
        (
            &created["disk_encryption"],
            &created["group"],
            &created["has_user_data"]
        ),
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

    // As linodego sends it: an empty policy means no policy.
    let same = ada
        .put("/linode/instances/1", json!({"maintenance_policy": ""}))
        .await;
    assert_eq!(upkeep(&same.json()), stored);
    assert_eq!(
        ada.put("/linode/instances/1", created).await.status,
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
        "a power change does not change it"
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
        let created = ada.post("/linode/instances", Value::Object(body)).await.json();
        assert_eq!(created["disk_encryption"], expected, "{extra}");
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
