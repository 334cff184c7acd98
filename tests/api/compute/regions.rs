//! Regions: a public catalog.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn regions_need_no_token() {
    let app = TestApp::new().await;

    let regions = app.stranger().get("/regions").await;

    assert_eq!(regions.status, 200);
    assert_eq!(regions.data().len(), 25);
    assert!(
        regions
            .data()
            .iter()
            .all(|region| region["capabilities"].to_string().contains("VPCs"))
    );
    let miami = app.stranger().get("/regions/us-mia").await.json();
    assert_eq!(
        (&miami["label"], &miami["country"]),
        (&json!("Miami, FL"), &json!("us"))
    );
    assert_eq!(app.stranger().get("/regions/mars").await.status, 404);
}

#[tokio::test]
async fn regions_support_paging_and_filters() {
    let app = TestApp::new().await;
    let stranger = app.stranger();

    let second = stranger.get("/regions?page=2&page_size=10").await;
    assert_eq!(
        (second.data().len(), second.json()["pages"].clone()),
        (10, json!(3))
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
        ids(stranger.filter("/regions", filter).await),
        ["jp-osa", "ap-northeast"]
    );
    let filter = r#"{"label":{"+contains":"PAR"},"id":{"+neq":"x"}}"#;
    assert_eq!(ids(stranger.filter("/regions", filter).await), ["fr-par"]);
    let core = stranger.filter("/regions", r#"{"site_type":"core"}"#).await;
    assert_eq!(core.json()["results"], 25);
    let edge = stranger
        .filter("/regions", r#"{"site_type":"distributed"}"#)
        .await;
    assert_eq!(edge.json()["results"], 0);
    assert_eq!(
        stranger.filter("/regions", r#"{"site":"x"}"#).await.errors(),
        ["X-Filter filter_field"]
    );
    assert_eq!(
        stranger.get("/regions?page_size=0").await.errors(),
        ["page_size page_size_invalid"]
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
