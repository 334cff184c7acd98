//! Settings of configs: the kernel, the devices, the root device, the memory limit.

use serde_json::{Value, json};

use crate::harness::{TestApp, User};

const CONFIGS: &str = "/linode/instances/1/configs";

/// A user with an instance that has disks of these sizes.
async fn set_up<'a>(app: &'a TestApp, disks: &[i64]) -> User<'a> {
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    for size in disks {
        let body = json!({"label": "data", "size": size});
        assert_eq!(ada.post("/linode/instances/1/disks", body).await.status, 200);
    }
    ada
}

#[tokio::test]
async fn settings_of_a_config_are_validated() {
    let app = TestApp::new().await;
    let ada = set_up(&app, &[]).await;

    let body = json!({
        "label": "c", "devices": {"sda": {"disk_id": 9}}, "memory_limit": -4, "run_level": "zz", "virt_mode": "q",
    });
    let reply = ada.post("/linode/instances/1/configs", body).await;

    assert_eq!(
        reply.errors(),
        [
            "memory_limit out_of_range",
            "run_level choice_invalid",
            "virt_mode choice_invalid",
            "devices.sda.disk_id device_invalid",
        ]
    );
}

#[tokio::test]
async fn devices_that_garth_does_not_have_are_refused() {
    let app = TestApp::new().await;
    let ada = set_up(&app, &[]).await;
    let none = json!({
        "label": "a", "initrd": null, "init_rd": null,
        "devices": {"sda": {"disk_id": null, "volume_id": null}, "sdi": null},
    });
    assert_eq!(ada.post("/linode/instances/1/configs", none).await.status, 200);
    let body = json!({
        "label": "b", "initrd": 5, "init_rd": 6,
        "devices": {"sda": {"volume_id": 7}, "sdi": {"disk_id": 1}},
    });
    for reply in [
        ada.post("/linode/instances/1/configs", body.clone()).await,
        ada.put("/linode/instances/1/configs/1", body).await,
    ] {
        assert_eq!(
            reply.errors(),
            [
                "devices.sda.volume_id not_offered",
                "devices.sdi not_offered",
                "initrd not_offered",
                "init_rd not_offered",
            ]
        );
    }
}

#[tokio::test]
async fn a_config_has_a_kernel_of_the_catalog() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    ada.post("/linode/instances", body).await;
    let configs = "/linode/instances/1/configs";
    for unknown in ["nope", ""] {
        let refused = ada.post(configs, json!({"label": "a", "kernel": unknown})).await;
        assert_eq!(refused.errors(), ["kernel choice_invalid"], "{unknown:?}");
    }
    let created = ada
        .post(configs, json!({"label": "a", "kernel": "linode/grub2"}))
        .await;
    assert_eq!(created.json()["kernel"], "linode/grub2");
}

#[tokio::test]
async fn a_disk_is_at_most_one_device_of_a_config() {
    let app = TestApp::new().await;
    let ada = set_up(&app, &[10, 10]).await;
    let device = |id: i64| json!({"disk_id": id});
    let two = json!({"label": "two", "devices": {"sda": device(1), "sdc": device(2)}});
    assert_eq!(ada.post(CONFIGS, two).await.status, 200);

    let twice = json!({"label": "twice", "devices": {"sda": device(1), "sdb": device(2), "sdh": device(1)}});
    for reply in [
        ada.post(CONFIGS, twice.clone()).await,
        ada.put(&format!("{CONFIGS}/1"), twice).await,
    ] {
        assert_eq!(reply.errors(), ["devices.sdh.disk_id device_invalid"]);
        assert_eq!(reply.reason(), "The disk is already the device sda");
    }
    let swapped = json!({"devices": {"sda": device(2), "sdb": device(1)}});
    assert_eq!(ada.put(&format!("{CONFIGS}/1"), swapped).await.status, 200);
    let other = json!({"label": "other", "devices": {"sda": device(1)}});
    assert_eq!(
        ada.post(CONFIGS, other).await.status,
        200,
        "two configs can share a disk"
    );
}

#[tokio::test]
async fn a_root_device_is_a_device_of_a_config() {
    let app = TestApp::new().await;
    let ada = set_up(&app, &[]).await;
    for device in ["/dev/sda", "/dev/sdh", "/dev/root"] {
        let made = ada
            .post(CONFIGS, json!({"label": "a", "root_device": device}))
            .await;
        assert_eq!(made.json()["root_device"], device);
    }
    for device in ["", "sda", "/dev/sdi", "/dev/sda1", "/dev/SDA", "/dev/vda"] {
        let body = json!({"label": "a", "root_device": device});
        for reply in [
            ada.post(CONFIGS, body.clone()).await,
            ada.put(&format!("{CONFIGS}/1"), body).await,
        ] {
            assert_eq!(reply.errors(), ["root_device choice_invalid"], "{device:?}");
        }
    }
}

#[tokio::test]
async fn a_memory_limit_fits_the_plan() {
    let app = TestApp::new().await;
    let ada = set_up(&app, &[]).await;
    for limit in [0, 512, 1024] {
        let made = ada
            .post(CONFIGS, json!({"label": "a", "memory_limit": limit}))
            .await;
        assert_eq!(made.json()["memory_limit"], limit);
    }
    let body = json!({"label": "a", "memory_limit": 1025});
    for reply in [
        ada.post(CONFIGS, body.clone()).await,
        ada.put(&format!("{CONFIGS}/1"), body).await,
    ] {
        assert_eq!(reply.errors(), ["memory_limit plan_memory"]);
        assert_eq!(
            reply.reason(),
            "Must be 0 to 1024, the memory of the plan in MB; 0 is no limit"
        );
    }
    app.home().damage("UPDATE config SET memory_limit = 9999").await;
    let config = format!("{CONFIGS}/1");
    let own: Value = ada.get(&config).await.json();
    assert_eq!(
        ada.put(&config, own).await.status,
        200,
        "a limit of an earlier version can be sent back"
    );
}
