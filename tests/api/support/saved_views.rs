//! Saved views of the queue.

use serde_json::{Value, json};

use crate::harness::{TestApp, User};

async fn save(staff: &User<'_>, label: &str, shared: bool) -> Value {
    let body = json!({"label": label, "shared": shared, "filters": {"status": "new", "tag": "network"}});
    let saved = staff.post("/desk/views", body).await;
    assert_eq!(saved.status, 200, "{saved}");
    saved.json()
}

#[tokio::test]
async fn staff_see_their_own_views_and_the_shared_views() {
    let app = TestApp::new().await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);

    let saved = save(&sam, "Mine", false).await;

    assert_eq!(
        saved,
        json!({"id": 1, "label": "Mine", "shared": false, "filters": {"status": "new", "tag": "network"},
            "created": "2024-06-01T12:00:00", "created_by": "sam"})
    );
    save(&sam, "everyone", true).await;
    save(&pat, "Mine", false).await;
    assert_eq!(sam.get("/desk/views").await.ids(), [2, 1]);
    assert_eq!(pat.get("/desk/views").await.ids(), [2, 3]);
    let shared = pat.filter("/desk/views", r#"{"shared":true}"#).await;
    assert_eq!(shared.ids(), [2]);
    assert_eq!(sam.get("/desk/views/1").await.json(), saved);
    for reply in [pat.get("/desk/views/1").await, pat.delete("/desk/views/1").await] {
        assert_eq!(reply.status, 404, "{reply}");
    }
    // Everyone who sees a shared view can delete it.
    assert_eq!(pat.delete("/desk/views/2").await.status, 200);
    assert_eq!(sam.get("/desk/views").await.ids(), [1]);
    assert_eq!(sam.delete("/desk/views/1").await.status, 200);
    assert_eq!(sam.get("/desk/views").await.ids(), [0; 0]);
}

#[tokio::test]
async fn invalid_views_are_refused() {
    let app = TestApp::new().await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    save(&sam, "Shared", true).await;
    save(&sam, "Private", false).await;
    for (user, body, errors) in [
        (&sam, json!({}), vec!["label required"]),
        (&sam, json!({"label": "PRIVATE"}), vec!["label label_taken"]),
        (&pat, json!({"label": "shared"}), vec!["label label_taken"]),
        (
            &sam,
            json!({"label": "x", "shared": 1, "filters": {"status": "asleep", "order": 7, "q": "a\nb"}}),
            vec![
                "shared wrong_type",
                "filters.q control_characters",
                "filters.status choice_invalid",
                "filters.order wrong_type",
            ],
        ),
        (
            &sam,
            json!({"label": "x", "filters": []}),
            vec!["filters wrong_type"],
        ),
    ] {
        assert_eq!(
            user.post("/desk/views", body.clone()).await.errors(),
            errors,
            "{body}"
        );
    }
    let empty = pat.post("/desk/views", json!({"label": "Private"})).await;
    assert_eq!(empty.json()["filters"], json!({}));
    for number in 3..=50 {
        save(&sam, &format!("View {number}"), false).await;
    }
    let full = sam.post("/desk/views", json!({"label": "One more"})).await;
    assert_eq!(full.errors(), ["- quota_exceeded"]);
}

#[tokio::test]
async fn shared_views_remain_after_their_owner_is_deleted() {
    let app = TestApp::new().await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    save(&pat, "Private", false).await;
    save(&pat, "Shared", true).await;

    assert_eq!(sam.delete("/provider/staff/pat").await.status, 200);

    let left = sam.get("/desk/views").await.data();
    assert_eq!(left.len(), 1);
    assert_eq!(
        (&left[0]["label"], &left[0]["created_by"]),
        (&json!("Shared"), &json!("pat"))
    );
    let rows = app.home().content().await;
    assert_eq!(rows["saved_view"].len(), 1);
}
