//! Deletion of instances, and of the subnets that they use.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use super::instances::{NANODE, event_lines};
use crate::harness::TestApp;

#[tokio::test]
async fn a_subnet_in_use_can_be_deleted_only_in_the_documented_order() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let interfaces =
        json!([{"purpose": "public"}, {"purpose": "vpc", "subnet_id": 2, "ipv4": {"nat_1_1": "any"}}]);
    let body = json!({"type": NANODE, "region": "us-east", "label": "web-1", "interfaces": interfaces});
    ada.post("/linode/instances", body).await;
    assert_eq!(ada.post("/linode/instances/1/boot", json!({})).await.status, 200);

    let record = json!({
        "address": "10.0.1.2", "address_range": null, "vpc_id": 1, "subnet_id": 2, "region": "us-east",
        "linode_id": 1, "compute_id": 1, "config_id": 1, "interface_id": 2, "active": true,
        "nat_1_1": "192.0.2.2", "gateway": "10.0.1.1", "prefix": 24, "subnet_mask": "255.255.255.0",
    });
    for path in ["/vpcs/ips", "/networking/vpcs/ips", "/vpcs/1/ips"] {
        assert_eq!(
            ada.get(path).await.data()[..],
            *std::slice::from_ref(&record),
            "{path}"
        );
    }
    let compute = json!([{"id": 1, "interfaces": [{"id": 2, "active": true, "config_id": 1}]}]);
    let subnet = ada.get("/vpcs/1/subnets/2").await.json();
    assert_eq!((&subnet["linodes"], &subnet["computes"]), (&compute, &compute));

    let (before, recorded) = (ada.get("/vpcs").await.body, event_lines(&ada).await);
    for path in ["/vpcs/1/subnets/2", "/vpcs/1"] {
        let refused = ada.delete(path).await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (400, vec!["- subnet_in_use".to_owned()])
        );
        let error = &refused.json()["errors"][0];
        assert_eq!(
            error["reason"],
            "Subnet b is in use by instance 1 (web-1), config 1, interface 2; shut the instance down, then delete the interface"
        );
        let blocker = json!({
            "subnet_id": 2, "linode_id": 1, "compute_id": 1, "linode_label": "web-1", "config_id": 1,
            "interface_id": 2, "active": true,
        });
        assert_eq!(error["blocker"], blocker);
    }
    let interface = "/linode/instances/1/configs/1/interfaces/2";
    assert_eq!(ada.delete(interface).await.errors(), ["- interface_active"]);
    assert_eq!(
        (ada.get("/vpcs").await.body, event_lines(&ada).await),
        (before, recorded),
        "nothing changed, and no event was recorded"
    );

    ada.post("/linode/instances/1/shutdown", json!({})).await;
    let inactive = ada.delete("/vpcs/1").await.json();
    assert_eq!(inactive["errors"][0]["blocker"]["active"], false);
    assert_eq!(ada.delete(interface).await.status, 200);
    assert_eq!(ada.delete("/vpcs/1/subnets/2").await.status, 200);
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    assert_eq!(
        event_lines(&ada).await,
        [
            "vpc_create 1 notification",
            "subnet_create 1 notification",
            "subnet_create 2 notification",
            "linode_create 1 finished",
            "linode_boot 1 finished",
            "linode_shutdown 1 finished",
            "linode_config_update 1 notification",
            "subnet_delete 2 notification",
            "subnet_delete 1 notification",
            "vpc_delete 1 notification",
        ]
    );
}

#[tokio::test]
async fn deleting_an_instance_releases_its_addresses_in_any_state() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    ada.post("/linode/instances/1/boot", json!({})).await;

    assert_eq!(ada.delete("/linode/instances/1").await.status, 200);
    assert_eq!(ada.get("/linode/instances/1").await.status, 404);
    assert_eq!(ada.count("/vpcs/ips").await, 0);
    let again = ada.create_instance_on(1).await.json();
    assert_eq!(
        (&again["id"], &again["ipv4"]),
        (&json!(2), &json!(["192.0.2.2"])),
        "the address is reused, the ID is not"
    );
    assert_eq!(ada.get("/vpcs/ips").await.data()[0]["address"], "10.0.0.2");
    ada.delete("/linode/instances/2").await;
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
}

#[tokio::test]
async fn the_event_of_a_deletion_ends_as_finished_and_outlives_the_instance() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
        .await;

    ada.delete("/linode/instances/1").await;

    let filter = r#"{"entity.type":"linode","entity.id":1,"action":"linode_delete"}"#;
    let found = ada.filter("/account/events", filter).await.ids();
    assert_eq!(found, [2]);
    assert_eq!(ada.get("/linode/instances/1").await.status, 404);
    let event = ada.get("/account/events/2").await.json();
    assert_eq!(
        (&event["status"], &event["percent_complete"], &event["duration"]),
        (&json!("finished"), &json!(100), &json!(0.0))
    );
    assert_eq!(event["entity"]["label"], "linode1");
}

#[tokio::test]
async fn public_addresses_can_be_exhausted_and_are_reused() {
    let range = garth::model::cidr::Cidr::parse("203.0.113.0/29").unwrap();
    let app = TestApp::with(|policy, _| policy.public_ranges = vec![range]).await;
    let ada = app.user("ada").await;
    let create = async || {
        ada.post("/linode/instances", json!({"type": NANODE, "region": "us-east"}))
            .await
    };

    for last in 2..=6 {
        assert_eq!(
            create().await.json()["ipv4"],
            json!([format!("203.0.113.{last}")])
        );
    }
    assert_eq!(create().await.errors(), ["- addresses_exhausted"]);
    for freed in [1, 3] {
        ada.delete(&format!("/linode/instances/{freed}")).await;
    }
    assert_eq!(create().await.json()["ipv4"], json!(["203.0.113.2"]));
    assert_eq!(create().await.json()["ipv4"], json!(["203.0.113.4"]));
    assert_eq!(create().await.errors(), ["- addresses_exhausted"]);
}

#[tokio::test]
async fn a_blocker_shows_the_instance_label_only_if_it_is_visible() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    let grant = Grant::Vpc(garth::model::id::VpcId(1), Permission::ReadWrite);
    let bob = app.user("bob").may(grant).await;

    let refused = bob.delete("/vpcs/1").await.json();

    let blocker = &refused["errors"][0]["blocker"];
    assert_eq!(
        (&blocker["linode_id"], blocker.get("linode_label")),
        (&json!(1), None)
    );
    assert!(!refused.to_string().contains("linode1"), "{refused}");
}
