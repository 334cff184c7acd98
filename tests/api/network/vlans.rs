//! VLANs and the ranges for subnets.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::harness::{BEGINNING, TestApp};

#[tokio::test]
async fn vlans_are_those_that_interfaces_name() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("linodes:read_write").await;
    let bob = app.user("bob").restricted().await;
    assert!(ada.get("/networking/vlans").await.data().is_empty());
    for (region, label) in [
        ("us-mia", "back"),
        ("us-east", "back"),
        ("us-mia", "back"),
        ("us-mia", "front"),
    ] {
        let interfaces = json!([{"purpose": "public"}, {"purpose": "vlan", "label": label}]);
        let body = json!({"type": "g6-nanode-1", "region": region, "interfaces": interfaces});
        assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    }

    let vlans = ada.get("/networking/vlans").await.data();

    let vlan = |label: &str, region: &str, linodes: &[i64]| json!({"label": label, "region": region, "linodes": linodes, "created": BEGINNING});
    let [east, back, front] = [
        vlan("back", "us-east", &[2]),
        vlan("back", "us-mia", &[1, 3]),
        vlan("front", "us-mia", &[4]),
    ];
    assert_eq!(vlans, [east.clone(), back, front.clone()]);
    let filtered = ada.filter("/networking/vlans", r#"{"region":"us-east"}"#).await;
    assert_eq!(filtered.data(), [east]);
    assert!(bob.get("/networking/vlans").await.data().is_empty());
    app.grant("bob", Grant::Linode(InstanceId(4), Permission::ReadOnly))
        .await;
    assert_eq!(bob.get("/networking/vlans").await.data(), [front]);
    ada.delete("/linode/instances/4").await;
    assert_eq!(ada.get("/networking/vlans").await.data().len(), 2);
    let other = app.user("grace").of(app.another_account().await).await;
    assert!(other.get("/networking/vlans").await.data().is_empty());
}

#[tokio::test]
async fn the_default_ranges_exclude_the_reserved_ones() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("events:read_only").await;
    assert_eq!(
        ada.get("/vpcs/default-ranges").await.json(),
        json!({
            "default_ipv4_ranges": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/17"],
            "forbidden_ipv4_ranges": ["192.168.128.0/17"],
        })
    );
    let parse = |raw: &str| garth::model::cidr::Cidr::parse(raw).unwrap();
    let app = TestApp::with(|policy, _| {
        policy.forbidden_ranges = ["10.64.0.0/10", "172.0.0.0/8", "192.168.0.8/30"]
            .map(parse)
            .to_vec();
    })
    .await;
    let ranges = app.user("ada").await.get("/vpcs/default-ranges").await.json();
    let allowed = ranges["default_ipv4_ranges"].as_array().unwrap();
    assert_eq!(allowed[..2], [json!("10.0.0.0/10"), json!("10.128.0.0/9")]);
    assert_eq!(allowed[2], "192.168.0.0/29");
    assert_eq!(allowed[3], "192.168.0.16/28");
}
