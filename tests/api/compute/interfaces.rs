//! Interfaces of configs, and address assignment.

use std::collections::{BTreeMap, BTreeSet};
use std::future::IntoFuture;

use garth::model::grant::Permission;
use garth::model::id::{InstanceId, VpcId};
use garth::rules::grants::Grant;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::harness::{TestApp, User};

const PATH: &str = "/linode/instances/1/configs/1/interfaces";

async fn set_up(app: &TestApp) -> User<'_> {
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/29"]).await;
    ada.post(
        "/linode/instances",
        json!({"type": "g6-nanode-1", "region": "us-east"}),
    )
    .await;
    ada.post(
        "/linode/instances/1/configs",
        json!({"label": "boot", "devices": {}}),
    )
    .await;
    ada
}

#[tokio::test]
async fn an_interface_is_added_viewed_changed_and_deleted() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;

    let sent = json!({
        "ip_ranges": [], "ipam_address": null, "ipv4": {"nat_1_1": ""}, "label": null, "primary": true,
        "purpose": "vpc", "subnet_id": 1, "vpc_id": 1,
    });
    let created = ada.post(PATH, sent).await;
    let interface = json!({
        "id": 1, "purpose": "vpc", "primary": true, "active": false, "ipam_address": null, "label": null,
        "vpc_id": 1, "subnet_id": 1, "ipv4": {"vpc": "10.0.0.2", "nat_1_1": null}, "ip_ranges": [], "ipv6": null,
    });
    assert_eq!(
        (created.status.as_u16(), created.json()),
        (200, interface.clone())
    );
    assert_eq!(ada.get(PATH).await.json(), json!([interface]), "a bare array");
    assert_eq!(ada.get(&format!("{PATH}/1")).await.json(), interface);

    let public = ada
        .post(PATH, json!({"purpose": "public", "primary": true}))
        .await
        .json();
    assert_eq!(
        (&public["ipv4"], &public["ip_ranges"], &public["vpc_id"]),
        (&json!(null), &json!(null), &json!(null))
    );
    assert_eq!(
        ada.get(&format!("{PATH}/1")).await.json()["primary"],
        false,
        "only one interface is primary"
    );

    let change = json!({"ipv4": {"vpc": "10.0.0.9", "nat_1_1": "any"}, "ip_ranges": ["10.0.0.64/28"]});
    let changed = ada.put(&format!("{PATH}/1"), change).await.json();
    assert_eq!(
        changed["ipv4"],
        json!({"vpc": "10.0.0.9", "nat_1_1": "192.0.2.2"})
    );
    assert_eq!(changed["ip_ranges"], json!(["10.0.0.64/28"]));
    let moved = ada
        .put(&format!("{PATH}/1"), json!({"ipv4": {"vpc": "10.0.0.10"}}))
        .await
        .json();
    assert_eq!(
        moved["ipv4"],
        json!({"vpc": "10.0.0.10", "nat_1_1": "192.0.2.2"}),
        "the 1:1 NAT remains"
    );
    let plain = ada
        .put(&format!("{PATH}/1"), json!({"ipv4": {"nat_1_1": ""}}))
        .await
        .json();
    assert_eq!(plain["ipv4"], json!({"vpc": "10.0.0.10", "nat_1_1": null}));
    let primary = ada
        .put(&format!("{PATH}/1"), json!({"primary": true}))
        .await
        .json();
    assert_eq!(
        (&primary["primary"], &primary["ip_ranges"]),
        (&json!(true), &json!(["10.0.0.64/28"])),
        "a missing field stays unchanged"
    );
    let cleared = ada
        .put(&format!("{PATH}/1"), json!({"ip_ranges": []}))
        .await
        .json();
    assert_eq!(cleared["ip_ranges"], json!([]));

    assert_eq!(
        ada.post(&format!("{PATH}/order"), json!({"ids": [2, 1]}))
            .await
            .status,
        200
    );
    let order: Vec<_> = ada
        .get(PATH)
        .await
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["id"].clone())
        .collect();
    assert_eq!(order, [2, 1]);
    for invalid in [
        json!({"ids": [1]}),
        json!({"ids": [1, 1]}),
        json!({"ids": [1, 2, 3]}),
    ] {
        assert_eq!(
            ada.post(&format!("{PATH}/order"), invalid).await.errors(),
            ["ids order_invalid"]
        );
    }
    assert_eq!(
        ada.post(&format!("{PATH}/order"), json!({})).await.errors(),
        ["ids required"]
    );
    assert_eq!(ada.delete(&format!("{PATH}/1")).await.status, 200);
    assert_eq!(ada.get(&format!("{PATH}/1")).await.status, 404);
    assert_eq!(ada.count("/vpcs/ips").await, 0);
}

#[tokio::test]
async fn reordering_interfaces_is_an_update_of_their_config() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    ada.post(PATH, json!({"purpose": "public"})).await;
    ada.post(PATH, json!({"purpose": "vpc", "subnet_id": 1})).await;
    let config = PATH.trim_end_matches("/interfaces");
    let (before, events) = (ada.get(config).await.json(), ada.events().await.len());
    app.advance(60);

    let moved = ada.post(&format!("{PATH}/order"), json!({"ids": [2, 1]})).await;

    assert_eq!(moved.status, 200);
    let after = ada.get(config).await.json();
    assert_ne!(after["updated"], before["updated"]);
    let newer = ada.events().await.split_off(events);
    assert_eq!(newer, ["linode_config_update 1"]);
}

#[tokio::test]
async fn interfaces_of_a_running_instance_can_be_added_but_not_removed_or_moved() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    ada.post(PATH, json!({"purpose": "vpc", "subnet_id": 1})).await;
    ada.post("/linode/instances/1/boot", json!({})).await;

    assert_eq!(
        ada.post(PATH, json!({"purpose": "public"})).await.json()["active"],
        false
    );
    assert_eq!(
        ada.delete(&format!("{PATH}/1")).await.errors(),
        ["- interface_active"]
    );
    assert_eq!(
        ada.post(&format!("{PATH}/order"), json!({"ids": [2, 1]}))
            .await
            .errors(),
        ["- interface_active"]
    );
    assert_eq!(
        ada.delete(&format!("{PATH}/2")).await.status,
        200,
        "the new interface is not active"
    );
    assert_eq!(
        ada.post(PATH, json!({"purpose": "vpc", "subnet_id": 2}))
            .await
            .errors(),
        ["purpose interface_count"]
    );
}

#[tokio::test]
async fn the_purpose_and_the_subnet_of_an_interface_cannot_be_changed() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let attached = ada.post(PATH, json!({"purpose": "vpc", "subnet_id": 1})).await;
    let public = ada.post(PATH, json!({"purpose": "public"})).await;
    let events = ada.events().await.len();
    for (id, body, errors) in [
        (1, json!({"subnet_id": 2}), vec!["subnet_id interface_field"]),
        (1, json!({"subnet_id": 99}), vec!["subnet_id interface_field"]),
        (1, json!({"subnet_id": "1"}), vec!["subnet_id wrong_type"]),
        (1, json!({"purpose": "public"}), vec!["purpose interface_field"]),
        (1, json!({"purpose": "vlan"}), vec!["purpose interface_field"]),
        (1, json!({"purpose": "x"}), vec!["purpose purpose_invalid"]),
        (1, json!({"label": "x"}), vec!["label interface_field"]),
        (
            1,
            json!({"ipam_address": "10.0.0.1/24"}),
            vec!["ipam_address interface_field"],
        ),
        (2, json!({"subnet_id": 1}), vec!["subnet_id interface_field"]),
        (2, json!({"purpose": "vpc"}), vec!["purpose interface_field"]),
        (
            1,
            json!({"ipv4": {"vpc": "10.0.0.1"}, "subnet_id": 2, "primary": 1, "purpose": "public", "label": "x"}),
            vec![
                "purpose interface_field",
                "primary wrong_type",
                "label interface_field",
                "subnet_id interface_field",
                "ipv4.vpc address_invalid",
            ],
        ),
    ] {
        let refused = ada.put(&format!("{PATH}/{id}"), body.clone()).await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (400, errors.iter().map(ToString::to_string).collect()),
            "{body}"
        );
    }
    assert_eq!(ada.events().await.len(), events);

    // Clients send the whole object back.
    for (id, interface) in [(1, attached.json()), (2, public.json())] {
        let path = format!("{PATH}/{id}");
        assert_eq!(ada.put(&path, interface.clone()).await.json(), interface);
    }
    let omitted = json!({"purpose": null, "subnet_id": null, "label": "", "ipam_address": ""});
    assert_eq!(
        ada.put(&format!("{PATH}/1"), omitted).await.json(),
        attached.json()
    );
}

#[tokio::test]
async fn a_vlan_interface_cannot_be_changed() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let vlan = ada
        .post(PATH, json!({"purpose": "vlan", "label": "backstage"}))
        .await
        .json();
    assert_eq!(
        (&vlan["label"], &vlan["ipam_address"]),
        (&json!("backstage"), &json!(""))
    );
    let path = format!("{PATH}/1");
    for (change, error) in [
        (json!({"primary": true}), "primary primary_invalid"),
        (json!({"label": "other"}), "label interface_field"),
        (json!({"ipv4": {"vpc": "10.0.0.9"}}), "ipv4 interface_field"),
    ] {
        assert_eq!(ada.put(&path, change).await.errors(), [error]);
    }
    assert_eq!(
        ada.put(&path, vlan.clone()).await.json(),
        vlan,
        "unchanged values"
    );
}

#[tokio::test]
async fn a_small_subnet_can_be_exhausted_and_reuses_released_addresses() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let mut got = Vec::new();
    for _ in 0..4 {
        let created = ada.create_instance_on(2).await;
        assert_eq!(created.status, 200, "{created}");
        got.push(created.json()["id"].as_i64().unwrap());
    }
    let full = ada.create_instance_on(2).await;
    assert_eq!(full.errors(), ["interfaces[0].ipv4.vpc addresses_exhausted"]);
    ada.delete(&format!("/linode/instances/{}", got[1])).await;
    ada.create_instance_on(2).await;
    let addresses: BTreeSet<String> = ada
        .get("/vpcs/ips")
        .await
        .data()
        .iter()
        .map(|ip| ip["address"].as_str().unwrap().to_owned())
        .collect();
    let all: BTreeSet<String> = (2..=5).map(|last| format!("10.0.1.{last}")).collect();
    assert_eq!(addresses, all);
}

/// Random operations on addresses of a /27, by instance number.
#[derive(Clone, Debug)]
enum Action {
    Attach(usize),
    AttachAt(usize, u8),
    AttachRange(usize, u8),
    Detach(usize),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let instance = 0usize..12;
    let action = prop_oneof![
        3 => instance.clone().prop_map(Action::Attach),
        2 => (instance.clone(), 0u8..32).prop_map(|(i, at)| Action::AttachAt(i, at)),
        2 => (instance.clone(), 0u8..8).prop_map(|(i, at)| Action::AttachRange(i, at)),
        3 => instance.prop_map(Action::Detach),
    ];
    prop::collection::vec(action, 1..40)
}

/// A reference model: the addresses of each instance.
#[derive(Default)]
struct Model {
    attached: BTreeMap<usize, (u8, BTreeSet<u8>)>,
}

impl Model {
    fn is_in_use(&self, address: u8) -> bool {
        self.attached
            .values()
            .any(|(own, range)| *own == address || range.contains(&address))
    }

    fn lowest(&self, but: &BTreeSet<u8>) -> Option<u8> {
        (2..=29).find(|address| !self.is_in_use(*address) && !but.contains(address))
    }
}

/// Runs an operation through HTTP and in the model; both must agree.
async fn apply(ada: &User<'_>, model: &mut Model, action: &Action) {
    let (instance, requested, range): (usize, Option<u8>, BTreeSet<u8>) = match action {
        Action::Attach(instance) => (*instance, None, BTreeSet::new()),
        Action::AttachAt(instance, at) => (*instance, Some(*at), BTreeSet::new()),
        Action::AttachRange(instance, at) => (*instance, None, (at * 4..at * 4 + 4).collect()),
        Action::Detach(instance) => {
            if model.attached.remove(instance).is_some() {
                let path = format!("/linode/instances/{}/configs/{0}", instance + 1);
                let interfaces = ada.get(&format!("{path}/interfaces")).await.json();
                let reply = ada
                    .delete(&format!("{path}/interfaces/{}", interfaces[0]["id"]))
                    .await;
                assert_eq!(reply.status, 200, "{reply}");
            }
            return;
        }
    };
    if model.attached.contains_key(&instance) {
        return;
    }
    let usable = |address: &u8| (2..=29).contains(address) && !model.is_in_use(*address);
    let address = requested.or_else(|| model.lowest(&range)).filter(usable);
    let good = range.iter().all(usable);
    let mut body = json!({"purpose": "vpc", "subnet_id": 1});
    if let Some(requested) = requested {
        body["ipv4"] = json!({"vpc": format!("10.0.0.{requested}")});
    }
    if let Some(first) = range.first() {
        body["ip_ranges"] = json!([format!("10.0.0.{first}/30")]);
    }
    let reply = ada
        .post(
            &format!("/linode/instances/{}/configs/{0}/interfaces", instance + 1),
            body,
        )
        .await;
    match address.filter(|_| good) {
        Some(address) => {
            assert_eq!(reply.status, 200, "{action:?}: {reply}");
            assert_eq!(
                reply.json()["ipv4"]["vpc"],
                format!("10.0.0.{address}"),
                "{action:?}"
            );
            model.attached.insert(instance, (address, range));
        }
        None => assert_eq!(reply.status, 400, "{action:?}: {reply}"),
    }
}

#[test]
fn addresses_are_assigned_lowest_first_and_never_twice() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config {
        cases: 40,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&actions(), |sequence| {
        runtime.block_on(async {
            let app = TestApp::new().await;
            let ada = app.user("ada").into_future().await;
            ada.create_vpc("core", &["10.0.0.0/27"]).await;
            for _ in 0..12 {
                let created = ada
                    .post(
                        "/linode/instances",
                        json!({"type": "g6-nanode-1", "region": "us-east"}),
                    )
                    .await;
                let path = format!("/linode/instances/{}/configs", created.json()["id"]);
                ada.post(&path, json!({"label": "boot", "devices": {}})).await;
            }
            let mut model = Model::default();
            for action in &sequence {
                apply(&ada, &mut model, action).await;
            }
            let listed = ada.get("/vpcs/ips?page_size=500").await.data();
            let ranges = listed.iter().filter(|ip| ip["address"] == Value::Null).count();
            assert_eq!(listed.len() - ranges, model.attached.len());
            assert_eq!(
                ranges,
                model
                    .attached
                    .values()
                    .filter(|(_, range)| !range.is_empty())
                    .count()
            );
        });
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn exactly_the_attached_interfaces_block_a_deletion() {
    // For each of the two configs of four instances: the attached subnet, one of three. For each instance:
    // whether it runs.
    let attachment = prop::collection::vec(prop::option::of(0usize..3), 8);
    let running = prop::collection::vec(any::<bool>(), 4);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config {
        cases: 25,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&(attachment, running), |(attachment, running)| {
        runtime.block_on(async {
            let app = TestApp::new().await;
            let ada = app.user("ada").into_future().await;
            ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"])
                .await;
            let mut expected: BTreeMap<usize, BTreeSet<(i64, i64, bool)>> = BTreeMap::new();
            for (instance, runs) in (1i64..=4).zip(&running) {
                ada.post(
                    "/linode/instances",
                    json!({"type": "g6-nanode-1", "region": "us-east"}),
                )
                .await;
                for half in 0..2usize {
                    let subnet = attachment[(instance as usize - 1) * 2 + half];
                    let interfaces: Vec<_> = subnet
                        .iter()
                        .map(|subnet| json!({"purpose": "vpc", "subnet_id": subnet + 1}))
                        .collect();
                    let body = json!({"label": "c", "devices": {}, "interfaces": interfaces});
                    let config = ada
                        .post(&format!("/linode/instances/{instance}/configs"), body)
                        .await
                        .json();
                    if let Some(subnet) = subnet {
                        let blocker = (instance, config["id"].as_i64().unwrap(), *runs && half == 0);
                        expected.entry(subnet).or_default().insert(blocker);
                    }
                    if *runs && half == 0 {
                        let boot = format!("/linode/instances/{instance}/boot");
                        assert_eq!(ada.post(&boot, json!({})).await.status, 200);
                    }
                }
            }
            let blockers = |reply: &Value| -> BTreeSet<(i64, i64, bool)> {
                let one = |error: &Value| {
                    let blocker = &error["blocker"];
                    let number = |key: &str| blocker[key].as_i64().unwrap();
                    (
                        number("linode_id"),
                        number("config_id"),
                        blocker["active"].as_bool().unwrap(),
                    )
                };
                reply["errors"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(one)
                    .collect()
            };
            let recorded = ada.events().await.len();
            let all: BTreeSet<_> = expected.values().flatten().copied().collect();
            let whole = ada.delete("/vpcs/1").await;
            assert_eq!(
                (whole.status == 200, blockers(&whole.json())),
                (all.is_empty(), all.clone())
            );
            if !all.is_empty() {
                assert_eq!(
                    (ada.count("/vpcs/1/subnets").await, ada.events().await.len()),
                    (3, recorded)
                );
                for subnet in 0..3 {
                    let reply = ada.delete(&format!("/vpcs/1/subnets/{}", subnet + 1)).await;
                    let expected = expected.get(&subnet).cloned().unwrap_or_default();
                    assert_eq!(
                        (reply.status == 200, blockers(&reply.json())),
                        (expected.is_empty(), expected)
                    );
                }
            }
        });
        Ok(())
    });
    outcome.unwrap();
}

#[tokio::test]
async fn changing_the_addresses_of_an_interface_requires_access_to_its_vpc() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let created = json!({"purpose": "vpc", "subnet_id": 1, "ip_ranges": ["10.0.0.64/28"]});
    assert_eq!(ada.post(PATH, created).await.status, 200);
    let grant = Grant::Linode(InstanceId(1), Permission::ReadWrite);
    let bob = app.user("bob").restricted().may(grant).await;
    let path = format!("{PATH}/1");
    let nothing: [&str; 0] = [];
    for body in [
        json!({"ipv4": {"vpc": "10.0.0.9"}}),
        json!({"ipv4": {"vpc": "10.0.0.1"}}),
        json!({"ip_ranges": ["10.0.0.128/28"]}),
        json!({"ip_ranges": nothing}),
    ] {
        let refused = bob.put(&path, body.clone()).await;
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.errors(), ["- subnet_invalid"], "{body}");
    }
    // The current values, and settings that do not affect the VPC, are accepted.
    let current = json!({"ipv4": {"vpc": "10.0.0.2", "nat_1_1": "any"}, "ip_ranges": ["10.0.0.64/28"], "primary": true});
    assert_eq!(bob.put(&path, current).await.status, 200);

    app.grant("bob", Grant::Vpc(VpcId(1), Permission::ReadOnly)).await;
    let changed = json!({"ipv4": {"vpc": "10.0.0.9"}, "ip_ranges": nothing});
    assert_eq!(bob.put(&path, changed).await.status, 200);
}

#[tokio::test]
async fn an_interface_has_at_most_100_ranges() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let ranges =
        |count: usize| -> Vec<String> { (0..count).map(|at| format!("10.0.0.{}/32", at + 20)).collect() };
    let body = |count: usize| json!({"purpose": "vpc", "subnet_id": 1, "ip_ranges": ranges(count)});

    let refused = ada.post(PATH, body(101)).await;

    assert_eq!(refused.status, 400);
    assert_eq!(refused.errors(), ["ip_ranges range_count"]);
    assert_eq!(ada.post(PATH, body(100)).await.status, 200);
    let change = json!({"ip_ranges": ranges(101)});
    let refused = ada.put(&format!("{PATH}/1"), change).await;
    assert_eq!(refused.errors(), ["ip_ranges range_count"]);
}

#[tokio::test]
async fn an_address_inside_a_range_of_another_config_is_not_released() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let ranges = json!({"purpose": "vpc", "subnet_id": 1, "ip_ranges": ["10.0.0.8/29"]});
    assert_eq!(ada.post(PATH, ranges).await.status, 200);
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv4": {"vpc": "10.0.0.9"}}]);
    let second = json!({"label": "second", "devices": {}, "interfaces": interfaces});
    let second = ada.post("/linode/instances/1/configs", second).await;
    assert_eq!(second.status, 200, "{second}");

    let path = format!("/linode/instances/1/configs/{}", second.json()["id"]);
    assert_eq!(ada.delete(&path).await.status, 200);

    // The lowest free addresses are those before and after the range.
    let mut addresses = Vec::new();
    for _ in 0..6 {
        ada.create_instance_on(1).await;
    }
    for record in ada.get("/vpcs/1/ips").await.data() {
        addresses.extend(record["address"].as_str().map(str::to_owned));
    }
    let expected = [2, 3, 4, 5, 6, 7, 16].map(|last| format!("10.0.0.{last}"));
    assert_eq!(addresses, expected);
}
