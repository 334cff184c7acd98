//! IPv6 networks of interfaces (decision 0029).

use serde_json::{Value, json};

use crate::harness::{Reply, TestApp, User};
use crate::network::ipv6::create_vpc;

const PATH: &str = "/linode/instances/1/configs/1/interfaces";

async fn create_instance(user: &User<'_>, interface: Value) -> Reply {
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
    user.post("/linode/instances", body).await
}

#[tokio::test]
async fn an_interface_gets_networks_of_its_subnet_and_keeps_them() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["/62"]).await;
    let slaac = json!({"range": "fd67:6172:0:1::/64", "address": "fd67:6172:0:1:2000:ff:fe00:1"});
    let ipv6 = json!({"slaac": [{"range": "auto"}], "ranges": [{"range": "auto"}]});
    let created = create_instance(&ada, json!({"purpose": "vpc", "subnet_id": 1, "ipv6": ipv6})).await;
    assert_eq!(created.status, 200, "{created}");
    let ranges = json!([{"range": "fd67:6172:0:2::/64"}]);
    let expected = json!({"slaac": [slaac], "ranges": ranges, "is_public": false});
    assert_eq!(ada.get(&format!("{PATH}/1")).await.json()["ipv6"], expected);

    let public = ada
        .put(&format!("{PATH}/1"), json!({"ipv6": {"is_public": true}}))
        .await;
    let expected = json!({"slaac": [slaac], "ranges": ranges, "is_public": true});
    assert_eq!(public.json()["ipv6"], expected);
    let more = json!({"ipv6": {"ranges": [{"range": "auto"}, {"range": "/64"}]}});
    let more = ada.put(&format!("{PATH}/1"), more).await.json();
    let two = json!([{"range": "fd67:6172:0:2::/64"}, {"range": "fd67:6172:0:3::/64"}]);
    assert_eq!(
        (&more["ipv6"]["ranges"], &more["ipv6"]["slaac"]),
        (&two, &json!([slaac]))
    );

    // The first /64 is reserved, so the subnet is full.
    let full = create_instance(&ada, json!({"purpose": "vpc", "subnet_id": 1})).await;
    assert_eq!(
        full.errors(),
        ["interfaces[0].ipv6.slaac[0].range addresses_exhausted"]
    );
    assert_eq!(
        ada.put(&format!("{PATH}/1"), json!({"ipv6": {"ranges": []}}))
            .await
            .status,
        200
    );
    let next = create_instance(&ada, json!({"purpose": "vpc", "subnet_id": 1})).await;
    assert_eq!(next.status, 200, "{next}");

    let records = ada.get("/vpcs/ipv6s").await.data();
    let networks: Vec<_> = records
        .iter()
        .map(|record| record["ipv6_range"].clone())
        .collect();
    assert_eq!(networks, ["fd67:6172:0:1::/64", "fd67:6172:0:2::/64"]);
    let address = json!([{"slaac_address": slaac["address"]}]);
    assert_eq!(
        (&records[0]["ipv6_addresses"], &records[0]["ipv6_is_public"]),
        (&address, &json!(true))
    );
    assert_eq!(
        ada.filter("/vpcs/1/ipv6s", r#"{"linode_id":2}"#).await.data(),
        [records[1].clone()]
    );
    let of_instance = ada.get("/linode/instances/2/ips").await.json();
    assert_eq!(of_instance["ipv6"]["vpc"], json!([records[1]]));

    assert_eq!(ada.delete("/vpcs/1").await.status, 400);
    for instance in 1..=2 {
        assert_eq!(
            ada.delete(&format!("/linode/instances/{instance}")).await.status,
            200
        );
    }
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    assert_eq!(ada.count("/vpcs/ipv6s").await, 0);
}

#[tokio::test]
async fn networks_that_cannot_be_assigned_are_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["/62"]).await;
    ada.create_vpc("plain", &["10.0.0.0/24"]).await;
    let taken =
        json!({"purpose": "vpc", "subnet_id": 1, "ipv6": {"slaac": [{"range": "fd67:6172:0:2::/64"}]}});
    assert_eq!(create_instance(&ada, taken).await.status, 200);
    for (subnet, ipv6, error) in [
        (
            1,
            json!({"slaac": [{"range": "/60"}]}),
            "ipv6.slaac[0].range cidr_prefix",
        ),
        (1, json!({"slaac": [{}, {}]}), "ipv6.slaac out_of_range"),
        (
            1,
            json!({"slaac": [{"range": "fd67:6172::/64"}]}),
            "ipv6.slaac[0].range address_invalid",
        ),
        (
            1,
            json!({"slaac": [{"range": "fd67:6172:0:2::/64"}]}),
            "ipv6.slaac[0].range address_taken",
        ),
        (
            1,
            json!({"ranges": [{"range": "fd67:6172:0:2::/64"}]}),
            "ipv6.ranges[0].range address_taken",
        ),
        (
            1,
            json!({"ranges": [{"range": "fd67:6172:0:4::/64"}]}),
            "ipv6.ranges[0].range range_invalid",
        ),
        (
            1,
            json!({"ranges": [{"range": "fd67:6172:0:3::/64"}, {"range": "fd67:6172:0:3::/64"}]}),
            "ipv6.ranges[1].range range_invalid",
        ),
        (
            1,
            json!({"slaac": [{"range": "fd67:6172:0:3::/64"}], "ranges": [{"range": "fd67:6172:0:3::/64"}]}),
            "ipv6.ranges[0].range range_invalid",
        ),
        (2, json!({"slaac": [{"range": "auto"}]}), "ipv6 interface_field"),
        (2, json!({"is_public": true}), "ipv6 interface_field"),
    ] {
        let refused =
            create_instance(&ada, json!({"purpose": "vpc", "subnet_id": subnet, "ipv6": ipv6})).await;
        assert_eq!(refused.errors(), [format!("interfaces[0].{error}")], "{ipv6}");
    }
    let refused = create_instance(&ada, json!({"purpose": "public", "ipv6": {"slaac": [{}]}})).await;
    assert_eq!(refused.errors(), ["interfaces[0].ipv6 interface_field"]);
    let plain = create_instance(&ada, json!({"purpose": "vpc", "subnet_id": 2})).await;
    assert_eq!(plain.status, 200);
    let interface = ada.get("/linode/instances/2/configs/2/interfaces/2").await.json();
    assert_eq!(interface["ipv6"], Value::Null);
}

#[tokio::test]
async fn configs_of_an_instance_can_share_a_network_until_the_last_releases_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["/62"]).await;
    let attached = create_instance(&ada, json!({"purpose": "vpc", "subnet_id": 1})).await;
    assert_eq!(attached.status, 200, "{attached}");
    let ipv6 = json!({"slaac": [{"range": "fd67:6172:0:1::/64"}], "ranges": []});
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv6": ipv6}]);
    let second = json!({"label": "second", "devices": {}, "interfaces": interfaces});
    let configs = "/linode/instances/1/configs";
    assert_eq!(ada.post(configs, second).await.status, 200);

    let next_network = async || {
        let created = create_instance(&ada, json!({"purpose": "vpc", "subnet_id": 1})).await;
        let id = created.json()["id"].as_i64().unwrap();
        let networks = ada
            .filter("/vpcs/ipv6s", &format!(r#"{{"linode_id":{id}}}"#))
            .await;
        assert_eq!(ada.delete(&format!("/linode/instances/{id}")).await.status, 200);
        networks.data()[0]["ipv6_range"].clone()
    };
    assert_eq!(ada.delete(&format!("{configs}/1")).await.status, 200);
    assert_eq!(next_network().await, "fd67:6172:0:2::/64");
    assert_eq!(ada.delete(&format!("{configs}/2")).await.status, 200);
    assert_eq!(next_network().await, "fd67:6172:0:1::/64");
}

#[tokio::test]
async fn an_interface_has_at_most_100_routed_networks() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["/56"]).await;
    let interface = |count: usize| {
        let ranges = vec![json!({"range": "auto"}); count];
        json!({"purpose": "vpc", "subnet_id": 1, "ipv6": {"ranges": ranges}})
    };
    let refused = create_instance(&ada, interface(101)).await;
    assert_eq!(refused.errors(), ["interfaces[0].ipv6.ranges range_count"]);
    let created = create_instance(&ada, interface(100)).await;
    assert_eq!(created.status, 200, "{created}");
    assert_eq!(ada.count("/vpcs/ipv6s").await, 101);
    let refused = ada.put(&format!("{PATH}/1"), interface(101)).await;
    assert_eq!(refused.errors(), ["ipv6.ranges range_count"]);
}
