//! Announcements: staff write them, and tenants see the current ones.

use garth::model::staff_role::StaffRole;
use serde_json::{Value, json};

use crate::console::{assert_contains, assert_lacks, logged_in};
use crate::harness::TestApp;

const ANNOUNCEMENTS: &str = "/provider/announcements";

#[tokio::test]
async fn tenants_see_an_announcement_from_its_start_until_its_end() {
    let app = TestApp::new().await;
    let (ada, sam) = (
        app.user("ada").scopes("account:read_only").await,
        app.user("sam").role(StaffRole::Operator).await,
    );
    let body = json!({
        "title": "Maintenance", "text": "On **Sunday** <b>", "severity": "major",
        "starts": "2024-06-01T12:01:00", "ends": "2024-06-01T12:02:00",
    });

    let created = sam.post(ANNOUNCEMENTS, body).await;

    assert_eq!(created.status, 200, "{created}");
    let mut browser = logged_in(&app, "ada").await;
    let notifications = "/account/notifications";
    assert_eq!(ada.count(notifications).await, 0);
    assert_lacks(&browser.get("/vpcs").await, "Maintenance");
    app.advance(60);
    assert_eq!(
        ada.get(notifications).await.data(),
        [json!({
            "label": "Maintenance", "body": "On **Sunday** <b>", "message": "Maintenance", "type": "notice",
            "severity": "major", "entity": null, "until": "2024-06-01T12:02:00", "when": "2024-06-01T12:01:00",
        })]
    );
    let page = browser.get("/vpcs").await;
    assert_contains(&page, "Maintenance");
    assert_contains(&page, "On <strong>Sunday</strong> &lt;b&gt;");
    let mut desk = logged_in(&app, "sam").await;
    assert_lacks(&desk.get("/desk").await, "On <strong>Sunday</strong>");
    let minor = r#"{"severity": "minor"}"#;
    assert_eq!(ada.filter(notifications, minor).await.data(), Vec::<Value>::new());
    app.advance(60);
    assert_eq!(ada.count(notifications).await, 0);
    assert_lacks(&browser.get("/vpcs").await, "Maintenance");
}

#[tokio::test]
async fn an_announcement_is_changed_and_deleted() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Operator).await;
    let body = json!({"title": "Outage", "text": "We are working on it.", "ends": "2024-07-01T00:00:00"});
    let created = sam.post(ANNOUNCEMENTS, body).await.json();
    assert_eq!(
        (&created["severity"], &created["starts"]),
        (&json!("minor"), &json!("2024-06-01T12:00:00"))
    );
    let path = "/provider/announcements/1";
    let changed = sam
        .put(path, json!({"severity": "critical", "ends": null}))
        .await
        .json();
    assert_eq!(
        (&changed["severity"], &changed["ends"]),
        (&json!("critical"), &Value::Null)
    );
    assert_eq!(changed["title"], "Outage");
    for (body, errors) in [
        (json!({"ends": "2024-06-01T11:00:00"}), vec!["ends time_invalid"]),
        (
            json!({"title": "", "starts": "soon"}),
            vec!["title too_short", "starts time_invalid"],
        ),
        (json!({"severity": "dire"}), vec!["severity choice_invalid"]),
    ] {
        assert_eq!(sam.put(path, body).await.errors(), errors);
    }
    assert_eq!(sam.delete(path).await.status, 200);
    assert_eq!(sam.get(path).await.status, 404);
    assert_eq!(sam.count(ANNOUNCEMENTS).await, 0);
}
