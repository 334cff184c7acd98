//! What an account may have.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn quotas_tell_the_limits_and_what_is_used() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("events:read_only").await;
    let bob = app.user("bob").await;
    bob.creates_vpc("one", &[]).await;
    bob.creates_vpc("two", &[]).await;
    bob.post("/vpcs", json!({"label": "three", "region": "us-mia"}))
        .await;

    let quotas = ada.get("/account/quotas").await.json();

    assert_eq!(
        quotas,
        json!({
            "vpcs_per_region": {"limit": 1000, "used": {"us-east": 2, "us-mia": 1}},
            "subnets_per_vpc": {"limit": 1000},
        })
    );
}
