//! The entity directory.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn the_directory_has_objects_of_other_services() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sam = app.user("sam").staff().await;
    ada.post(
        "/support/tickets",
        json!({"summary": "DNS", "description": ".", "domain_id": 7}),
    )
    .await;
    let label = async || ada.get("/support/tickets/1").await.json()["entity"]["label"].clone();
    assert_eq!(label().await, "domain7");

    let entry = json!({"account_id": 1, "type": "domain", "id": 7, "label": "example.com"});
    assert_eq!(sam.post("/desk/entities", entry.clone()).await.json(), entry);
    assert_eq!(label().await, "example.com");
    assert_eq!(sam.get("/desk/entities").await.data(), [entry]);
    let narrowed = sam.filter("/desk/entities", r#"{"type":"volume"}"#).await;
    assert_eq!(narrowed.json()["results"], 0);
    assert_eq!(sam.delete("/desk/entities/1/domain/7").await.status, 200);
    assert_eq!(sam.delete("/desk/entities/1/domain/7").await.status, 404);
    assert_eq!(label().await, "example.com");

    let wrong = json!({"account_id": 2, "type": "vpc", "id": 0, "label": ""});
    assert_eq!(
        sam.post("/desk/entities", wrong).await.errors(),
        [
            "account_id account_invalid",
            "type choice_invalid",
            "id out_of_range",
            "label too_short"
        ]
    );
}
