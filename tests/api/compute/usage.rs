//! Transfer, statistics and backups of instances, and operations that Garth does not have.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::harness::{TestApp, User};

/// The operations on an instance that are always refused, with a body that a published client sends.
const REFUSED: [(&str, &str); 10] = [
    ("rebuild", r#"{"image": "linode/debian12", "root_pass": "x"}"#),
    ("resize", r#"{"type": "g6-standard-1", "migration_type": "cold"}"#),
    ("clone", r#"{"region": "us-east", "type": "g6-nanode-1"}"#),
    ("migrate", r#"{"type": "cold", "region": "us-west"}"#),
    ("rescue", r#"{"devices": {}}"#),
    ("mutate", "{}"),
    ("backups", r#"{"label": "before"}"#),
    ("backups/enable", "{}"),
    ("backups/cancel", "{}"),
    ("backups/7/restore", r#"{"linode_id": 1, "overwrite": true}"#),
];

async fn set_up(app: &TestApp) -> User<'_> {
    let ada = app.user("ada").await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "label": "web-1"});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    ada
}

#[tokio::test]
async fn operations_that_garth_does_not_have_are_refused_and_change_nothing() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let before = ada.get("/linode/instances/1").await.json();

    for (path, body) in REFUSED {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let refused = ada
            .post(&format!("/linode/instances/1/{path}"), body.clone())
            .await;
        assert_eq!(refused.status, 400, "{path}");
        assert_eq!(refused.errors(), ["- not_offered"], "{path}");
        assert!(
            refused.reason().contains("not offered"),
            "{path}: {}",
            refused.reason()
        );
        let unknown = ada.post(&format!("/linode/instances/9/{path}"), body).await;
        assert_eq!(unknown.status, 404, "{path}");
    }
    let firewalls = json!({"firewall_ids": [1]});
    let refused = ada.put("/linode/instances/1/firewalls", firewalls).await;
    assert_eq!(refused.errors(), ["- not_offered"]);

    assert_eq!(ada.get("/linode/instances/1").await.json(), before);
    assert_eq!(ada.events().await, ["linode_create 1"]);
    let reader = app
        .user("reader")
        .may(Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .await;
    for (path, _) in REFUSED {
        let path = format!("/linode/instances/1/{path}");
        assert_eq!(reader.post(&path, json!({})).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn an_instance_has_no_transfer_and_no_backups() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    let month = json!({"bytes_in": 0, "bytes_out": 0, "bytes_total": 0});
    let backups = json!({"automatic": [], "snapshot": {"current": null, "in_progress": null}});
    for (path, answer) in [
        ("transfer", json!({"used": 0, "quota": 1000, "billable": 0})),
        ("transfer/2026/1", month),
        ("backups", backups),
    ] {
        let reply = ada.get(&format!("/linode/instances/1/{path}")).await;
        assert_eq!((reply.status.as_u16(), reply.json()), (200, answer), "{path}");
        let unknown = ada.get(&format!("/linode/instances/9/{path}")).await;
        assert_eq!(unknown.status, 404, "{path}");
    }
    for path in [
        "transfer/2026/13",
        "transfer/2026/0",
        "transfer/x/1",
        "transfer/10000/1",
    ] {
        let reply = ada.get(&format!("/linode/instances/1/{path}")).await;
        assert_eq!(reply.status, 404, "{path}");
    }
}

#[tokio::test]
async fn statistics_are_refused_with_the_text_that_the_web_app_knows() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    for path in ["stats", "stats/2026/1"] {
        let refused = ada.get(&format!("/linode/instances/1/{path}")).await;
        assert_eq!(
            (refused.status.as_u16(), refused.reason()),
            (400, "Stats are unavailable at this time.".to_owned())
        );
        assert_eq!(refused.errors(), ["- not_offered"]);
    }
    assert_eq!(ada.get("/linode/instances/1/stats/2026/13").await.status, 404);
}

#[tokio::test]
async fn nothing_is_attached_to_an_instance() {
    let app = TestApp::new().await;
    let ada = set_up(&app).await;
    for name in ["volumes", "firewalls", "nodebalancers"] {
        let path = format!("/linode/instances/1/{name}");
        let empty = json!({"data": [], "page": 1, "pages": 1, "results": 0});
        assert_eq!(ada.get(&path).await.json(), empty);
        let sorted = ada
            .filter(&path, r#"{"+order_by": "label", "+order": "asc"}"#)
            .await;
        assert_eq!(sorted.json(), empty);
        let wrong = ada.filter(&path, r#"{"color": "red"}"#).await;
        assert_eq!(wrong.errors(), ["X-Filter filter_field"]);
        let unknown = ada.get(&format!("/linode/instances/9/{name}")).await;
        assert_eq!(unknown.status, 404);
    }
}
