//! Disks of instances.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, User};

const DISKS: &str = "/linode/instances/1/disks";
const PUBLIC_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChAo6ydHnFmR+ULJzOiiJ5uVkeKcjR1jTsCeuPHp";

/// A user with an instance of 25,600 MB without disks.
async fn set_up(app: &TestApp) -> User<'_> {
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "label": "web-1"});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    ada
}

fn image() -> Value {
    json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "x"})
}

/// The disks of an instance as `id label filesystem size`.
async fn disks(user: &User<'_>, instance: i64) -> Vec<String> {
    let disks = user
        .get(&format!("/linode/instances/{instance}/disks"))
        .await
        .data();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let line = |disk: &Value| {
        format!(
            "{} {} {} {}",
            disk["id"],
            text(&disk["label"]),
            text(&disk["filesystem"]),
            disk["size"]
        )
    };
    disks.iter().map(line).collect()
}

/// The events as `action status disk`.
async fn event_lines(user: &User<'_>) -> Vec<String> {
    let events = user.get("/account/events?after=0&page_size=500").await.data();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |event: &Value| {
        format!(
            "{} {} {}",
            text(&event["action"]),
            text(&event["status"]),
            event["secondary_entity"]["id"]
        )
    };
    events.iter().map(line).collect()
}

#[tokio::test]
async fn a_disk_is_created_read_changed_and_deleted() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;

    let made = ada.post(DISKS, json!({"label": "data", "size": 2000})).await;

    let disk = json!({
        "id": 1, "status": "ready", "label": "data", "created": BEGINNING, "updated": BEGINNING,
        "filesystem": "ext4", "size": 2000, "disk_encryption": "disabled",
    });
    assert_eq!((made.status.as_u16(), made.json()), (200, disk.clone()));
    assert!(
        made.body
            .starts_with(br#"{"id":1,"status":"ready","label":"data","created":"#)
    );
    assert_eq!(ada.get(&format!("{DISKS}/1")).await.json(), disk);
    assert_eq!(ada.get(DISKS).await.data(), [disk]);
    app.advance(5);
    let change = json!({"label": "more", "filesystem": "raw"});
    let changed = ada.put(&format!("{DISKS}/1"), change).await.json();
    assert_eq!(
        (&changed["label"], &changed["filesystem"], &changed["updated"]),
        (&json!("more"), &json!("raw"), &json!("2024-06-01T12:00:05"))
    );
    assert_eq!(ada.delete(&format!("{DISKS}/1")).await.json(), json!({}));
    assert_eq!(ada.get(&format!("{DISKS}/1")).await.status, 404);
    assert_eq!(
        event_lines(&ada).await,
        [
            "linode_create finished null",
            "disk_create finished 1",
            "disk_update notification 1",
            "disk_delete finished 1",
        ]
    );
    let created = ada.get("/account/events/2").await.json();
    assert_eq!(
        (&created["percent_complete"], &created["entity"]["type"]),
        (&json!(100), &json!("linode"))
    );
    let secondary =
        json!({"id": 1, "type": "disk", "label": "data", "url": "/v4/linode/instances/1/disks/1"});
    assert_eq!(created["secondary_entity"], secondary);
}

#[tokio::test]
async fn an_image_gets_a_disk_and_a_swap_disk_that_fill_the_plan() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let with = |more: Value| {
        let mut body = image();
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    for body in [
        json!({}),
        json!({"swap_size": 256}),
        json!({"swap_size": 0}),
        json!({"swap_size": 100, "boot_size": 2000}),
    ] {
        assert_eq!(ada.post("/linode/instances", with(body)).await.status, 200);
    }

    assert_eq!(
        disks(&ada, 1).await,
        ["1 Debian 12 Disk ext4 25088", "2 512 MB Swap Image swap 512"]
    );
    assert_eq!(
        disks(&ada, 2).await,
        ["3 Debian 12 Disk ext4 25344", "4 256 MB Swap Image swap 256"]
    );
    assert_eq!(disks(&ada, 3).await, ["5 Debian 12 Disk ext4 25600"]);
    assert_eq!(
        disks(&ada, 4).await,
        ["6 Debian 12 Disk ext4 2000", "7 100 MB Swap Image swap 100"]
    );
    let devices = ada.get("/linode/instances/2/configs").await.data()[0]["devices"].clone();
    assert_eq!(
        (
            &devices["sda"]["disk_id"],
            &devices["sdb"]["disk_id"],
            &devices["sdc"]
        ),
        (&json!(3), &json!(4), &json!(null))
    );
    for (more, error) in [
        (json!({"swap_size": -1}), "swap_size disk_space"),
        (json!({"swap_size": 25_600}), "swap_size disk_space"),
        (json!({"boot_size": 25_089}), "boot_size disk_space"),
        (json!({"boot_size": 0}), "boot_size disk_space"),
        (json!({"swap_size": "big"}), "swap_size wrong_type"),
    ] {
        let refused = ada.post("/linode/instances", with(more)).await;
        assert_eq!(refused.errors(), [error]);
    }
}

#[tokio::test]
async fn disks_must_fit_the_plan() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    ada.post(DISKS, json!({"label": "a", "size": 20_000})).await;

    let refused = ada.post(DISKS, json!({"label": "b", "size": 5601})).await;
    assert_eq!(refused.errors(), ["size disk_space"]);
    assert_eq!(
        refused.reason(),
        "The plan has 25600 MB for disks; 5600 MB are unallocated"
    );
    let clone = format!("{DISKS}/1/clone");
    assert_eq!(ada.post(&clone, json!({})).await.errors(), ["size disk_space"]);
    let resize = format!("{DISKS}/1/resize");
    assert_eq!(
        ada.post(&resize, json!({"size": 25_601})).await.errors(),
        ["size disk_space"]
    );
    assert_eq!(ada.post(&resize, json!({"size": 4000})).await.json(), json!({}));
    let password = json!({"password": "Correct-horse-9"});
    assert_eq!(
        ada.post(&format!("{DISKS}/1/password"), password).await.json(),
        json!({})
    );
    let copy = ada.post(&clone, json!({})).await.json();
    assert_eq!(
        (&copy["label"], &copy["size"], &copy["status"]),
        (&json!("Copy of a"), &json!(4000), &json!("ready"))
    );
    assert_eq!(
        event_lines(&ada).await[2..],
        [
            "disk_resize finished 1",
            "password_reset finished 1",
            "disk_duplicate finished 2"
        ]
    );
    for number in 3..=50 {
        let body = json!({"label": format!("{number}"), "size": 1});
        assert_eq!(ada.post(DISKS, body).await.status, 200);
    }
    let full = ada.post(DISKS, json!({"label": "51", "size": 1})).await;
    assert_eq!(full.errors(), ["- disk_count"]);
}

#[tokio::test]
async fn a_disk_with_an_image_does_not_become_a_swap_disk_and_the_reverse() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    assert_eq!(ada.post("/linode/instances", image()).await.status, 200);
    let change = async |disk: i64, filesystem: &str| {
        let body = json!({"label": "renamed", "filesystem": filesystem});
        ada.put(&format!("{DISKS}/{disk}"), body).await
    };
    for (disk, filesystem, reason) in [
        (1, "swap", "A disk with an image must be one of ext3, ext4, raw"),
        (1, "initrd", "A disk with an image must be one of ext3, ext4, raw"),
        (
            2,
            "ext4",
            "A swap disk must be swap; delete it and create another disk instead",
        ),
    ] {
        let refused = change(disk, filesystem).await;
        assert_eq!(refused.errors(), ["filesystem disk_content"], "{filesystem}");
        assert_eq!(refused.reason(), reason);
        let unchanged = ada.get(&format!("{DISKS}/{disk}")).await.json();
        assert_ne!(unchanged["label"], "renamed");
    }
    for (disk, filesystem) in [(1, "raw"), (1, "ext4"), (2, "swap")] {
        assert_eq!(change(disk, filesystem).await.json()["filesystem"], filesystem);
    }
}

#[tokio::test]
async fn a_disk_stays_at_least_as_large_as_its_image() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let mut body = image();
    body["boot_size"] = json!(2000);
    body["booted"] = json!(false);
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    let debian = json!({"label": "b", "size": 2000, "image": "linode/debian12", "root_pass": "x"});
    assert_eq!(ada.post(DISKS, debian).await.json()["id"], 3);
    assert_eq!(
        ada.post(&format!("{DISKS}/1/clone"), json!({})).await.json()["id"],
        4
    );
    let empty = json!({"label": "empty", "size": 2000});
    assert_eq!(ada.post(DISKS, empty).await.json()["id"], 5);

    let resize = async |disk: i64, size: i64| {
        let path = format!("{DISKS}/{disk}/resize");
        ada.post(&path, json!({"size": size})).await
    };
    for with_image in [1, 3, 4] {
        let refused = resize(with_image, 1799).await;
        assert_eq!(refused.errors(), ["size image_size"], "disk {with_image}");
        assert_eq!(
            refused.reason(),
            "The image linode/debian12 needs a disk of at least 1800 MB"
        );
        assert_eq!(resize(with_image, 1800).await.status, 200);
    }
    for without_image in [2, 5] {
        assert_eq!(resize(without_image, 1).await.status, 200);
    }
}

#[tokio::test]
async fn all_errors_of_a_disk_are_reported_together() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let wrong = json!({
        "label": "", "size": 0, "image": "linode/none", "filesystem": "zfs", "stackscript_id": 5,
        "stackscript_data": {"a": "b"}, "read_only": true,
    });
    assert_eq!(
        ada.post(DISKS, wrong).await.errors(),
        [
            "label label_length",
            "size out_of_range",
            "image image_invalid",
            "filesystem choice_invalid",
            "root_pass credentials_missing",
            "stackscript_id not_offered",
            "stackscript_data not_offered",
            "read_only not_offered",
        ]
    );
    assert_eq!(
        ada.post(DISKS, json!({})).await.errors(),
        ["label required", "size required"]
    );
    let image = |credentials: Value| {
        let mut body = json!({"label": "boot", "size": 3000, "image": "linode/debian12"});
        let fields = credentials.as_object().expect("an object").clone();
        body.as_object_mut().expect("an object").extend(fields);
        body
    };
    for (credentials, error) in [
        (json!({"authorized_keys": []}), "root_pass credentials_missing"),
        (json!({"root_pass": ""}), "root_pass credentials_missing"),
        (json!({"authorized_users": []}), "root_pass credentials_missing"),
        (
            json!({"authorized_keys": ["k"]}),
            "authorized_keys[0] ssh_key_invalid",
        ),
    ] {
        let refused = ada.post(DISKS, image(credentials.clone())).await;
        assert_eq!(refused.errors(), [error], "{credentials}");
    }
    let with_keys = image(json!({"authorized_keys": [PUBLIC_KEY]}));
    assert_eq!(ada.post(DISKS, with_keys).await.status, 200);
    let swap = json!({"label": "swap", "size": 512, "root_pass": "P", "filesystem": "swap"});
    assert_eq!(
        ada.post(DISKS, swap).await.status,
        200,
        "a password without an image is accepted"
    );
    for (path, body, error) in [
        ("resize", json!({}), "size required"),
        ("resize", json!({"size": 0}), "size out_of_range"),
        ("password", json!({}), "password required"),
        ("password", json!({"password": ""}), "password too_short"),
    ] {
        let refused = ada.post(&format!("{DISKS}/1/{path}"), body).await;
        assert_eq!(refused.errors(), [error]);
    }
}

#[tokio::test]
async fn the_password_of_an_instance_is_that_of_its_only_disk() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", image()).await;
    let path = "/linode/instances/1/password";
    let password = || json!({"root_pass": "Correct-horse-9"});

    let running = ada.post(path, password()).await;
    assert_eq!(running.errors(), ["- instance_state"]);
    assert_eq!(
        running.reason(),
        "linode1 is running; first shut the instance down"
    );
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    assert_eq!(
        ada.post(path, json!({"root_pass": ""})).await.errors(),
        ["root_pass too_short"]
    );
    assert_eq!(
        ada.post(path, json!({"password": "x"})).await.errors(),
        ["root_pass required"]
    );
    assert_eq!(ada.post(path, password()).await.json(), json!({}));

    let done = "password_reset finished 1";
    assert_eq!(event_lines(&ada).await.last().map(String::as_str), Some(done));
    ada.post(&format!("{DISKS}/1/resize"), json!({"size": 2000}))
        .await;
    ada.post(&format!("{DISKS}/1/clone"), json!({})).await;
    let several = ada.post(path, password()).await;
    assert_eq!(several.errors(), ["- disk_ambiguous"]);
    assert!(several.reason().contains("2 disks"), "{}", several.reason());
    for disk in [1, 3] {
        ada.delete(&format!("{DISKS}/{disk}")).await;
    }
    assert_eq!(ada.post(path, password()).await.errors(), ["- disk_ambiguous"]);
}

#[tokio::test]
async fn a_disk_in_use_is_not_deleted_and_a_deleted_one_leaves_its_configs() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", image()).await;

    for (path, body) in [
        ("/1/resize", json!({"size": 2000})),
        ("/1/password", json!({"password": "x"})),
    ] {
        assert_eq!(
            ada.post(&format!("{DISKS}{path}"), body).await.errors(),
            ["- instance_state"]
        );
    }
    let refused = ada.delete(&format!("{DISKS}/1")).await;
    assert_eq!(refused.errors(), ["- instance_state"]);
    assert_eq!(
        refused.reason(),
        "linode1 is running with this disk; first shut the instance down"
    );
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    app.advance(3);
    assert_eq!(ada.delete(&format!("{DISKS}/1")).await.status, 200);
    let config = ada.get("/linode/instances/1/configs/1").await.json();
    assert_eq!(
        (&config["devices"]["sda"], &config["devices"]["sdb"]["disk_id"]),
        (&json!(null), &json!(2))
    );
    assert_eq!(config["updated"], "2024-06-01T12:00:03");
    ada.delete("/linode/instances/1").await;
    assert_eq!(ada.get(&format!("{DISKS}/2")).await.status, 404);
}

#[tokio::test]
async fn devices_of_a_config_are_disks_of_its_instance_and_replace_each_other() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    ada.post("/linode/instances", image()).await;
    ada.post(DISKS, json!({"label": "boot", "size": 3000})).await;
    let configs = "/linode/instances/1/configs";

    let foreign = json!({"label": "c", "devices": {"sda": {"disk_id": 1}, "sdb": {"disk_id": 3}}});
    assert_eq!(
        ada.post(configs, foreign).await.errors(),
        ["devices.sda.disk_id device_invalid"]
    );
    let own = json!({"label": "c", "devices": {"sda": {"disk_id": 3}}});
    assert_eq!(ada.post(configs, own).await.status, 200);
    let config = format!("{configs}/2");
    let moved = ada
        .put(&config, json!({"devices": {"sdb": {"disk_id": 3}}}))
        .await
        .json();
    assert_eq!(
        (&moved["devices"]["sda"], &moved["devices"]["sdb"]["disk_id"]),
        (&json!(null), &json!(3))
    );
    let updated = ada.put(&config, json!({"comments": "x"})).await.json();
    assert_eq!(updated["devices"], moved["devices"]);
}

#[tokio::test]
async fn disks_of_a_slow_server_are_not_ready_until_their_event_is_finished() {
    let app = TestApp::with(|policy, _| policy.settle_ms = 10_000).await;
    let ada = app.user("ada").await;
    let settle = async || {
        app.advance(10);
        app.store.write(garth::rules::power::run_due_jobs).await.unwrap();
        app.store.write(garth::rules::power::run_due_jobs).await.unwrap();
    };
    let status = async |disk: i64| ada.get(&format!("{DISKS}/{disk}")).await.json()["status"].clone();
    let mut body = image();
    body["booted"] = json!(false);
    body["boot_size"] = json!(3000);
    ada.post("/linode/instances", body).await;
    assert_eq!(status(1).await, "not ready");
    let busy = ada.post(DISKS, json!({"label": "data", "size": 100})).await;
    assert_eq!(
        (busy.errors(), busy.reason()),
        (vec!["- instance_busy".to_owned()], "Linode busy.".to_owned())
    );
    settle().await;
    assert_eq!(status(1).await, "ready");

    let created = ada
        .post(DISKS, json!({"label": "data", "size": 100}))
        .await
        .json();
    assert_eq!(
        (&created["id"], &created["status"]),
        (&json!(3), &json!("not ready"))
    );
    assert_eq!(event_lines(&ada).await[1], "disk_create scheduled 3");
    for path in ["/linode/instances/1/boot", "/linode/instances/1/disks/1/clone"] {
        assert_eq!(
            ada.post(path, json!({})).await.errors(),
            ["- instance_busy"],
            "{path}"
        );
    }
    assert_eq!(
        ada.delete(&format!("{DISKS}/3")).await.errors(),
        ["- instance_busy"]
    );
    settle().await;
    assert_eq!(status(3).await, "ready");
    assert_eq!(event_lines(&ada).await[1], "disk_create finished 3");
    ada.post(&format!("{DISKS}/3/resize"), json!({"size": 200})).await;
    assert_eq!(status(3).await, "not ready");
    app.advance(5);
    app.store.write(garth::rules::power::run_due_jobs).await.unwrap();
    assert_eq!(event_lines(&ada).await[2], "disk_resize started 3");

    ada.delete("/linode/instances/1").await;
    let failed = ada.get("/account/events/3").await.json();
    assert_eq!(
        (&failed["percent_complete"], &failed["duration"]),
        (&json!(50), &json!(5.0)),
        "a failed event has the progress that it had"
    );
    assert_eq!(
        event_lines(&ada).await[2..],
        ["disk_resize failed 3", "linode_delete finished null"]
    );
    settle().await;
}

#[tokio::test]
async fn disks_are_filtered_and_seen_with_the_grant_of_their_instance() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    for (label, size) in [("a", 100), ("b", 200), ("c", 300)] {
        ada.post(DISKS, json!({"label": label, "size": size})).await;
    }
    let found = |filter: &'static str| {
        let ada = &ada;
        async move { ada.filter(DISKS, filter).await.ids() }
    };
    assert_eq!(found(r#"{"label": "b"}"#).await, [2]);
    assert_eq!(
        found(r#"{"size": {"+gte": 200}, "+order_by": "size", "+order": "desc"}"#).await,
        [3, 2]
    );
    assert_eq!(found(r#"{"filesystem": "swap"}"#).await, [0; 0]);
    assert_eq!(found(r#"{"status": "ready"}"#).await, [1, 2, 3]);

    let reader = app
        .user("reader")
        .may(Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .await;
    assert_eq!(reader.get(DISKS).await.ids(), [1, 2, 3]);
    let body = json!({"label": "d", "size": 1});
    assert_eq!(reader.post(DISKS, body).await.status, 403);
    assert_eq!(reader.delete(&format!("{DISKS}/1")).await.status, 403);
    assert_eq!(reader.delete(&format!("{DISKS}/9")).await.status, 404);
    let anonymous = app.user("anonymous").restricted().await;
    assert_eq!(anonymous.get(DISKS).await.status, 404);
}
