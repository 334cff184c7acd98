//! The lists of addresses in use (interface §2.3).

use garth::model::grant::Permission;
use garth::model::id::{InstanceId, VpcId};
use garth::rules::grants::Grant;
use serde_json::{Value, json};

use crate::harness::{Reply, TestApp};
use crate::network::ipv6::create_vpc;

fn addresses(reply: &Reply) -> Vec<String> {
    let one = |ip: &Value| {
        ip["address"]
            .as_str()
            .or(ip["address_range"].as_str())
            .unwrap()
            .to_owned()
    };
    reply.data().iter().map(one).collect()
}

#[tokio::test]
async fn addresses_and_ranges_of_all_configs_are_sorted_and_filtered() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    ada.create_vpc("edge", &["10.0.0.0/24"]).await;
    let on =
        |subnet: i64, ranges: Value| json!([{"purpose": "vpc", "subnet_id": subnet, "ip_ranges": ranges}]);
    let instance =
        |interfaces: Value| json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
    ada.post("/linode/instances", instance(on(3, json!([])))).await;
    ada.post(
        "/linode/instances",
        instance(on(1, json!(["10.0.0.64/28", "10.0.0.32/28"]))),
    )
    .await;
    let second = json!({"label": "two", "devices": {}, "interfaces": on(2, json!([]))});
    ada.post("/linode/instances/2/configs", second).await;
    ada.post("/linode/instances/1/boot", json!({})).await;

    let all = ada.get("/vpcs/ips").await;
    assert_eq!(
        addresses(&all),
        ["10.0.0.2", "10.0.0.64/28", "10.0.0.32/28", "10.0.1.2", "10.0.0.2"]
    );
    let range = &all.data()[1];
    assert_eq!(
        (&range["gateway"], &range["prefix"], &range["nat_1_1"]),
        (&json!("10.0.0.1"), &json!(24), &json!(""))
    );
    assert_eq!(addresses(&ada.get("/vpcs/2/ips").await), ["10.0.0.2"]);
    let page = ada.get("/vpcs/ips?page=2&page_size=2").await;
    assert_eq!(
        (addresses(&page), page.json()["results"].clone()),
        (vec!["10.0.0.32/28".to_owned(), "10.0.1.2".to_owned()], json!(5))
    );
    for (filter, found) in [
        (r#"{"linode_id":2}"#, 4),
        (r#"{"compute_id":1}"#, 1),
        (r#"{"active":true}"#, 1),
        (r#"{"config_id":3}"#, 1),
        (r#"{"region":"us-east","vpc_id":1}"#, 4),
        (r#"{"subnet_id":{"+gt":1}}"#, 2),
        (r#"{"address":"10.0.0.2"}"#, 2),
        (r#"{"+order_by":"vpc_id","+order":"desc"}"#, 5),
    ] {
        assert_eq!(
            ada.filter("/vpcs/ips", filter).await.json()["results"],
            found,
            "{filter}"
        );
    }
    assert_eq!(
        ada.filter("/vpcs/ips", r#"{"address":"x"}"#).await.errors(),
        ["X-Filter filter_type"]
    );
    assert_eq!(ada.get("/vpcs/9/ips").await.status, 404);
    let bob = app
        .user("bob")
        .may(Grant::Vpc(VpcId(2), Permission::ReadOnly))
        .await;
    assert_eq!(bob.count("/vpcs/ips").await, 1);
    assert_eq!(bob.get("/vpcs/1/ips").await.status, 404);
}

#[tokio::test]
async fn lists_of_ipv6_addresses_are_empty_and_checked_like_those_of_ipv4() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1}]);
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
    ada.post("/linode/instances", body).await;

    let other = app.user("other").scopes("vpc:read_write").await;
    for path in ["/vpcs/ipv6s", "/vpcs/1/ipv6s"] {
        let empty = json!({"data": [], "page": 1, "pages": 1, "results": 0});
        assert_eq!(ada.get(path).await.json(), empty, "{path}");
        let of_instance = ada.filter(path, r#"{"linode_id":1}"#).await;
        assert_eq!(of_instance.json(), empty, "{path}");
        for filter in [r#"{"address":"x"}"#, r#"{"linode_id":"1"}"#] {
            let refused = ada.filter(path, filter).await;
            assert_eq!(refused.errors(), ["X-Filter filter_type"], "{path}");
        }
        let page = ada.get(&format!("{path}?page_size=501")).await;
        assert_eq!(page.status, 400, "{path}");
        assert_eq!(other.get(path).await.status, 401, "{path}");
    }
    assert_eq!(ada.get("/vpcs/9/ipv6s").await.status, 404);
    let bob = app.user("bob").restricted().await;
    assert_eq!(bob.get("/vpcs/1/ipv6s").await.status, 404);
    assert_eq!(bob.count("/vpcs/ipv6s").await, 0);
}

#[tokio::test]
async fn ipv6_networks_are_filtered_and_sorted_by_network() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["/60"]).await;
    for (slaac, is_public) in [
        ("fd67:6172:0:9::/64", true),
        ("auto", false),
        ("fd67:6172:0:a::/64", true),
    ] {
        let ipv6 = json!({"slaac": [{"range": slaac}], "ranges": [{}], "is_public": is_public});
        let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv6": ipv6}]);
        let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
        assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    }
    let networks = async |filter: &str| {
        let rows = ada.filter("/vpcs/ipv6s", filter).await.data();
        let network = |row: &Value| {
            let range = row["ipv6_range"].as_str().unwrap();
            range
                .trim_start_matches("fd67:6172:0:")
                .trim_end_matches("::/64")
                .to_owned()
        };
        rows.iter().map(network).collect::<Vec<_>>().join(" ")
    };
    for (filter, expected) in [
        ("{}", "9 1 2 3 a 4"),
        (r#"{"ipv6_range":"fd67:6172:0:9::/64"}"#, "9"),
        (r#"{"ipv6_range":"FD67:6172:0000:9:0::/64"}"#, "9"),
        (r#"{"ipv6_range":"fd67:6172:0:8::/64"}"#, ""),
        (r#"{"ipv6_range":{"+neq":"fd67:6172:0:9::/64"}}"#, "1 2 3 a 4"),
        (
            r#"{"ipv6_range":{"+gte":"fd67:6172:0:3::/64","+lt":"fd67:6172:0:a::/64"}}"#,
            "9 3 4",
        ),
        (
            r#"{"ipv6_range":{"+or":["fd67:6172:0:1::/64","fd67:6172:0:a::/64"]}}"#,
            "1 a",
        ),
        (r#"{"+order_by":"ipv6_range"}"#, "1 2 3 4 9 a"),
        (r#"{"+order_by":"ipv6_range","+order":"desc"}"#, "a 9 4 3 2 1"),
        (r#"{"ipv6_range":null}"#, ""),
        (r#"{"ipv6_is_public":true}"#, "9 1 a 4"),
        (r#"{"ipv6_is_public":false,"linode_id":2}"#, "2 3"),
    ] {
        assert_eq!(networks(filter).await, expected, "{filter}");
    }
    for value in [
        r#""fd67:6172::/52""#,
        r#""fd67:6172:0:9::1/64""#,
        r#""9""#,
        "9",
        r#"{"+contains":"9"}"#,
    ] {
        let refused = ada
            .filter("/vpcs/1/ipv6s", &format!(r#"{{"ipv6_range":{value}}}"#))
            .await;
        assert_eq!(refused.errors(), ["X-Filter filter_type"], "{value}");
    }
    let refused = ada.filter("/vpcs/ips", r#"{"ipv6_range":null}"#).await;
    assert_eq!(refused.errors(), ["X-Filter filter_field"]);
}

#[tokio::test]
async fn the_addresses_of_an_instance_are_those_of_its_configs() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let nat = json!([{"purpose": "vpc", "subnet_id": 1, "ipv4": {"nat_1_1": "any"}}]);
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": nat});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    let bob = app
        .user("bob")
        .may(Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .await;

    let configs = bob.get("/linode/instances/1/configs").await.data();
    assert_eq!(configs[0]["interfaces"][0]["ipv4"]["vpc"], "10.0.0.2");
    let ips = bob.get("/linode/instances/1/ips").await.json();
    assert_eq!(ips["ipv4"]["vpc"][0]["address"], "10.0.0.2");
    assert_eq!(ips, ada.get("/linode/instances/1/ips").await.json());
    let public = bob.get("/networking/ips/192.0.2.2").await.json();
    assert_eq!(public["vpc_nat_1_1"]["address"], "10.0.0.2");
    assert_eq!(bob.count("/vpcs/ips").await, 0, "a list of VPC addresses");
    assert_eq!(bob.get("/vpcs/1/ips").await.status, 404);
}
