//! VPC subnets: interface §4.2.

use serde_json::json;

use crate::harness::{BEGINNING, TestApp};

#[tokio::test]
async fn a_subnet_is_created_viewed_renamed_and_deleted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;

    let created = ada
        .post("/vpcs/1/subnets", json!({"label": "web", "ipv4": "10.0.0.0/29"}))
        .await;
    let subnet = json!({
        "id": 1, "label": "web", "ipv4": "10.0.0.0/29", "ipv6": null, "linodes": [], "computes": [],
        "databases": [], "nodebalancers": [], "vpc_type": "regular", "created": BEGINNING, "updated": BEGINNING,
    });
    assert_eq!((created.status.as_u16(), created.json()), (200, subnet.clone()));
    assert_eq!(ada.get("/vpcs/1/subnets/1").await.json(), subnet);
    assert_eq!(ada.get("/vpcs/1/subnets").await.data(), [subnet]);

    app.advance(5);
    let renamed = ada
        .put(
            "/vpcs/1/subnets/1",
            json!({"label": "shop", "ipv4": "10.9.0.0/16"}),
        )
        .await
        .json();
    assert_eq!(
        (&renamed["label"], &renamed["ipv4"]),
        (&json!("shop"), &json!("10.0.0.0/29"))
    );
    assert_eq!(renamed["updated"], "2024-06-01T12:00:05");
    assert_eq!(
        ada.get("/vpcs/1").await.json()["updated"],
        BEGINNING,
        "the VPC itself was not updated"
    );

    assert_eq!(&ada.delete("/vpcs/1/subnets/1").await.body[..], b"{}");
    assert_eq!(ada.get("/vpcs/1/subnets/1").await.status, 404);
    assert_eq!(
        ada.events().await,
        [
            "vpc_create 1",
            "subnet_create 1",
            "subnet_update 1",
            "subnet_delete 1"
        ]
    );
}

#[tokio::test]
async fn labels_are_unique_within_a_vpc_ignoring_case() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    ada.create_vpc("edge", &[]).await;

    let taken = json!({"label": "A", "ipv4": "10.0.2.0/24"});
    assert_eq!(
        ada.post("/vpcs/1/subnets", taken.clone()).await.errors(),
        ["label label_taken"]
    );
    assert_eq!(
        ada.put("/vpcs/1/subnets/2", json!({"label": "A"})).await.errors(),
        ["label label_taken"]
    );
    assert_eq!(ada.post("/vpcs/2/subnets", taken).await.status, 200);
    assert_eq!(
        ada.put("/vpcs/1/subnets/1", json!({"label": "A"})).await.json()["label"],
        "A"
    );
    assert_eq!(
        ada.put("/vpcs/1/subnets/1", json!({"label": "A"})).await.status,
        200
    );
}

#[tokio::test]
async fn overlapping_subnets_are_refused_and_adjacent_ones_accepted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.4.0/22"]).await;

    for (range, good) in [
        ("10.0.4.0/22", false),
        ("10.0.4.0/29", false),
        ("10.0.7.248/29", false),
        ("10.0.5.0/24", false),
        ("10.0.0.0/16", false),
        ("10.0.0.0/8", false),
        ("10.0.0.0/22", true),
        ("10.0.8.0/29", true),
        ("172.16.0.0/12", true),
    ] {
        let label = range.replace(['.', '/'], "-");
        let reply = ada
            .post("/vpcs/1/subnets", json!({"label": label, "ipv4": range}))
            .await;
        match good {
            true => assert_eq!(reply.status, 200, "{range}: {reply}"),
            false => assert_eq!(reply.errors(), ["ipv4 cidr_overlap"], "{range}"),
        }
    }
}

#[tokio::test]
async fn the_subnet_quota_applies_to_initial_and_later_subnets() {
    let app = TestApp::with(|policy, _| policy.quota.subnets_per_vpc = 2).await;
    let ada = app.user("ada").await;

    let subnets = ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"];
    let subnet = |at: usize| json!({"label": format!("s{at}"), "ipv4": subnets[at]});
    let three = json!({"label": "core", "region": "us-east", "subnets": [subnet(0), subnet(1), subnet(2)]});
    assert_eq!(ada.post("/vpcs", three).await.errors(), ["- quota_exceeded"]);
    let clashing = json!({"label": "core", "region": "us-east", "subnets": [subnet(0), subnet(1), subnet(1), subnet(0)]});
    assert_eq!(
        ada.post("/vpcs", clashing).await.errors(),
        [
            "subnets[2].label label_taken",
            "subnets[2].ipv4 cidr_overlap",
            "subnets[3].label label_taken",
            "subnets[3].ipv4 cidr_overlap",
            "- quota_exceeded",
        ]
    );
    ada.create_vpc("core", &subnets[..2]).await;
    assert_eq!(
        ada.post("/vpcs/1/subnets", subnet(2)).await.errors(),
        ["- quota_exceeded"]
    );
    ada.delete("/vpcs/1/subnets/1").await;
    assert_eq!(ada.post("/vpcs/1/subnets", subnet(2)).await.status, 200);
}

#[tokio::test]
async fn a_subnet_is_found_only_under_its_own_vpc() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_vpc("edge", &["10.0.0.0/24"]).await;

    assert_eq!(ada.get("/vpcs/2/subnets/1").await.status, 404);
    assert_eq!(
        ada.put("/vpcs/2/subnets/1", json!({"label": "x"})).await.status,
        404
    );
    assert_eq!(ada.delete("/vpcs/2/subnets/1").await.status, 404);
    assert_eq!(ada.get("/vpcs/1/subnets/1").await.json()["label"], "a");
}
