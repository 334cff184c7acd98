//! Booting and shutting down instances.

use serde_json::json;

use super::instances::{NANODE, event_lines};
use crate::harness::TestApp;

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
        "the instance already runs with this config"
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

/// The Terraform provider shuts an instance down to resize its disks, and then reboots it.
#[tokio::test]
async fn a_reboot_boots_an_instance_that_is_not_running() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({
        "type": NANODE, "region": "us-east", "image": "linode/debian12", "root_pass": "x", "booted": false,
    });
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);

    let rebooted = ada
        .post("/linode/instances/1/reboot", json!({"config_id": 1}))
        .await;

    assert_eq!(rebooted.json(), json!({}));
    assert_eq!(ada.get("/linode/instances/1").await.json()["status"], "running");
    assert_eq!(
        event_lines(&ada).await.pop().as_deref(),
        Some("linode_reboot 1 finished")
    );
    assert_eq!(
        ada.delete("/linode/instances/1/configs/1").await.errors(),
        ["- config_active"]
    );
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
        (status, event_lines(&ada).await.pop().unwrap())
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
    let delete_config = async || ada.delete("/linode/instances/1/configs/1").await.errors();
    assert_eq!(delete_config().await, ["- config_active"]);
    app.advance(5);
    settle().await;
    assert_eq!(
        state().await,
        ("booting".to_owned(), "linode_boot 1 scheduled".to_owned())
    );
    assert_eq!(delete_config().await, ["- config_active"]);
    assert_eq!(event_lines(&ada).await[0], "linode_create 1 finished");
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
        event_lines(&ada).await[2],
        "linode_shutdown 1 failed",
        "the pending change has ended"
    );
    let failed = ada.get("/account/events/3").await.json();
    assert_eq!(
        (&failed["percent_complete"], &failed["duration"]),
        (&json!(0), &json!(null)),
        "the change had not started"
    );
    app.advance(60);
    settle().await;
}
