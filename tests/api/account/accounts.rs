//! Accounts and quotas.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn quotas_show_limits_and_usage() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("events:read_only").await;
    let bob = app.user("bob").await;
    bob.create_vpc("one", &[]).await;
    bob.create_vpc("two", &[]).await;
    bob.post("/vpcs", json!({"label": "three", "region": "us-mia"}))
        .await;

    let quotas = ada.get("/account/quotas").await.json();

    assert_eq!(
        quotas,
        json!({
            "vpcs_per_region": {"limit": 1000, "used": {"us-east": 2, "us-mia": 1}},
            "subnets_per_vpc": {"limit": 1000},
            "attachment_bytes": {"limit": 10_737_418_240_i64, "used": 0},
        })
    );
}

#[tokio::test]
async fn the_account_has_the_public_format_without_billing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("account:read_only").await;

    let account = ada.get("/account").await.json();

    let euuid = account["euuid"].as_str().unwrap().to_owned();
    let groups: Vec<_> = euuid.split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 16]);
    assert!(
        euuid
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F' | b'-')),
        "{euuid}"
    );
    let expected = json!({
        "company": "Example", "email": "owner@example.com", "first_name": "", "last_name": "",
        "address_1": "", "address_2": "", "city": "", "state": "", "zip": "", "country": "", "phone": "",
        "balance": 0, "balance_uninvoiced": 0, "tax_id": "", "billing_source": "linode",
        "credit_card": {"last_four": null, "expiry": null}, "active_since": "2024-06-01T12:00:00",
        "capabilities": ["Linodes", "VPCs", "Vlans", "VPC Dual Stack", "VPC IPv6 Large Prefixes"],
        "active_promotions": [], "euuid": euuid,
    });
    assert_eq!(account, expected);
    let other = app.user("grace").of(app.another_account().await).await;
    assert_ne!(other.get("/account").await.json()["euuid"], euuid);
    assert_eq!(
        ada.get("/account/settings").await.json(),
        json!({
            "managed": false, "longview_subscription": null, "network_helper": true,
            "backups_enabled": false, "object_storage": "disabled",
            "interfaces_for_new_linodes": "legacy_config_only", "maintenance_policy": "linode/migrate",
        })
    );
}

#[tokio::test]
async fn every_region_reports_all_services_as_available() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let regions = ada.count("/regions").await;
    assert_eq!(ada.count("/account/availability").await, regions);
    let able = ada.get("/regions/us-mia").await.json()["capabilities"].clone();
    let mia = json!({"region": "us-mia", "available": able, "unavailable": []});
    assert_eq!(ada.get("/account/availability/us-mia").await.json(), mia);
    let found = ada
        .filter("/account/availability", r#"{"region": "us-mia"}"#)
        .await;
    assert_eq!(found.data(), [mia]);
    let terraform = ada
        .filter("/account/availability", r#"{"+and":[],"+order":"desc"}"#)
        .await;
    assert_eq!(terraform.json()["results"], regions);
    let refused = ada
        .filter("/account/availability", r#"{"label": "Miami, FL"}"#)
        .await;
    assert_eq!(refused.errors(), ["X-Filter filter_field"]);
    assert_eq!(ada.get("/account/availability/mars").await.status, 404);
}

#[tokio::test]
async fn a_restricted_user_needs_account_access_to_view_the_account() {
    let app = TestApp::new().await;
    let bob = app.user("bob").restricted().await;
    for path in ["/account", "/v4beta/account"] {
        let refused = bob.get(path).await;
        assert_eq!(refused.errors(), ["- grant_missing"], "{path}");
        assert_eq!(
            (refused.status.as_u16(), refused.reason().as_str()),
            (403, "Unauthorized")
        );
    }
    // Clients request these paths for every user.
    for path in [
        "/profile",
        "/profile/grants",
        "/account/settings",
        "/account/quotas",
    ] {
        assert_eq!(bob.get(path).await.status, 200, "{path}");
    }
    app.grant("bob", Grant::AccountAccess(Permission::ReadOnly)).await;
    assert_eq!(bob.get("/account").await.json()["company"], "Example");
}
