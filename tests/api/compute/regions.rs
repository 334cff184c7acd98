//! Regions: a public catalog.

use std::net::IpAddr;

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn regions_need_no_token() {
    let app = TestApp::new().await;

    let regions = app.anonymous().get("/regions").await;

    assert_eq!(regions.status, 200);
    assert_eq!(regions.data().len(), 34);
    assert!(
        regions
            .data()
            .iter()
            .all(|region| region["capabilities"].to_string().contains("VPCs"))
    );
    let miami = app.anonymous().get("/regions/us-mia").await.json();
    assert_eq!(
        (&miami["label"], &miami["country"]),
        (&json!("Miami, FL"), &json!("us"))
    );
    assert_eq!(app.anonymous().get("/regions/mars").await.status, 404);
}

#[tokio::test]
async fn regions_have_resolvers_and_only_capabilities_that_garth_implements() {
    let app = TestApp::new().await;
    for region in app.anonymous().get("/regions").await.data() {
        assert_eq!(
            region["capabilities"],
            json!([
                "Linodes",
                "Vlans",
                "VPCs",
                "Maintenance Policy",
                "VPC Dual Stack",
                "VPC IPv6 Stack",
                "VPC IPv6 Large Prefixes"
            ])
        );
        let limits = json!({"maximum_pgs_per_customer": 0, "maximum_linodes_per_pg": 0,
            "maximum_linodes_per_flexible_pg": 0});
        assert_eq!(region["placement_group_limits"], limits);
        for version in ["ipv4", "ipv6"] {
            let resolvers = region["resolvers"][version].as_str().unwrap();
            let parsed = resolvers.split(',').all(|one| one.parse::<IpAddr>().is_ok());
            assert!(parsed, "{resolvers}");
        }
    }
}

#[tokio::test]
async fn the_upstream_profile_has_the_regions_of_the_public_service() {
    let app = TestApp::with(|policy, _| policy.regions = garth::model::region::built_in(true)).await;
    let anonymous = app.anonymous();
    let tokyo = anonymous.get("/regions/ap-northeast").await.json();
    assert_eq!(
        (&tokyo["label"], &tokyo["capabilities"]),
        (
            &json!("Tokyo 2, JP"),
            &json!([
                "Linodes",
                "Disk Encryption",
                "Vlans",
                "Metadata",
                "Maintenance Policy"
            ])
        )
    );
    let limits = json!({"maximum_pgs_per_customer": null, "maximum_linodes_per_pg": 5,
        "maximum_linodes_per_flexible_pg": 250});
    assert_eq!(tokyo["placement_group_limits"], limits);
    let resolvers = tokyo["resolvers"]["ipv4"].as_str().unwrap();
    assert!(resolvers.starts_with("139.162.66.5,139.162.67.5,"), "{resolvers}");
    let miami = anonymous.get("/regions/us-mia").await.json();
    assert_eq!(
        miami["capabilities"],
        json!([
            "Linodes",
            "Disk Encryption",
            "Vlans",
            "VPCs",
            "VPC Dual Stack",
            "VPC IPv6 Stack",
            "Metadata",
            "Maintenance Policy"
        ])
    );
    let ada = app.user("ada").await;
    let new = json!({"region": "us-mia", "type": "g6-nanode-1", "label": "web-1"});
    let instance = ada.post("/linode/instances", new).await.json();
    assert_eq!(instance["disk_encryption"], "enabled");
}

#[tokio::test]
async fn regions_support_paging_and_filters() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();

    let second = anonymous.get("/regions?page=2&page_size=10").await;
    assert_eq!(
        (second.data().len(), second.json()["pages"].clone()),
        (10, json!(4))
    );
    let ids = |reply: crate::harness::Reply| -> Vec<String> {
        reply
            .data()
            .iter()
            .map(|region| region["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let filter = r#"{"country":"jp","+order_by":"id","+order":"desc"}"#;
    assert_eq!(
        ids(anonymous.filter("/regions", filter).await),
        ["jp-tyo-3", "jp-osa", "ap-northeast"]
    );
    let filter = r#"{"label":{"+contains":"PAR"},"id":{"+neq":"x"}}"#;
    assert_eq!(
        ids(anonymous.filter("/regions", filter).await),
        ["fr-par", "fr-par-2"]
    );
    let core = anonymous.filter("/regions", r#"{"site_type":"core"}"#).await;
    assert_eq!(core.json()["results"], 34);
    let edge = anonymous
        .filter("/regions", r#"{"site_type":"distributed"}"#)
        .await;
    assert_eq!(edge.json()["results"], 0);
    assert_eq!(
        anonymous.filter("/regions", r#"{"site":"x"}"#).await.errors(),
        ["X-Filter filter_field"]
    );
    assert_eq!(
        anonymous.get("/regions?page_size=0").await.errors(),
        ["page_size page_size_invalid"]
    );
}

#[tokio::test]
async fn regions_report_which_types_and_vpcs_are_available() {
    let app = TestApp::with(|policy, _| {
        policy.regions = garth::model::region::built_in(true);
        policy.regions[0].capabilities.clear();
    })
    .await;
    let (anonymous, ada) = (app.anonymous(), app.user("ada").scopes("vpc:read_only").await);
    let (regions, types) = (
        anonymous.count("/regions").await,
        anonymous.count("/linode/types").await,
    );
    assert_eq!(
        anonymous.count("/v4beta/regions/availability").await,
        regions * types
    );
    let filter = r#"{"region":"us-mia","plan":"g6-nanode-1","available":true}"#;
    let nanode = json!({"region": "us-mia", "plan": "g6-nanode-1", "available": true});
    let found = anonymous.filter("/regions/availability", filter).await;
    assert_eq!(found.data()[..], [json!(nanode)]);
    let none = anonymous
        .filter("/regions/availability", r#"{"available":false}"#)
        .await;
    assert_eq!(none.json()["results"], types, "one region has no instances");
    let miami = anonymous.get("/regions/us-mia/availability").await.json();
    assert_eq!(
        (miami.as_array().unwrap().len() as i64, &miami[0]),
        (types, &nanode)
    );
    assert_eq!(anonymous.get("/regions/mars/availability").await.status, 404);

    let able = json!({"region": "us-mia", "available": true, "available_ipv6_prefix_lengths": []});
    assert_eq!(ada.get("/regions/us-mia/vpc-availability").await.json(), able);
    assert_eq!(
        ada.get("/regions/us-west/vpc-availability").await.json()["available"],
        false
    );
    let missing = ada.get("/regions/mars/vpc-availability").await;
    assert_eq!(
        (missing.status.as_u16(), missing.reason().as_str()),
        (404, "Not found")
    );
    assert_eq!(ada.count("/regions/vpc-availability").await, regions);
    let filter = r#"{"available":true,"region":"us-mia"}"#;
    assert_eq!(
        ada.filter("/regions/vpc-availability", filter).await.data(),
        [able]
    );
}

#[tokio::test]
async fn a_region_without_the_capability_refuses_vpcs() {
    let app = TestApp::with(|policy, _| policy.regions = garth::model::region::built_in(true)).await;
    let ada = app.user("ada").await;

    let reply = ada
        .post("/vpcs", json!({"label": "core", "region": "us-east"}))
        .await;

    assert_eq!(reply.errors(), ["region region_invalid"]);
    assert!(
        reply.reason().contains("us-mia") && !reply.reason().contains("us-west"),
        "{reply}"
    );
    assert_eq!(
        ada.post("/vpcs", json!({"label": "core", "region": "us-mia"}))
            .await
            .status,
        200
    );
}
