//! Which mails staff choose, the mails of a ticket, and suppressed addresses.

use garth::model::staff_role::StaffRole;
use serde_json::json;

use crate::browser::text;
use crate::harness::TestApp;
use crate::smtp_server::{Behavior, SmtpServer};
use crate::support::outgoing_mails::{enable_mail, reply, send_due, to};

const CHOICES: &str = "/desk/mail-choices";

#[tokio::test]
async fn staff_get_only_the_mails_that_they_have_chosen() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let (sam, tess) = (app.user("sam").staff().await, app.user("tess").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    let count = |address: &str| to(&server.mails(), address).len();
    let all = json!({"new_tickets": true, "assigned": true, "replies": true});
    assert_eq!(sam.get(CHOICES).await.json(), all);

    let chosen = sam.put(CHOICES, json!({"new_tickets": false})).await;
    let without_new = json!({"new_tickets": false, "assigned": true, "replies": true});
    assert_eq!(chosen.json(), without_new);
    assert_eq!(sam.get(CHOICES).await.json(), without_new);
    assert_eq!(
        tess.get(CHOICES).await.json(),
        all,
        "each member of staff has a choice"
    );
    ada.open_ticket("Help").await;
    send_due(&app, &server).await;
    assert_eq!((count("sam@example.com"), count("tess@example.com")), (0, 1));

    let assign = json!({"assignee": "sam"});
    tess.post("/desk/tickets/1/claim", assign).await;
    send_due(&app, &server).await;
    assert_eq!(count("sam@example.com"), 1);
    sam.put(CHOICES, json!({"replies": false})).await;
    app.advance(60);
    let body = json!({"description": "More"});
    ada.post("/support/tickets/1/replies", body).await;
    send_due(&app, &server).await;
    assert_eq!(count("sam@example.com"), 1, "replies are not chosen");

    // With no choice at all, no mail would be sent for another reason.
    sam.put(CHOICES, json!({"assigned": false, "replies": true}))
        .await;
    sam.post("/desk/tickets/1/release", json!({})).await;
    tess.post("/desk/tickets/1/claim", json!({"assignee": "sam"}))
        .await;
    app.advance(60);
    send_due(&app, &server).await;
    assert_eq!(count("sam@example.com"), 1, "assigned tickets are not chosen");
}

#[tokio::test]
async fn a_choice_has_a_version_and_only_booleans() {
    let app = TestApp::with(enable_mail).await;
    let sam = app.user("sam").staff().await;
    let tag = sam.get(CHOICES).await.header("etag").to_owned();
    let put = |tag: &str, body| {
        let call = sam.call(hyper::Method::PUT, CHOICES).header("if-match", tag);
        let call = call.json(&body);
        async move { call.await }
    };
    assert_eq!(put(&tag, json!({"replies": false})).await.status, 200);
    assert_eq!(put(&tag, json!({"replies": true})).await.status, 412);
    let wrong = sam.put(CHOICES, json!({"replies": "yes", "assigned": 1})).await;
    assert_eq!(wrong.status, 400);
    assert_eq!(sam.get(CHOICES).await.json()["replies"], false);
}

#[tokio::test]
async fn staff_see_the_mails_of_a_ticket_without_their_content() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    send_due(&app, &server).await;
    server.set(Behavior::RefuseRecipient("450 4.2.1 ada@example.com is busy"));
    reply(&sam, "A secret").await;
    send_due(&app, &server).await;

    let mails = sam.get("/desk/tickets/1/mails").await;
    let body = text(&mails);
    assert!(!body.contains("A secret") && !body.contains("busy"), "{body}");
    assert_eq!(
        mails.data(),
        [
            json!({
                "id": 2, "kind": "ticket", "address": "ada@example.com", "state": "queued", "maybe_repeated": false,
                "attempts": 1, "queued": "2024-06-01T12:00:00", "last_attempt": "2024-06-01T12:00:00", "sent": null,
                "error": "450 4.2.1",
            }),
            json!({
                "id": 1, "kind": "desk", "address": "sam@example.com", "state": "sent", "maybe_repeated": false,
                "attempts": 1, "queued": "2024-06-01T12:00:00", "last_attempt": "2024-06-01T12:00:00",
                "sent": "2024-06-01T12:00:00", "error": null,
            }),
        ]
    );
    let sent = sam.filter("/desk/tickets/1/mails", r#"{"state": "sent"}"#).await;
    assert_eq!(sent.ids(), [1]);
    assert_eq!(sam.get("/desk/tickets/77/mails").await.status, 404);
}

#[tokio::test]
async fn operators_list_suppressed_addresses_and_allow_them() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let support = app.user("tess").staff().role(StaffRole::Support).await;
    let server = SmtpServer::start(Behavior::RefuseRecipient("550 5.1.1 unknown"));
    ada.open_ticket("Help").await;
    reply(&sam, "An answer").await;
    send_due(&app, &server).await;

    let path = "/provider/suppressed-addresses";
    assert_eq!(support.get(path).await.status, 403);
    let listed = sam.filter(path, r#"{"address": "ada@example.com"}"#).await.data();
    let id = listed[0]["id"].as_i64().expect("an ID");
    let expected = json!({
        "id": id, "address": "ada@example.com", "status": "550 5.1.1", "since": "2024-06-01T12:00:00",
    });
    assert_eq!(listed, [expected]);
    assert_eq!(sam.delete(&format!("{path}/{id}")).await.status, 200);
    assert_eq!(sam.delete(&format!("{path}/{id}")).await.status, 404);
    server.set(Behavior::Accept);
    app.advance(60);
    reply(&sam, "Another answer").await;
    send_due(&app, &server).await;
    assert_eq!(to(&server.mails(), "ada@example.com").len(), 1);
}
