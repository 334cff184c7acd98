//! Tags of tickets, which only staff see.

use serde_json::{Value, json};

use super::desk::{history, post};
use crate::harness::{TestApp, User};

async fn set(staff: &User<'_>, ticket: i64, tags: &[&str]) -> Value {
    let path = format!("/desk/tickets/{ticket}");
    let reply = staff.put(&path, json!({"tags": tags})).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["tags"].clone()
}

#[tokio::test]
async fn tags_are_normalized_and_replace_the_previous_tags() {
    let app = TestApp::new().await;
    app.user("ada").await.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    assert_eq!(sam.get("/desk/tickets/1").await.json()["tags"], json!([]));

    let tags = set(&sam, 1, &[" Rack 4", "Billing", "rack 4", "ÜBER"]).await;
    assert_eq!(tags, json!(["billing", "rack 4", "über"]));
    // Omitted tags remain, and equal tags are no change.
    let other = sam.put("/desk/tickets/1", json!({"priority": "high"})).await;
    assert_eq!(other.json()["tags"], tags);
    let revision = other.header("etag").to_owned();
    let same = sam
        .put("/desk/tickets/1", json!({"tags": ["über", "RACK 4", "billing"]}))
        .await;
    assert_eq!(same.header("etag"), revision);
    assert_eq!(set(&sam, 1, &["network"]).await, json!(["network"]));
    assert_eq!(set(&sam, 1, &[]).await, json!([]));

    assert_eq!(
        history(&sam, 1).await[1..],
        [
            "sam tags ->billing, rack 4, über =new",
            "sam priority normal>high =new",
            "sam tags billing, rack 4, über>network =new",
            "sam tags network>- =new",
        ]
    );
    post(&sam, "/desk/tickets/1/close").await;
    assert_eq!(set(&sam, 1, &["network"]).await, json!(["network"]));
}

#[tokio::test]
async fn invalid_tags_are_refused_and_change_nothing() {
    let app = TestApp::new().await;
    app.user("ada").await.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    set(&sam, 1, &["network"]).await;
    let before = sam.get("/desk/tickets/1").await.json();
    let long = "x".repeat(51);
    let many: Vec<_> = (0..101).map(|number| format!("tag {number}")).collect();
    for (tags, errors) in [
        (
            json!(["good", "ab", 7]),
            vec!["tags[1] tag_invalid", "tags[2] wrong_type"],
        ),
        (json!(["one,two"]), vec!["tags[0] tag_invalid"]),
        (json!(["   "]), vec!["tags[0] tag_invalid"]),
        (json!(["a\nb\nc"]), vec!["tags[0] tag_invalid"]),
        (json!([long]), vec!["tags[0] tag_invalid"]),
        (json!("network"), vec!["tags wrong_type"]),
        (json!(many), vec!["tags quota_exceeded"]),
    ] {
        let body = json!({"tags": tags, "priority": "urgent"});
        assert_eq!(sam.put("/desk/tickets/1", body).await.errors(), errors, "{tags}");
    }
    assert_eq!(sam.get("/desk/tickets/1").await.json(), before);
    let tags: Vec<_> = many[..100].iter().map(String::as_str).collect();
    assert_eq!(set(&sam, 1, &tags).await.as_array().map(Vec::len), Some(100));
}

#[tokio::test]
async fn the_queue_is_filtered_and_searched_by_tags() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for summary in ["One", "Two", "Three"] {
        ada.open_ticket(summary).await;
    }
    let sam = app.user("sam").staff().await;
    set(&sam, 1, &["billing", "rack-4"]).await;
    set(&sam, 2, &["billing"]).await;
    for (filter, ids) in [
        (r#"{"tags":"billing"}"#, vec![2, 1]),
        (r#"{"tags":"rack-4"}"#, vec![1]),
        (r#"{"+and":[{"tags":"rack-4"},{"tags":"billing"}]}"#, vec![1]),
        (r#"{"tags":{"+contains":"ill"}}"#, vec![2, 1]),
        (r#"{"tags":"missing"}"#, vec![]),
        (r#"{"tags":"billing","status":"closed"}"#, vec![]),
    ] {
        assert_eq!(sam.filter("/desk/tickets", filter).await.ids(), ids, "{filter}");
    }
    for (query, ids) in [
        ("billing", vec![2, 1]),
        ("rack%204", vec![1]),
        ("two%20bill", vec![2]),
        ("three%20bill", vec![]),
    ] {
        let found = sam.get(&format!("/desk/tickets?q={query}")).await;
        assert_eq!(found.ids(), ids, "{query}");
    }
    let sorted = sam.filter("/desk/tickets", r#"{"+order_by":"tags"}"#).await;
    assert_eq!(sorted.status, 400, "{sorted}");
}

#[tokio::test]
async fn tenants_never_see_tags() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    let visible = async || {
        let mut seen = Vec::new();
        for path in [
            "/support/tickets",
            "/support/tickets/1",
            "/account/events",
            "/tags",
        ] {
            let reply = ada.get(path).await;
            assert!(!reply.to_string().contains("confidential"), "{reply}");
            seen.push((reply.json(), reply.headers.get("etag").cloned()));
        }
        seen
    };
    let before = visible().await;
    app.advance(60);

    set(&sam, 1, &["confidential"]).await;

    assert_eq!(visible().await, before);
    let filter = ada.filter("/support/tickets", r#"{"tags":"confidential"}"#).await;
    assert_eq!(filter.status, 400, "{filter}");
    let sent = ada
        .put("/desk/tickets/1", json!({"tags": ["confidential"]}))
        .await;
    assert_eq!(sent.status, 403);
}
