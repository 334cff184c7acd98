//! Hosts as staff see them.

use std::net::Ipv4Addr;

use hyper::Method;
use serde_json::json;

use super::{add_host, create_instance};
use crate::harness::TestApp;

#[tokio::test]
async fn staff_add_change_and_remove_hosts() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let new = json!({"label": "rack-1", "region": "us-east", "underlay_address": "172.31.0.1"});
    let created = sam.post("/hosts", new).await;
    assert_eq!(
        created.json(),
        json!({"id": 1, "label": "rack-1", "region": "us-east", "status": "new", "agent_status": "new",
            "underlay_address": "172.31.0.1", "instances": 0, "capacity": 100, "agent_version": null,
            "last_seen": null, "warnings": [],
            "created": "2024-06-01T12:00:00", "updated": "2024-06-01T12:00:00"})
    );
    let changed = sam
        .put("/hosts/1", json!({"label": "rack-9", "capacity": 5}))
        .await;
    assert_eq!(
        (&changed.json()["label"], &changed.json()["capacity"]),
        (&json!("rack-9"), &json!(5))
    );
    assert_eq!(sam.get("/hosts").await.ids(), [1]);
    assert_eq!(sam.delete("/hosts/1").await.status, 200);
    assert_eq!(sam.get("/hosts/1").await.status, 404);
}

#[tokio::test]
async fn invalid_hosts_are_refused_with_all_errors() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    add_host(&sam, 1, 5).await;
    let wrong =
        json!({"label": "RACK-1", "region": "nowhere", "underlay_address": "127.0.0.1", "capacity": 0});
    let codes: Vec<_> = sam.post("/hosts", wrong).await.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            format!(
                "{} {}",
                error["field"].as_str().unwrap(),
                error["code"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        codes,
        [
            "label label_taken",
            "region region_invalid",
            "underlay_address address_invalid",
            "capacity out_of_range"
        ]
    );
    let same = json!({"label": "rack-2", "region": "us-east", "underlay_address": "172.31.0.1"});
    let refused = sam.post("/hosts", same).await;
    assert_eq!(refused.json()["errors"][0]["code"], "address_taken");
    let elsewhere = json!({"label": "rack-2", "region": "us-west", "underlay_address": "172.31.0.1"});
    assert_eq!(sam.post("/hosts", elsewhere).await.status, 200);
}

#[tokio::test]
async fn hosts_and_instances_have_different_addresses() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    let instance = json!({"region": "us-west", "type": "g6-nanode-1"});
    let first = ada.post("/linode/instances", instance.clone()).await.json();
    let first: Ipv4Addr = first["ipv4"][0].as_str().unwrap().parse().unwrap();
    let host = |label: &str, address: Ipv4Addr| json!({"label": label, "region": "us-east", "underlay_address": address.to_string()});
    let taken = sam.post("/hosts", host("rack-1", first)).await;
    assert_eq!(taken.errors(), ["underlay_address address_taken"]);

    let next = Ipv4Addr::from_bits(first.to_bits() + 1);
    assert_eq!(sam.post("/hosts", host("rack-1", next)).await.status, 200);
    let second = ada.post("/linode/instances", instance).await.json();
    assert_eq!(
        second["ipv4"][0],
        Ipv4Addr::from_bits(first.to_bits() + 2).to_string()
    );
}

#[tokio::test]
async fn a_host_has_an_address_of_a_machine_and_a_label_that_is_no_number() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    for address in [
        "255.255.255.255",
        "0.0.0.0",
        "127.0.0.1",
        "224.0.0.1",
        "::1",
        "ff02::1",
        "fe80::1",
    ] {
        let body = json!({"label": "42", "region": "us-east", "underlay_address": address});
        let refused = sam.post("/hosts", body).await;
        let expected = ["label label_characters", "underlay_address address_invalid"];
        let mut errors = refused.errors();
        errors.sort();
        assert_eq!(errors, expected, "{address}");
    }
}

#[tokio::test]
async fn the_hosts_of_a_region_have_addresses_of_one_family() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let host = |label: &str, address: &str| json!({"label": label, "region": "us-east", "underlay_address": address});
    let only = sam.post("/hosts", host("rack-1", "172.31.0.1")).await;
    assert_eq!(only.status, 200);
    let other = sam.post("/hosts", host("rack-2", "2001:db8::2")).await;
    assert_eq!(other.errors(), ["underlay_address address_invalid"]);
    assert_eq!(
        other.json()["errors"][0]["reason"],
        "Must be an IPv4 address, as that of rack-1 in the same region"
    );

    let changed = sam
        .put("/hosts/1", json!({"underlay_address": "2001:db8::1"}))
        .await;
    assert_eq!(changed.status, 200, "the only host can change");
    assert_eq!(
        sam.post("/hosts", host("rack-2", "2001:db8::2")).await.status,
        200
    );
    let back = sam
        .put("/hosts/2", json!({"underlay_address": "172.31.0.2"}))
        .await;
    assert_eq!(back.errors(), ["underlay_address address_invalid"]);
}

#[tokio::test]
async fn a_host_is_online_while_its_agent_reports() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let agent = add_host(&sam, 1, 5).await;
    let host = sam.get("/hosts/1").await;
    assert_eq!(host.json()["status"], "online");
    assert_eq!(host.json()["agent_version"], "0.2.0");
    assert_eq!(host.json()["last_seen"], "2024-06-01T12:00:00");
    app.advance(61);
    assert_eq!(sam.get("/hosts/1").await.json()["status"], "offline");
    agent.report(json!([])).await;
    let again = sam.get("/hosts/1").await;
    assert_eq!(again.json()["status"], "online");
    assert_eq!(
        again.header("etag"),
        host.header("etag"),
        "the tag does not depend on the last report"
    );
}

#[tokio::test]
async fn the_state_of_the_agent_is_visible_while_the_host_is_draining() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let agent = add_host(&sam, 1, 5).await;
    let states = async || {
        let host = sam.get("/hosts/1").await.json();
        let listed = sam.get("/hosts").await.data()[0].clone();
        assert_eq!(host["agent_status"], listed["agent_status"]);
        [host["status"].clone(), host["agent_status"].clone()]
    };
    assert_eq!(states().await, ["online", "online"]);
    sam.post("/hosts/1/drain", json!({})).await;
    assert_eq!(states().await, ["draining", "online"]);
    app.advance(61);
    assert_eq!(states().await, ["draining", "offline"]);
    agent.report(json!([])).await;
    assert_eq!(states().await, ["draining", "online"]);
    sam.post("/hosts/1/join-token", json!({"revoke": true})).await;
    assert_eq!(states().await, ["draining", "revoked"]);
    sam.post("/hosts/1/undrain", json!({})).await;
    assert_eq!(states().await, ["offline", "revoked"]);
}

#[tokio::test]
async fn a_host_has_the_problems_that_its_agent_reports() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    let label = create_instance(&ada, 1).await.json()["label"].clone();
    create_instance(&ada, 1).await;
    let host = sam.get("/hosts/1").await.json();
    assert_eq!(
        (&host["warnings"], &host["port_errors"]),
        (&json!([]), &json!([]))
    );
    let ports = json!([{"interface_id": 1, "status": "error", "reason": "no VXLAN"},
        {"interface_id": 2, "status": "up"}]);
    agent
        .report_with(json!({"warnings": ["the MTU is small"], "ports": ports}))
        .await;
    let host = sam.get("/hosts/1").await;
    assert_eq!(host.json()["warnings"], json!(["the MTU is small"]));
    assert_eq!(
        host.json()["port_errors"],
        json!([{"interface_id": 1, "instance_id": 1, "instance": label, "reason": "no VXLAN"}])
    );
    let listed = sam.get("/hosts").await.data();
    assert_eq!(listed[0]["warnings"], json!(["the MTU is small"]));
    assert!(listed[0].get("port_errors").is_none(), "{listed:?}");
    let tag = host.header("etag").to_owned();
    let changed = sam
        .call(Method::PUT, "/hosts/1")
        .header("if-match", &tag)
        .json(&json!({"capacity": 7}))
        .await;
    assert_eq!(changed.status, 200, "the tag of the host is valid: {changed}");
}

#[tokio::test]
async fn the_region_of_a_host_cannot_be_changed() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    add_host(&sam, 1, 5).await;
    let refused = sam
        .put("/hosts/1", json!({"region": "us-west", "capacity": 9}))
        .await;
    assert_eq!(refused.errors(), ["region region_invalid"]);
    let reason = refused.json()["errors"][0]["reason"].clone();
    assert!(
        reason
            .as_str()
            .expect("a text")
            .contains("cannot be changed from us-east")
    );
    assert_eq!(sam.get("/hosts/1").await.json()["capacity"], 5);
    let same = json!({"region": "us-east", "label": "rack-9"});
    assert_eq!(sam.put("/hosts/1", same).await.json()["label"], "rack-9");
}
