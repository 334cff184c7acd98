//! Addresses of instances outside of VPCs.

use garth::model::cidr::Cidr;
use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{TestApp, User};
use crate::openapi::DOCUMENT;

fn public() -> Value {
    json!({"type": "ipv4", "public": true})
}

fn private() -> Value {
    json!({"type": "ipv4", "public": false})
}

async fn create_instance(user: &User<'_>) -> i64 {
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    let created = user.post("/linode/instances", body).await;
    created.json()["id"].as_i64().expect("an ID")
}

/// The addresses of a list.
async fn listed(user: &User<'_>, filter: &str) -> Vec<String> {
    let rows = user.filter("/networking/ips", filter).await.data();
    let address = |row: &Value| row["address"].as_str().expect("an address").to_owned();
    rows.iter().map(address).collect()
}

#[tokio::test]
async fn an_address_is_allocated_listed_and_released() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;

    let created = ada.post("/linode/instances/1/ips", public()).await;

    let expected = json!({
        "address": "192.0.2.3", "gateway": "192.0.2.1", "subnet_mask": "255.255.255.0", "prefix": 24,
        "type": "ipv4", "public": true, "rdns": null, "linode_id": 1, "compute_id": 1, "interface_id": null,
        "region": "us-east", "vpc_nat_1_1": null, "reserved": false,
        "assigned_entity": {"id": 1, "label": "linode1", "type": "linode", "url": "/v4/linode/instances/1"},
    });
    assert_eq!((created.status.as_u16(), created.json()), (200, expected.clone()));
    for path in ["/networking/ips/192.0.2.3", "/linode/instances/1/ips/192.0.2.3"] {
        assert_eq!(ada.get(path).await.json(), expected, "{path}");
    }
    assert_eq!(
        ada.get("/linode/instances/1").await.json()["ipv4"],
        json!(["192.0.2.2", "192.0.2.3"])
    );
    let ips = ada.get("/linode/instances/1/ips").await.json();
    assert_eq!(ips["ipv4"]["public"][1], expected);
    let list = ada.get("/networking/ips/?skip_ipv6_rdns=true").await;
    assert_eq!(list.data()[1], expected, "a trailing slash is accepted");

    assert_eq!(
        ada.delete("/linode/instances/1/ips/192.0.2.3").await.json(),
        json!({})
    );

    assert_eq!(ada.get("/networking/ips/192.0.2.3").await.status, 404);
    assert_eq!(listed(&ada, "{}").await, ["192.0.2.2"]);
    assert_eq!(
        ada.events().await,
        ["linode_create 1", "linode_addip 1", "linode_deleteip 1"]
    );
}

#[tokio::test]
async fn an_instance_keeps_its_last_public_address_and_those_used_for_nat() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv4": {"nat_1_1": "any"}}]);
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
    ada.post("/linode/instances", body).await;
    let first = "/linode/instances/1/ips/192.0.2.2";

    ada.post("/linode/instances/1/ips", private()).await;
    let last = ada.delete(first).await;
    assert_eq!(
        (last.status.as_u16(), last.errors()),
        (400, vec!["- address_last".to_owned()])
    );
    ada.post("/linode/instances/1/ips", public()).await;
    assert_eq!(ada.delete(first).await.errors(), ["- address_in_use"]);
    assert_eq!(
        ada.get(first).await.json()["vpc_nat_1_1"],
        json!({"vpc_id": 1, "subnet_id": 1, "address": "10.0.0.2"})
    );
    let free = json!({"ipv4": {"nat_1_1": "192.0.2.3"}});
    assert_eq!(
        ada.put("/linode/instances/1/configs/1/interfaces/1", free)
            .await
            .status,
        200
    );
    assert_eq!(ada.delete(first).await.status, 200);
    assert_eq!(listed(&ada, "{}").await, ["192.0.2.3", "192.168.128.1"]);
}

#[tokio::test]
async fn an_instance_has_at_most_one_private_address() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    create_instance(&ada).await;

    let created = ada.post("/linode/instances/1/ips", private()).await.json();

    assert_eq!(
        [
            &created["address"],
            &created["gateway"],
            &created["subnet_mask"],
            &created["prefix"],
            &created["public"],
            &created["rdns"]
        ],
        [
            &json!("192.168.128.1"),
            &json!(null),
            &json!("255.255.128.0"),
            &json!(17),
            &json!(false),
            &json!(null)
        ]
    );
    assert_eq!(
        ada.get("/linode/instances/1").await.json()["ipv4"],
        json!(["192.0.2.2", "192.168.128.1"])
    );
    let ips = ada.get("/linode/instances/1/ips").await.json();
    assert_eq!(ips["ipv4"]["private"], json!([created]));
    assert_eq!(
        ada.post("/linode/instances/1/ips", private()).await.errors(),
        ["- quota_exceeded"]
    );
    let named = json!({"rdns": "web.example.com"});
    assert_eq!(
        ada.put("/networking/ips/192.168.128.1", named).await.errors(),
        ["rdns rdns_invalid"]
    );
    let other = json!({"type": "ipv4", "public": false, "linode_id": 2});
    assert_eq!(
        ada.post("/networking/ips", other).await.json()["address"],
        "192.168.128.2"
    );
    assert_eq!(
        listed(&ada, r#"{"public":false}"#).await,
        ["192.168.128.1", "192.168.128.2"]
    );
    assert_eq!(
        ada.delete("/linode/instances/1/ips/192.168.128.1").await.status,
        200
    );
}

#[tokio::test]
async fn a_new_instance_gets_a_private_address_and_releases_it_with_its_end() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "private_ip": true});

    let created = ada.post("/linode/instances", body.clone()).await;

    assert_eq!(created.json()["ipv4"], json!(["192.0.2.2", "192.168.128.1"]));
    let ips = ada.get("/linode/instances/1/ips").await.json();
    assert_eq!(ips["ipv4"]["private"].as_array().map(Vec::len), Some(1));
    assert_eq!(ips["ipv4"]["private"][0]["address"], "192.168.128.1");
    assert_eq!(
        ada.post("/linode/instances/1/ips", private()).await.errors(),
        ["- quota_exceeded"],
        "it is the private address of the instance"
    );
    let text = json!({"type": "g6-nanode-1", "region": "us-east", "private_ip": "yes"});
    assert_eq!(
        ada.post("/linode/instances", text).await.errors(),
        ["private_ip wrong_type"]
    );

    ada.delete("/linode/instances/1").await;

    assert!(listed(&ada, "{}").await.is_empty());
    let next = ada.post("/linode/instances", body).await;
    assert_eq!(next.json()["ipv4"], json!(["192.0.2.2", "192.168.128.1"]));
}

#[tokio::test]
async fn a_name_is_set_and_null_restores_the_default() {
    let app = TestApp::with(|policy, _| policy.rdns_domain = Some("ip.example.com".to_owned())).await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    let path = "/networking/ips/192.0.2.2";
    let rdns = async || ada.get(path).await.json()["rdns"].clone();
    assert_eq!(rdns().await, "192-0-2-2.ip.example.com");

    let set = ada.put(path, json!({"rdns": "192.0.2.2.nip.io"})).await;

    assert_eq!(set.json()["rdns"], "192.0.2.2.nip.io");
    assert_eq!(
        listed(&ada, r#"{"rdns":{"+contains":"nip"}}"#).await,
        ["192.0.2.2"]
    );
    let refused = ada.put(path, json!({"rdns": "not a name"})).await;
    assert_eq!(
        (refused.errors(), refused.reason()),
        (
            vec!["rdns rdns_invalid".to_owned()],
            "Domain is not valid.".to_owned()
        )
    );
    assert_eq!(ada.put(path, json!({"reserved": false})).await.status, 200);
    assert_eq!(rdns().await, "192.0.2.2.nip.io", "an omitted name remains");
    let by_instance = "/linode/instances/1/ips/192.0.2.2";
    assert_eq!(ada.put(by_instance, json!({"rdns": null})).await.status, 200);
    assert_eq!(rdns().await, "192-0-2-2.ip.example.com");
    assert_eq!(ada.events().await[1..], ["ipaddress_update 1"; 3]);
}

#[tokio::test]
async fn the_list_is_filtered_and_sorted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    create_instance(&ada).await;
    ada.post("/linode/instances/1/ips", public()).await;
    let all = ["192.0.2.2", "192.0.2.4", "192.0.2.3"];

    for (filter, expected) in [
        ("{}", &all[..]),
        (r#"{"reserved":false}"#, &all),
        (r#"{"reserved":true}"#, &[]),
        (r#"{"linode_id":1}"#, &all[..2]),
        (r#"{"compute_id":2}"#, &all[2..]),
        (r#"{"region":"us-east","type":"ipv4"}"#, &all),
        (r#"{"address":"192.0.2.3"}"#, &all[2..]),
        (
            r#"{"+order_by":"address"}"#,
            &["192.0.2.2", "192.0.2.3", "192.0.2.4"],
        ),
        (
            r#"{"+order_by":"reserved","+order":"desc"}"#,
            &["192.0.2.3", "192.0.2.4", "192.0.2.2"],
        ),
    ] {
        assert_eq!(listed(&ada, filter).await, expected, "{filter}");
    }
    assert_eq!(
        ada.get("/networking/ips?page_size=1&page=2").await.data()[0]["address"],
        "192.0.2.4"
    );
}

#[tokio::test]
async fn a_request_for_an_address_is_validated() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    for (body, errors) in [
        (
            json!({}),
            vec!["type required", "public required", "linode_id required"],
        ),
        (
            json!({"type": "ipv6", "public": true, "linode_id": 1}),
            vec!["type choice_invalid"],
        ),
        (
            json!({"type": "ipv4", "public": true, "linode_id": 9}),
            vec!["linode_id instance_invalid"],
        ),
        (
            json!({"type": "ipv4", "public": true, "linode_id": 1, "region": "us-mia"}),
            vec!["region region_invalid"],
        ),
        (
            json!({"public": true, "reserved": true}),
            vec!["type required", "reserved not_offered"],
        ),
    ] {
        assert_eq!(
            ada.post("/networking/ips", body.clone()).await.errors(),
            errors,
            "{body}"
        );
    }
    let (assigned, unknown) = (json!("192.0.2.2"), json!("192.0.2.99"));
    let path = "/linode/instances/1/ips";
    let with = |address: &Value| json!({"type": "ipv4", "public": true, "address": address});
    assert_eq!(
        ada.post(path, with(&assigned)).await.errors(),
        ["address address_taken"]
    );
    assert_eq!(ada.post(path, with(&unknown)).await.status, 404);
    assert_eq!(
        ada.post(path, with(&json!("nonsense"))).await.errors(),
        ["address address_invalid"]
    );
}

#[tokio::test]
async fn reserving_sharing_and_moving_addresses_is_not_offered() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    for (path, body) in [
        ("/networking/reserved/ips", json!({"region": "us-mia"})),
        ("/networking/ips/assign", json!({})),
        (
            "/networking/ips/assign",
            json!({"region": "us-east", "assignments": [{"address": "192.0.2.2", "linode_id": 1}]}),
        ),
        (
            "/networking/ipv4/assign",
            json!({"region": 5, "assignments": "all"}),
        ),
        (
            "/networking/ips/share",
            json!({"ips": ["192.0.2.2"], "linode_id": 1}),
        ),
        (
            "/networking/ipv4/share",
            json!({"ips": ["192.0.2.9"], "linode_id": 9}),
        ),
    ] {
        let reply = ada.post(path, body.clone()).await;
        assert_eq!(reply.status, 400, "{path} {body}");
        assert_eq!(reply.errors(), ["- not_offered"], "{path} {body}");
    }
    for body in [
        json!({"type": "ipv4", "public": true, "reserved": true, "region": "us-mia"}),
        json!({"type": "ipv4", "public": false, "reserved": true}),
    ] {
        let refused = ada.post("/networking/ips", body).await;
        assert_eq!(refused.errors(), ["reserved not_offered"]);
    }
    let reserve = ada
        .put(
            "/networking/ips/192.0.2.2",
            json!({"reserved": true, "rdns": "x"}),
        )
        .await;
    assert_eq!(reserve.errors(), ["rdns rdns_invalid", "reserved not_offered"]);
    assert_eq!(ada.events().await, ["linode_create 1"], "nothing has changed");
}

#[tokio::test]
async fn former_paths_are_documented_and_have_the_same_access_rules() {
    let app = TestApp::new().await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let reader = app.user("reader").scopes("ips:read_only").await;
    let reference = include_str!("../../../docs/reference.md");
    for (former, current) in [
        ("/networking/ipv4/assign", "/networking/ips/assign"),
        ("/networking/ipv4/share", "/networking/ips/share"),
        ("/networking/vpcs/ips", "/vpcs/ips"),
    ] {
        let operations = DOCUMENT["paths"][current].as_object().unwrap();
        for (method, operation) in operations {
            let method: Method = method.to_uppercase().parse().unwrap();
            let description = operation["description"].as_str().unwrap();
            assert!(
                description.contains(&format!("as {former}")),
                "{former}: {description}"
            );
            for user in [&ada, &staff, &reader, &app.anonymous()] {
                let call = async |path: &str| user.call(method.clone(), path).json(&json!({})).await;
                let (by_former, by_current) = (call(former).await, call(current).await);
                assert_eq!(
                    (by_former.status, by_former.json()),
                    (by_current.status, by_current.json()),
                    "{former}"
                );
            }
        }
        assert!(reference.contains(&format!("`{former}`")), "{former}");
    }
}

#[tokio::test]
async fn an_account_cannot_use_up_the_pool() {
    let app = TestApp::with(|policy, _| policy.additional_addresses = 2).await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    create_instance(&ada).await;
    let add = async |id: i64| ada.post(&format!("/linode/instances/{id}/ips"), public()).await;
    assert_eq!(add(1).await.status, 200);
    assert_eq!(add(2).await.status, 200);
    assert_eq!(add(1).await.errors(), ["- quota_exceeded"]);

    // One address of each instance does not count, even if it is not its first address.
    assert_eq!(ada.delete("/linode/instances/1/ips/192.0.2.2").await.status, 200);
    assert_eq!(add(1).await.status, 200);
    assert_eq!(add(1).await.errors(), ["- quota_exceeded"]);
    assert_eq!(ada.delete("/linode/instances/1").await.status, 200);
    assert_eq!(
        add(2).await.status,
        200,
        "a deleted instance releases its addresses"
    );

    let other = app.user("eve").of(app.another_account().await).await;
    create_instance(&other).await;
    assert_eq!(
        other.post("/linode/instances/3/ips", public()).await.status,
        200,
        "each account has its own limit"
    );
}

#[tokio::test]
async fn an_empty_pool_is_reported() {
    let range = Cidr::parse("203.0.113.0/29").unwrap();
    let app = TestApp::with(|policy, _| policy.public_ranges = vec![range]).await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    for _ in 0..4 {
        assert_eq!(ada.post("/linode/instances/1/ips", public()).await.status, 200);
    }
    assert_eq!(
        ada.post("/linode/instances/1/ips", public()).await.errors(),
        ["- addresses_exhausted"]
    );
}

#[tokio::test]
async fn restricted_users_see_and_change_the_addresses_of_granted_instances() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv4": {"nat_1_1": "any"}}]);
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
    for _ in 0..3 {
        ada.post("/linode/instances", body.clone()).await;
    }
    let bob = app
        .user("bob")
        .may(Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .may(Grant::Linode(InstanceId(2), Permission::ReadWrite))
        .await;

    assert_eq!(listed(&bob, "{}").await, ["192.0.2.2", "192.0.2.3"]);
    assert_eq!(
        bob.get("/networking/ips/192.0.2.2").await.json()["vpc_nat_1_1"]["vpc_id"],
        1
    );
    assert_eq!(bob.get("/networking/ips/192.0.2.4").await.status, 404);
    let named = json!({"rdns": "web.example.com"});
    assert_eq!(
        bob.put("/networking/ips/192.0.2.2", named.clone()).await.status,
        403
    );
    assert_eq!(bob.put("/networking/ips/192.0.2.3", named).await.status, 200);
    let on = |id: i64| json!({"type": "ipv4", "public": true, "linode_id": id});
    assert_eq!(bob.post("/networking/ips", on(1)).await.status, 403);
    assert_eq!(bob.post("/networking/ips", on(2)).await.status, 200);
    assert_eq!(
        bob.post("/networking/ips", on(3)).await.errors(),
        ["linode_id instance_invalid"]
    );
    assert_eq!(bob.events().await[2..], ["ipaddress_update 2", "linode_addip 2"]);
}
