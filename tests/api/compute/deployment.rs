//! The fields for deploying an image: what a disk or an instance with or without an image can have.

use serde_json::{Value, json};

use crate::harness::{TestApp, User};

const DISKS: &str = "/linode/instances/1/disks";
const PUBLIC_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChAo6ydHnFmR+ULJzOiiJ5uVkeKcjR1jTsCeuPHp";

async fn set_up(app: &TestApp) -> User<'_> {
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    ada
}

fn with(mut body: Value, more: Value) -> Value {
    let more = more.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(more);
    body
}

#[tokio::test]
async fn a_disk_is_not_smaller_than_its_image() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let disk = |size: i64| json!({"label": "boot", "size": size, "image": "linode/debian12", "root_pass": "Secret-9"});
    let refused = ada.post(DISKS, disk(1799)).await;
    assert_eq!(refused.errors(), ["size image_size"]);
    assert_eq!(
        refused.reason(),
        "The image linode/debian12 needs a disk of at least 1800 MB"
    );
    assert_eq!(ada.post(DISKS, disk(1800)).await.status, 200);
}

#[tokio::test]
async fn a_disk_with_an_image_has_a_file_system_for_it() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let disk = |filesystem: &str| json!({"label": "boot", "size": 500, "image": "linode/alpine3.22", "root_pass": "Secret-9", "filesystem": filesystem});
    for filesystem in ["swap", "initrd"] {
        let refused = ada.post(DISKS, disk(filesystem)).await;
        assert_eq!(refused.errors(), ["filesystem choice_invalid"]);
        assert_eq!(
            refused.reason(),
            "A disk with an image must be one of ext3, ext4, raw"
        );
    }
    for filesystem in ["ext3", "ext4", "raw"] {
        let made = ada.post(DISKS, disk(filesystem)).await;
        assert_eq!(made.json()["filesystem"], filesystem);
    }
}

#[tokio::test]
async fn ssh_keys_need_an_image() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let instance = json!({"type": "g6-nanode-1", "region": "us-east"});
    let disk = json!({"label": "data", "size": 100});
    for (path, body) in [("/linode/instances", instance), (DISKS, disk)] {
        let keys = json!({"authorized_keys": [PUBLIC_KEY], "authorized_users": ["ada"]});
        let refused = ada.post(path, with(body.clone(), keys)).await;
        assert_eq!(
            refused.errors(),
            [
                "authorized_keys image_required",
                "authorized_users image_required"
            ],
            "{path}"
        );
        let none = json!({"root_pass": "Secret-9", "authorized_keys": [], "authorized_users": null});
        assert_eq!(
            ada.post(path, with(body, none)).await.status,
            200,
            "clients send a password and empty lists without an image"
        );
    }
}

#[tokio::test]
async fn sizes_of_disks_need_an_image() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let instance = json!({"type": "g6-nanode-1", "region": "us-east"});
    let sizes = json!({"swap_size": 512, "boot_size": 2000});
    let refused = ada.post("/linode/instances", with(instance.clone(), sizes)).await;
    assert_eq!(
        refused.errors(),
        ["swap_size image_required", "boot_size image_required"]
    );
    assert_eq!(
        refused.reason(),
        "Only the deployment of an image uses this field: send an image, or leave this field out"
    );
    let no_swap = with(instance, json!({"swap_size": 0}));
    assert_eq!(ada.post("/linode/instances", no_swap).await.status, 200);
}

#[tokio::test]
async fn settings_of_a_config_need_an_image_or_interfaces() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let settings = json!({
        "type": "g6-nanode-1", "region": "us-east", "kernel": "linode/grub2", "network_helper": false,
    });
    let refused = ada.post("/linode/instances", settings.clone()).await;
    assert_eq!(
        refused.errors(),
        ["kernel config_missing", "network_helper config_missing"]
    );
    for more in [
        json!({"interfaces": [{"purpose": "public"}]}),
        json!({"image": "linode/debian12", "root_pass": "Secret-9"}),
    ] {
        let made = ada.post("/linode/instances", with(settings.clone(), more)).await;
        let id = made.json()["id"].clone();
        let config = ada.get(&format!("/linode/instances/{id}/configs")).await.data()[0].clone();
        assert_eq!(
            (&config["kernel"], &config["helpers"]["network"]),
            (&json!("linode/grub2"), &json!(false))
        );
    }
}

#[tokio::test]
async fn an_instance_without_a_config_is_not_booted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "booted": true});
    let made = ada.post("/linode/instances", body).await;
    assert_eq!(made.json()["status"], "offline");
    assert_eq!(ada.events().await, ["linode_create 1"]);
}

#[tokio::test]
async fn the_boot_disk_of_an_instance_is_not_smaller_than_its_image() {
    let app = TestApp::with(|policy, _| {
        let small = policy.plans.iter_mut().find(|plan| plan.id == "g6-standard-1");
        small.expect("a built-in plan").disk = 2300;
    })
    .await;
    let ada = app.user("ada").await;
    let image = json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "Secret-9"});
    for (more, error) in [
        (json!({"boot_size": 1799}), "boot_size image_size"),
        (json!({"swap_size": 23_801}), "swap_size image_size"),
        (json!({"type": "g6-standard-1"}), "image image_size"),
    ] {
        let refused = ada.post("/linode/instances", with(image.clone(), more)).await;
        assert_eq!(refused.errors(), [error]);
    }
    for more in [
        json!({"boot_size": 1800}),
        json!({"swap_size": 23_800}),
        json!({"type": "g6-standard-1", "swap_size": 500}),
    ] {
        let made = ada.post("/linode/instances", with(image.clone(), more)).await;
        assert_eq!(made.status, 200);
    }
}
