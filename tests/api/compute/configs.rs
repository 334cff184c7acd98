//! Configs of instances.

use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, User};

async fn set_up(app: &TestApp) -> User<'_> {
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    ada
}

#[tokio::test]
async fn a_config_is_created_with_the_recorded_defaults() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;

    let created = ada
        .post(
            "/linode/instances/1/configs",
            json!({"kernel": null, "label": "boot", "devices": {"sda": null}, "interfaces": null}),
        )
        .await;

    let config = json!({
        "id": 1,
        "label": "boot",
        "helpers": {
            "updatedb_disabled": true, "distro": true, "modules_dep": true, "network": true,
            "devtmpfs_automount": true,
        },
        "kernel": "linode/latest-64bit", "comments": "", "memory_limit": 0,
        "created": BEGINNING, "updated": BEGINNING,
        "root_device": "/dev/sda",
        "devices": {"sda": null, "sdb": null, "sdc": null, "sdd": null, "sde": null, "sdf": null, "sdg": null, "sdh": null},
        "initrd": null, "run_level": "default", "virt_mode": "paravirt", "interfaces": [],
    });
    assert_eq!((created.status.as_u16(), created.json()), (200, config.clone()));
    assert_eq!(ada.get("/linode/instances/1/configs").await.data(), [config]);
    assert_eq!(ada.events().await.last().unwrap(), "linode_config_create 1");
}

#[tokio::test]
async fn the_default_config_of_an_instance_has_a_valid_label() {
    let app = TestApp::with(|policy, _| {
        policy.images[0].id = "private/1".to_owned();
        policy.images[0].label = "Debian 12 with everything that our builds need".to_owned();
    })
    .await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let label = "a".repeat(64);
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1}]);
    for body in [
        json!({"type": "g6-nanode-1", "region": "us-east", "image": "private/1", "root_pass": "Correct-horse-9"}),
        json!({"type": "g6-nanode-1", "region": "us-east", "label": label, "interfaces": interfaces}),
    ] {
        assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    }

    for (instance, label) in [
        (1, "My Debian 12 with everything that o Disk Profile".to_owned()),
        (2, format!("My {} Profile", "a".repeat(37))),
    ] {
        let configs = format!("/linode/instances/{instance}/configs");
        let created = ada.get(&configs).await.data()[0].clone();
        assert_eq!((created["label"].as_str().unwrap(), label.len()), (&*label, 48));
        let id = created["id"].as_i64().unwrap();
        let same = json!({"label": created["label"]});
        assert_eq!(ada.put(&format!("{configs}/{id}"), same).await.status, 200);
    }
}

#[tokio::test]
async fn an_update_replaces_interfaces_only_if_listed_and_keeps_existing_ids() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let config = "/linode/instances/1/configs/1";
    let vpc = json!({"purpose": "vpc", "subnet_id": 1});
    let body = json!({"label": "boot", "devices": {}, "interfaces": [{"purpose": "public"}, vpc]});
    ada.post("/linode/instances/1/configs", body).await;
    let interfaces = async || {
        let interfaces = ada.get(&format!("{config}/interfaces")).await.json();
        let line = |f: &Value| {
            format!(
                "{} {} {}",
                f["id"],
                f["purpose"].as_str().unwrap(),
                f["ipv4"]["vpc"]
            )
        };
        interfaces
            .as_array()
            .unwrap()
            .iter()
            .map(line)
            .collect::<Vec<_>>()
    };
    let two = ["1 public null", "2 vpc \"10.0.0.2\""];

    for kept in [
        json!({"label": "again"}),
        json!({"interfaces": null}),
        json!({"interfaces": [{"purpose": "public"}, vpc]}),
    ] {
        assert_eq!(ada.put(config, kept.clone()).await.status, 200);
        assert_eq!(interfaces().await, two, "{kept}");
    }
    let own = ada.get(config).await.json();
    assert_eq!(
        ada.put(config, own).await.status,
        200,
        "a response can be sent back as a request"
    );
    assert_eq!(interfaces().await, two);

    ada.post("/linode/instances/1/boot", json!({})).await;
    assert_eq!(
        ada.put(config, json!({"interfaces": [{"purpose": "public"}]}))
            .await
            .errors(),
        ["- interface_active"]
    );
    let vlan = json!({"purpose": "vlan", "label": "backstage", "ipam_address": "10.9.0.1/24"});
    let more = json!({"interfaces": [{"purpose": "public"}, vpc, vlan]});
    let added = ada.put(config, more).await.json();
    let active: Vec<_> = added["interfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["active"].clone())
        .collect();
    assert_eq!(
        active,
        [true, true, false],
        "an added interface is inactive until a reboot"
    );
    ada.post("/linode/instances/1/reboot", json!({})).await;
    assert_eq!(
        ada.get(&format!("{config}/interfaces/3")).await.json()["active"],
        true
    );

    ada.post("/linode/instances/1/shutdown", json!({})).await;
    let moved = json!({"interfaces": [{"purpose": "vpc", "subnet_id": 2}]});
    assert_eq!(ada.put(config, moved).await.status, 200);
    assert_eq!(interfaces().await, ["4 vpc \"10.0.1.2\""]);
    assert_eq!(
        ada.put(config, json!({"interfaces": []})).await.json()["interfaces"],
        json!([])
    );
    assert_eq!(ada.count("/vpcs/ips").await, 0);
}

#[tokio::test]
async fn conflicting_interfaces_of_a_config_are_refused_by_position() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let elsewhere =
        json!({"label": "far", "region": "us-mia", "subnets": [{"label": "s", "ipv4": "10.0.0.0/24"}]});
    ada.post("/vpcs", elsewhere).await;
    let wrong = async |interfaces: Value| {
        let body = json!({"label": "boot", "devices": {}, "interfaces": interfaces});
        ada.post("/linode/instances/1/configs", body).await.errors()
    };

    let vpc = |more: Value| {
        let mut interface = json!({"purpose": "vpc", "subnet_id": 1});
        interface
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        interface
    };
    for (interfaces, errors) in [
        (json!([{}]), vec!["interfaces[0].purpose required"]),
        (
            json!([{"purpose": "wifi"}]),
            vec!["interfaces[0].purpose purpose_invalid"],
        ),
        (json!([5]), vec!["interfaces[0] wrong_type"]),
        (
            json!([{"purpose": "vpc"}]),
            vec!["interfaces[0].subnet_id required"],
        ),
        (
            json!([{"purpose": "vpc", "subnet_id": 99}]),
            vec!["interfaces[0].subnet_id subnet_invalid"],
        ),
        (
            json!([{"purpose": "vpc", "subnet_id": 3}]),
            vec!["interfaces[0].subnet_id subnet_invalid"],
        ),
        (
            json!([{"purpose": "vpc", "subnet_id": "1"}]),
            vec!["interfaces[0].subnet_id wrong_type"],
        ),
        (
            json!([{"purpose": "public"}, {"purpose": "public"}]),
            vec!["interfaces[1].purpose interface_count"],
        ),
        (
            json!([vpc(json!({})), {"purpose": "vpc", "subnet_id": 2}]),
            vec!["interfaces[1].purpose interface_count"],
        ),
        (
            json!([{"purpose": "vlan"}]),
            vec!["interfaces[0].label label_length"],
        ),
        (
            json!([{"purpose": "vlan", "label": "x", "primary": true}]),
            vec!["interfaces[0].primary primary_invalid"],
        ),
        (
            json!([{"purpose": "vlan", "label": "v 1 !", "ipam_address": "10.0.0.300/99"}]),
            vec![
                "interfaces[0].label label_characters",
                "interfaces[0].ipam_address address_invalid",
            ],
        ),
        (
            json!([{"purpose": "vlan", "label": "a"}, {"purpose": "vlan", "label": "a"}]),
            vec!["interfaces[1].label interface_count"],
        ),
        (
            json!([{"purpose": "public", "label": "x"}]),
            vec!["interfaces[0].label interface_field"],
        ),
        (
            json!([{"purpose": "public", "subnet_id": 1}]),
            vec!["interfaces[0].subnet_id interface_field"],
        ),
        (
            json!([{"purpose": "public", "primary": true}, vpc(json!({"primary": true}))]),
            vec!["interfaces[1].primary primary_invalid"],
        ),
        (
            json!([vpc(json!({"ipv4": {"vpc": "10.0.1.5"}}))]),
            vec!["interfaces[0].ipv4.vpc address_invalid"],
        ),
        (
            json!([vpc(json!({"ipv4": {"vpc": "10.0.0.1"}}))]),
            vec!["interfaces[0].ipv4.vpc address_invalid"],
        ),
        (
            json!([vpc(json!({"ipv4": {"vpc": "10.0.0.254"}}))]),
            vec!["interfaces[0].ipv4.vpc address_invalid"],
        ),
        (
            json!([vpc(json!({"ipv4": {"vpc": "10.0.0"}}))]),
            vec!["interfaces[0].ipv4.vpc address_invalid"],
        ),
        (
            json!([vpc(json!({"ipv4": {"nat_1_1": "8.8.8.8"}}))]),
            vec!["interfaces[0].ipv4.nat_1_1 nat_invalid"],
        ),
        (
            json!([vpc(json!({"ip_ranges": ["10.0.1.0/28"]}))]),
            vec!["interfaces[0].ip_ranges[0] range_invalid"],
        ),
        (
            json!([vpc(json!({"ip_ranges": ["10.0.0.16/28", "10.0.0.20/32"]}))]),
            vec!["interfaces[0].ip_ranges[1] range_invalid"],
        ),
        (
            json!([vpc(
                json!({"ipv4": {"vpc": "10.0.0.17"}, "ip_ranges": ["10.0.0.16/28"]})
            )]),
            vec!["interfaces[0].ip_ranges[0] range_invalid"],
        ),
        (
            json!([{"purpose": "public"}, {"purpose": "vlan", "label": "a"}, {"purpose": "vlan", "label": "b"}, {"purpose": "vlan", "label": "c"}]),
            vec!["interfaces interface_count"],
        ),
    ] {
        assert_eq!(wrong(interfaces.clone()).await, errors, "{interfaces}");
    }
    assert_eq!(ada.count("/linode/instances/1/configs").await, 0);
    assert_eq!(ada.count("/vpcs/ips").await, 0);
}

#[tokio::test]
async fn public_and_vlan_interfaces_of_a_running_config_can_be_replaced() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let config = "/linode/instances/1/configs/1";
    let body = json!({"label": "boot", "devices": {}, "interfaces": [{"purpose": "public"}]});
    ada.post("/linode/instances/1/configs", body).await;
    ada.post("/linode/instances/1/boot", json!({})).await;
    let vlan = json!({"purpose": "vlan", "label": "backstage", "ipam_address": "10.9.0.3/24"});
    let line = |interface: &Value| format!("{} {}", interface["purpose"], interface["active"]);
    let interfaces = |config: &Value| {
        let interfaces = config["interfaces"].as_array().unwrap();
        interfaces.iter().map(line).collect::<Vec<_>>()
    };

    let replaced = ada
        .put(config, json!({"label": "vlan", "interfaces": [vlan]}))
        .await;

    assert_eq!(replaced.status, 200);
    assert_eq!(interfaces(&replaced.json()), ["\"vlan\" false"]);
    ada.post("/linode/instances/1/reboot", json!({"config_id": 1}))
        .await;
    assert_eq!(interfaces(&ada.get(config).await.json()), ["\"vlan\" true"]);
    let vpc = json!({"purpose": "vpc", "subnet_id": 1});
    let refused = ada
        .put(config, json!({"label": "new", "interfaces": [vpc]}))
        .await;
    assert_eq!(refused.errors(), ["- interface_active"]);
    assert_eq!(
        refused.reason(),
        "The interface is active because linode1 is running with the config \"vlan\"; first shut the instance down or \
         reboot it with another config"
    );
    let beside = json!({"interfaces": [vlan, vpc]});
    assert_eq!(ada.put(config, beside).await.status, 200, "nothing is removed");
    ada.post("/linode/instances/1/reboot", json!({})).await;
    let without = json!({"interfaces": [vlan]});
    assert_eq!(ada.put(config, without).await.errors(), ["- interface_active"]);
}

#[tokio::test]
async fn configs_are_found_by_the_vlan_of_an_interface() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let configs = "/linode/instances/1/configs";
    for (label, vlan) in [("one", "front"), ("two", "back")] {
        let interfaces = json!([{"purpose": "public"}, {"purpose": "vlan", "label": vlan}]);
        let body = json!({"label": label, "devices": {}, "interfaces": interfaces});
        assert_eq!(ada.post(configs, body).await.status, 200);
    }
    for (filter, ids) in [
        (r#"{"interfaces": "back"}"#, vec![2]),
        (r#"{"interfaces": {"+contains": "FRO"}}"#, vec![1]),
        (r#"{"interfaces": "other"}"#, vec![]),
        (
            r#"{"+or": [{"interfaces": "back"}, {"label": "one"}]}"#,
            vec![1, 2],
        ),
    ] {
        assert_eq!(ada.filter(configs, filter).await.ids(), ids, "{filter}");
    }
}

#[tokio::test]
async fn an_instance_has_at_most_100_configs() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let configs = "/linode/instances/1/configs";
    for number in 1..=100 {
        let created = ada.post(configs, json!({"label": format!("c{number}")})).await;
        assert_eq!(created.status, 200, "{created}");
    }

    let full = ada.post(configs, json!({"label": "c101"})).await;

    assert_eq!(full.status, 400);
    assert_eq!(full.errors(), ["- config_count"]);
    assert_eq!(ada.delete(&format!("{configs}/1")).await.status, 200);
    assert_eq!(ada.post(configs, json!({"label": "c101"})).await.status, 200);
}
