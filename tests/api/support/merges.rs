//! Merges of tickets (decision 0044).

use garth::model::grant::Permission;
use garth::model::target::TargetMinutes;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::json;

use crate::harness::{Reply, TestApp, User};

async fn merge(staff: &User<'_>, source: i64, target: i64) -> Reply {
    let path = format!("/desk/tickets/{source}/merge");
    staff.post(&path, json!({"into": target})).await
}

/// The texts and the authors of the replies that the customer sees.
async fn replies(user: &User<'_>, ticket: i64) -> Vec<(String, String)> {
    let list = user
        .get(&format!("/support/tickets/{ticket}/replies"))
        .await
        .data();
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let reply = |reply: &serde_json::Value| (text(&reply["created_by"]), text(&reply["description"]));
    list.iter().map(reply).collect()
}

/// The actions in the history of a ticket.
async fn actions(staff: &User<'_>, ticket: i64) -> Vec<String> {
    let steps = staff.get(&format!("/desk/tickets/{ticket}/history")).await.data();
    let action = |step: &serde_json::Value| step["action"].as_str().expect("an action").to_owned();
    steps.iter().map(action).collect()
}

#[tokio::test]
async fn the_target_continues_the_ticket_with_all_its_messages() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Slow").await;
    ada.open_ticket("Slow again").await;
    app.advance(60);
    ada.post(
        "/support/tickets/2/replies",
        json!({"description": "Since noon.\nVery."}),
    )
    .await;
    ada.attach_file(2, "trace.txt", "no carrier").await;
    sam.post("/desk/tickets/2/notes", json!({"description": "Secret"}))
        .await;

    let merged = merge(&sam, 2, 1).await;

    assert_eq!(merged.status, 200, "{merged}");
    let merged = merged.json();
    assert_eq!(
        (&merged["id"], &merged["status"], &merged["merged_into"]),
        (&json!(2), &json!("closed"), &json!(1))
    );
    let description = ada.get("/support/tickets/2").await.json()["description"].take();
    let text = format!(
        "Ticket 2, “Slow again”, was merged into this ticket.\n\nFiles of ticket 2: trace.txt\n\n\
         **ada**, 2024-06-01 12:00:00 UTC:\n\n> {}\n\n**ada**, 2024-06-01 12:01:00 UTC:\n\n> Since noon.\n> Very.",
        description.as_str().expect("a text")
    );
    assert_eq!(replies(&ada, 1).await, [("Support".to_owned(), text)]);
    let named = "This ticket was merged into ticket 1, “Slow”. The conversation continues there.";
    assert_eq!(
        replies(&ada, 2).await.last(),
        Some(&("Support".to_owned(), named.to_owned()))
    );
    // The public shape is that of any closed ticket, and the file remains there.
    let source = ada.get("/support/tickets/2").await.json();
    assert_eq!(source.get("merged_into"), None);
    assert_eq!(
        ada.get("/support/tickets/2/attachments/1").await.body,
        "no carrier"
    );
    assert_eq!(sam.get("/desk/tickets?q=noon").await.ids(), [1, 2]);
    assert_eq!(actions(&sam, 1).await, ["opened", "reply", "merged_from"]);
    assert_eq!(
        actions(&sam, 2).await[4..],
        ["reply", "close", "merged_into"].map(str::to_owned)
    );
    let events = ada.events().await;
    assert_eq!(
        events[events.len() - 3..],
        ["ticket_update 1", "ticket_update 2", "ticket_update 2"]
    );
}

#[tokio::test]
async fn a_merged_ticket_remains_closed() {
    let app = TestApp::with(|policy, _| policy.support.reopen_days = Some(7)).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    for summary in ["First", "Second", "Third"] {
        ada.open_ticket(summary).await;
    }
    merge(&sam, 2, 1).await;
    let reply = json!({"description": "Hello?"});
    let refused = ada.post("/support/tickets/2/replies", reply.clone()).await;
    assert_eq!(refused.errors(), ["- ticket_closed"]);
    assert!(refused.to_string().contains("merged into ticket 1"), "{refused}");
    let attached = ada.attach_file(2, "a.txt", "words").await;
    assert_eq!(attached.errors(), ["- ticket_closed"]);
    let reopened = sam.post("/desk/tickets/2/reopen", json!({})).await;
    assert_eq!(reopened.errors(), ["- ticket_merged"]);
    assert_eq!(sam.post("/desk/tickets/2/close", json!({})).await.status, 200);
    // A merged ticket is neither source nor target. A target can be merged.
    assert_eq!(merge(&sam, 2, 3).await.errors(), ["- ticket_closed"]);
    assert_eq!(merge(&sam, 3, 2).await.errors(), ["- ticket_closed"]);
    assert_eq!(merge(&sam, 1, 3).await.status, 200);
    assert_eq!(ada.post("/support/tickets/3/replies", reply).await.status, 200);
}

#[tokio::test]
async fn only_open_tickets_of_the_same_account_are_merged() {
    let app = TestApp::new().await;
    let other_account = app.another_account().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").of(other_account).await);
    let sam = app.user("sam").staff().await;
    ada.open_ticket("First").await;
    eve.open_ticket("Other").await;
    ada.open_ticket("Closed").await;
    sam.post("/desk/tickets/3/close", json!({})).await;
    for (target, error) in [
        (1, "into merge_invalid"),
        (2, "into merge_invalid"),
        (99, "into merge_invalid"),
        (3, "- ticket_closed"),
    ] {
        assert_eq!(merge(&sam, 1, target).await.errors(), [error], "{target}");
    }
    assert_eq!(merge(&sam, 3, 1).await.errors(), ["- ticket_closed"]);
    let missing = sam.post("/desk/tickets/1/merge", json!({})).await;
    assert_eq!(missing.errors(), ["into required"]);
    assert_eq!(merge(&sam, 99, 1).await.status, 404);
    let before = sam.get("/desk/tickets/1").await;
    ada.open_ticket("Fourth").await;
    sam.post("/desk/tickets/1/notes", json!({"description": "Later"}))
        .await;
    let call = sam.call(Method::POST, "/desk/tickets/1/merge");
    let call = call.header("if-match", before.header("etag"));
    assert_eq!(call.json(&json!({"into": 4})).await.status, 412);
    assert_eq!(ada.count("/support/tickets/1/replies").await, 0);
    assert_eq!(ada.count("/support/tickets/4/replies").await, 0);
}

#[tokio::test]
async fn a_merge_shows_no_messages_to_users_without_access() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let (bob, cleo) = (
        app.user("bob").restricted().await,
        app.user("cleo").restricted().await,
    );
    let sam = app.user("sam").staff().await;
    ada.open_ticket("Ada's").await;
    bob.open_ticket("Bob's").await;
    cleo.open_ticket("Cleo's").await;
    bob.open_ticket("Bob's second").await;
    // Bob could not continue in the ticket of Ada, and Ada's texts would be shown to Bob.
    for (source, target) in [(2, 1), (1, 2), (2, 3), (3, 2)] {
        let refused = merge(&sam, source, target).await;
        assert_eq!(refused.errors(), ["into merge_invalid"], "{source} into {target}");
    }
    assert_eq!(merge(&sam, 4, 2).await.status, 200);
    assert_eq!(bob.count("/support/tickets/2/replies").await, 1);
    // Bob may read the texts of staff, but not those of other users.
    let called = json!({"account_id": 1, "summary": "Bob called", "description": "The disk is full."});
    for (ticket, reply_of_ada, expected) in [(5, false, 200), (6, true, 400)] {
        let opened = sam.post("/desk/tickets", called.clone()).await;
        assert_eq!(opened.json()["id"], ticket, "{opened}");
        if reply_of_ada {
            let path = format!("/support/tickets/{ticket}/replies");
            ada.post(&path, json!({"description": "I know."})).await;
        }
        assert_eq!(merge(&sam, ticket, 2).await.status, expected, "{ticket}");
    }
    // A user who may only read the target could not reply there.
    app.grant("bob", Grant::AccountAccess(Permission::ReadOnly)).await;
    assert_eq!(merge(&sam, 2, 1).await.errors(), ["into merge_invalid"]);
    assert_eq!(merge(&sam, 1, 2).await.status, 200);
    app.grant("cleo", Grant::AccountAccess(Permission::ReadWrite))
        .await;
    assert_eq!(merge(&sam, 3, 2).await.status, 200);
}

#[tokio::test]
async fn a_merge_is_no_answer_to_the_customer() {
    let app = TestApp::with(|policy, _| {
        policy.support.targets.first_response = TargetMinutes([None, Some(30), None, None]);
    })
    .await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let answer = json!({"description": "Solved?"});
    for summary in ["Answered", "Unanswered", "Answered, too"] {
        ada.open_ticket(summary).await;
    }
    for ticket in [1, 3] {
        let path = format!("/desk/tickets/{ticket}/replies");
        sam.post(&path, answer.clone()).await;
    }
    let waiting = async || app.store.read(garth::rules::desk::waiting).await.unwrap().count;
    assert_eq!(waiting().await, 1);

    // Both wait for the customer: so does the target.
    merge(&sam, 3, 1).await;
    let ticket = sam.get("/desk/tickets/1").await.json();
    assert_eq!(ticket["targets"]["paused"], true, "{ticket}");
    // The source waits for the provider: so does the target.
    merge(&sam, 2, 1).await;
    let ticket = sam.get("/desk/tickets/1").await.json();
    assert_eq!(ticket["targets"]["paused"], false, "{ticket}");
    assert_eq!(waiting().await, 1);
    let source = sam.get("/desk/tickets/2").await.json();
    assert_eq!(
        source["targets"]["first_response"]["reached"],
        json!(null),
        "{source}"
    );
    sam.post("/desk/tickets/1/replies", answer).await;
    let ticket = sam.get("/desk/tickets/1").await.json();
    assert_eq!(ticket["targets"]["paused"], true, "{ticket}");
    assert_eq!(waiting().await, 0);
}
