//! Replies to tickets.

use garth::web::WireNames;
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn replies_of_both_sides_are_in_order_and_update_the_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let staff = app.user("sam").staff().await;
    ada.open_ticket("Help").await;

    app.advance(60);
    let mine = ada
        .post(
            "/support/tickets/1/replies",
            json!({"description": "Hello?", "ticket_id": 1}),
        )
        .await;
    assert_eq!(
        mine.json(),
        json!({
            "id": 1, "created": "2024-06-01T12:01:00", "created_by": "ada", "description": "Hello?",
            "from_linode": false, "from_compute": false, "friendly_name": "ada",
            "gravatar_id": "3e3417d7ef77d5932a6734b916515ed5"
        })
    );
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (&ticket["status"], &ticket["updated"]),
        (&json!("new"), &json!("2024-06-01T12:01:00"))
    );

    app.advance(60);
    let theirs = staff
        .post("/desk/tickets/1/replies", json!({"description": "We are on it."}))
        .await;
    assert_eq!(theirs.json()["from_linode"], true);
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (&ticket["status"], &ticket["updated_by"]),
        (&json!("open"), &json!("Support"))
    );

    let replies = ada.get("/support/tickets/1/replies").await.data();
    assert_eq!(replies, [mine.json(), theirs.json()]);
    assert_eq!(replies[1]["created_by"], "Support");
    assert_eq!(replies[1]["friendly_name"], "Support");
    let events = ada.get("/account/events").await.data();
    let recorded = |at: usize| (events[at]["action"].clone(), events[at]["username"].clone());
    assert_eq!(recorded(0), (json!("ticket_update"), json!("Support")));
    assert_eq!(recorded(1), (json!("ticket_update"), json!("ada")));
    assert_eq!(
        events[0]["entity"],
        json!({"id": 1, "label": "Help", "type": "ticket", "url": "/v4/support/tickets/1"})
    );
}

#[tokio::test]
async fn a_reply_has_its_own_limits() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    for (length, status) in [(1, 200), (65_535, 200), (65_536, 400), (0, 400)] {
        let body = json!({"description": "é".repeat(length)});
        let reply = ada.post("/support/tickets/1/replies", body).await;
        assert_eq!(reply.status, status, "{length}");
    }
    let nothing = ada.post("/support/tickets/1/replies", json!({})).await;
    assert_eq!(nothing.errors(), ["description required"]);
    assert_eq!(ada.count("/support/tickets/1/replies").await, 2);
}

#[tokio::test]
async fn fields_can_use_one_spelling_only() {
    for (names, key, absent) in [
        (WireNames::Linode, "from_linode", "from_compute"),
        (WireNames::Compute, "from_compute", "from_linode"),
    ] {
        let app = TestApp::with(move |_, options| options.names = names).await;
        let ada = app.user("ada").await;
        ada.open_ticket("Help").await;
        let reply = ada
            .post("/support/tickets/1/replies", json!({"description": "."}))
            .await;
        assert_eq!(reply.json()[key], false);
        assert!(reply.json().get(absent).is_none());
    }
}

#[tokio::test]
async fn a_closed_ticket_accepts_replies_only_while_it_can_be_reopened() {
    const DAY: i64 = 24 * 60 * 60;
    let body = || json!({"description": "It is back."});
    for (days, wait, status) in [
        (None, 0, 400),
        (Some(3), 3 * DAY, 200),
        (Some(3), 3 * DAY + 1, 400),
    ] {
        let app = TestApp::with(move |policy, _| policy.support.reopen_days = days).await;
        let ada = app.user("ada").await;
        ada.open_ticket("Help").await;
        ada.post("/support/tickets/1/close", json!({})).await;
        app.advance(wait);

        let reply = ada.post("/support/tickets/1/replies", body()).await;

        assert_eq!(reply.status, status, "{days:?} {wait}");
        let ticket = ada.get("/support/tickets/1").await.json();
        if status == 200 {
            assert_eq!(
                (&ticket["status"], &ticket["closed"], &ticket["closable"]),
                (&json!("open"), &json!(null), &json!(true))
            );
        } else {
            assert_eq!(reply.errors(), ["- ticket_closed"]);
            assert_eq!(ticket["status"], "closed");
            assert_eq!(ada.count("/support/tickets/1/replies").await, 0);
            assert_eq!(ada.events().await.len(), 2);
        }
    }
}
