//! Canned replies.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn a_canned_reply_is_stored_filled_in_and_sent() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let body = json!({"summary": "Help", "description": ".", "vpc_id": 1});
    ada.post("/support/tickets", body).await;
    ada.open_ticket("Other").await;
    let sam = app.user("sam").staff().await;
    let text = "Hello {{customer.username}} of {{account.company}} ({{account.id}}), about {{ ticket.summary }} \
                (#{{ticket.id}}) and {{entity.type}} {{entity.label}}: {{agent.username}}, {{provider.name}}";
    let created = sam
        .post(
            "/desk/canned-replies",
            json!({"label": "Hello", "description": text}),
        )
        .await;
    assert_eq!(created.status, 200, "{created}");

    let preview = sam
        .post("/desk/canned-replies/1/preview", json!({"ticket_id": 1}))
        .await;
    let filled_in = "Hello ada of Example (1), about Help (#1) and vpc core: sam, Support";
    assert_eq!(preview.json(), json!({"description": filled_in}));
    let sent = sam
        .post("/desk/tickets/1/replies", json!({"canned_reply_id": 1}))
        .await;
    assert_eq!(sent.json()["description"], filled_in);

    // If staff opened the ticket, the customer is the company.
    let opened = json!({"account_id": 1, "summary": "Works", "description": "At night."});
    sam.post("/desk/tickets", opened).await;
    let preview = sam
        .post("/desk/canned-replies/1/preview", json!({"ticket_id": 3}))
        .await;
    let filled_in = "Hello Example of Example (1), about Works (#3) and  : sam, Support";
    assert_eq!(preview.json(), json!({"description": filled_in}));

    for (body, errors) in [
        (
            json!({"canned_reply_id": 1, "description": "x"}),
            ["canned_reply_id canned_reply_invalid"],
        ),
        (
            json!({"canned_reply_id": 9}),
            ["canned_reply_id canned_reply_invalid"],
        ),
        (json!({}), ["description required"]),
    ] {
        assert_eq!(sam.post("/desk/tickets/1/replies", body).await.errors(), errors);
    }
    let unknown = json!({"label": "Bad", "description": "Hello {{name}}"});
    let unknown = sam.post("/desk/canned-replies", unknown).await;
    assert_eq!(unknown.errors(), ["description placeholder_unknown"]);
    let taken = sam
        .post(
            "/desk/canned-replies",
            json!({"label": "HELLO", "description": "x"}),
        )
        .await;
    assert_eq!(taken.errors(), ["label label_taken"]);
    let nowhere = sam
        .post("/desk/canned-replies/1/preview", json!({"ticket_id": 99}))
        .await;
    assert_eq!(nowhere.errors(), ["ticket_id entity_invalid"]);

    app.advance(60);
    let changed = sam
        .put("/desk/canned-replies/1", json!({"label": "Hello"}))
        .await
        .json();
    assert_eq!(
        (&changed["description"], &changed["updated"]),
        (&json!(text), &json!("2024-06-01T12:01:00"))
    );
    assert_eq!(
        sam.filter("/desk/canned-replies", r#"{"label":"Hello"}"#)
            .await
            .ids(),
        [1]
    );
    assert_eq!(sam.delete("/desk/canned-replies/1").await.json(), json!({}));
    assert_eq!(sam.get("/desk/canned-replies/1").await.status, 404);
}
