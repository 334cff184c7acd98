//! Targets of the desk: the time until a first response and a resolution are due.

use garth::model::target::{TargetMinutes, Targets};
use serde_json::{Value, json};

use super::desk::post;
use crate::harness::{TestApp, User};

/// A server with targets of 30 minutes and 4 hours for urgent tickets, and of 2 hours for the first response to normal
/// tickets.
async fn app_with_targets() -> TestApp {
    TestApp::with(|policy, _| {
        policy.support.targets = Targets {
            first_response: TargetMinutes([None, Some(120), None, Some(30)]),
            resolution: TargetMinutes([None, None, None, Some(240)]),
        };
        policy.support.reopen_days = Some(1);
    })
    .await
}

async fn targets(staff: &User<'_>, ticket: i64) -> Value {
    staff.get(&format!("/desk/tickets/{ticket}")).await.json()["targets"].clone()
}

/// A target as `remaining due reached met breached`.
fn line(target: &Value) -> String {
    let time = |key: &str| target[key].as_str().unwrap_or("-").replace("2024-06-01T", "");
    format!(
        "{} {} {} {} {}",
        target["remaining_seconds"],
        time("due"),
        time("reached"),
        target["met"],
        target["breached"]
    )
}

async fn reply(user: &User<'_>, path: &str) {
    let sent = user.post(path, json!({"description": "So it is."})).await;
    assert_eq!(sent.status, 200, "{sent}");
}

#[tokio::test]
async fn without_settings_tickets_have_no_targets() {
    let app = TestApp::new().await;
    app.user("ada").await.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    assert_eq!(targets(&sam, 1).await, json!(null));
    assert_eq!(sam.get("/desk/tickets").await.data()[0]["targets"], json!(null));
}

#[tokio::test]
async fn the_clock_pauses_while_the_ticket_waits_for_the_customer_or_is_closed() {
    let app = app_with_targets().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    let both = async || {
        let targets = targets(&sam, 1).await;
        (
            targets["paused"].clone(),
            line(&targets["first_response"]),
            line(&targets["resolution"]),
        )
    };
    let expect = |paused: bool, first: &str, resolution: &str| {
        (json!(paused), first.to_owned(), resolution.to_owned())
    };
    sam.put("/desk/tickets/1", json!({"priority": "urgent"})).await;

    app.advance(600);
    let running = expect(
        false,
        "1200 12:30:00 - false false",
        "13800 16:00:00 - false false",
    );
    assert_eq!(both().await, running);
    // Notes and claims are no response.
    post(&sam, "/desk/tickets/1/claim").await;
    sam.post("/desk/tickets/1/notes", json!({"description": "Rack 4."}))
        .await;
    assert_eq!(both().await, running);

    reply(&sam, "/desk/tickets/1/replies").await;
    app.advance(3600);
    assert_eq!(
        both().await,
        expect(true, "1200 - 12:10:00 true false", "13800 - - false false")
    );
    reply(&ada, "/support/tickets/1/replies").await;
    app.advance(1800);
    assert_eq!(
        both().await,
        expect(
            false,
            "1200 - 12:10:00 true false",
            "12000 17:00:00 - false false"
        )
    );

    post(&sam, "/desk/tickets/1/close").await;
    app.advance(7200);
    assert_eq!(
        both().await,
        expect(true, "1200 - 12:10:00 true false", "12000 - 13:40:00 true false")
    );
    // A reopened ticket continues with the rest.
    reply(&ada, "/support/tickets/1/replies").await;
    app.advance(12_000);
    assert_eq!(
        both().await.2,
        "0 19:00:00 - false false",
        "the target is missed after this second"
    );
    app.advance(1);
    assert_eq!(both().await.2, "-1 19:00:00 - false true");
    post(&sam, "/desk/tickets/1/close").await;
    assert_eq!(both().await.2, "-1 - 19:00:01 false true");
}

#[tokio::test]
async fn the_targets_of_the_current_priority_apply() {
    let app = app_with_targets().await;
    app.user("ada").await.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    app.advance(3600);
    let etag = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    let normal = targets(&sam, 1).await;
    assert_eq!(
        (line(&normal["first_response"]), &normal["resolution"]),
        ("3600 14:00:00 - false false".to_owned(), &json!(null))
    );
    app.advance(60);
    assert_eq!(sam.get("/desk/tickets/1").await.header("etag"), etag);
    for (priority, expected) in [
        ("urgent", "-1860 12:30:00 - false true"),
        ("low", "null - - null null"),
    ] {
        sam.put("/desk/tickets/1", json!({"priority": priority})).await;
        let found = targets(&sam, 1).await;
        assert_eq!(line(&found["first_response"]), expected, "{priority}");
    }
    assert_eq!(targets(&sam, 1).await, json!(null));
}

#[tokio::test]
async fn the_clock_of_a_ticket_of_the_provider_starts_with_the_first_reply_of_the_customer() {
    let app = app_with_targets().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let body = json!({"account_id": 1, "summary": "Notice", "description": ".", "priority": "urgent"});
    sam.post("/desk/tickets", body).await;
    app.advance(7200);
    reply(&sam, "/desk/tickets/1/replies").await;
    let found = targets(&sam, 1).await;
    assert_eq!(
        (&found["paused"], line(&found["first_response"])),
        (&json!(true), "1800 - - false false".to_owned())
    );
    reply(&ada, "/support/tickets/1/replies").await;
    app.advance(60);
    reply(&sam, "/desk/tickets/1/replies").await;
    assert_eq!(
        line(&targets(&sam, 1).await["first_response"]),
        "1740 - 14:01:00 true false"
    );
}

#[tokio::test]
async fn the_queue_is_sorted_by_the_time_left() {
    let app = app_with_targets().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    // 4 has 20 minutes left, 1 has 30; 3 waits for the customer, 2 has no target, and 5 is closed.
    for summary in ["One", "Two", "Three"] {
        ada.open_ticket(summary).await;
    }
    sam.put("/desk/tickets/2", json!({"priority": "low"})).await;
    sam.put("/desk/tickets/3", json!({"priority": "urgent"})).await;
    reply(&sam, "/desk/tickets/3/replies").await;
    app.advance(4800);
    ada.open_ticket("Four").await;
    sam.put("/desk/tickets/4", json!({"priority": "urgent"})).await;
    ada.open_ticket("Five").await;
    post(&sam, "/desk/tickets/5/close").await;
    app.advance(600);

    let listed = async |number: i64, size: i64| {
        let request = garth::rules::lists::ListRequest::first(size).at(number);
        let found = app
            .store
            .read(move |tx| garth::rules::desk::list_by_time_left(tx, &request, None, None))
            .await
            .expect("a page");
        let ids: Vec<_> = found.items.iter().map(|desk| desk.ticket.id.0).collect();
        (ids, found.results)
    };
    assert_eq!(listed(1, 10).await, (vec![4, 1, 3, 2, 5], 5));
    assert_eq!(listed(2, 2).await, (vec![3, 2], 5));
    assert_eq!(listed(9, 2).await, (vec![], 5));
}

#[tokio::test]
async fn tenants_never_see_targets() {
    let app = app_with_targets().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(ticket.get("targets"), None);
    let limits = ada.get("/support/limits").await.json();
    assert!(!limits.to_string().contains("target"), "{limits}");
}
