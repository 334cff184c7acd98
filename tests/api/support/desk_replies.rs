//! Replies by staff.

use hyper::Method;
use serde_json::json;

use super::desk::{history, post};
use crate::harness::TestApp;

#[tokio::test]
async fn two_agents_cannot_overwrite_each_other() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    let tag = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    // Even a note changes the entity tag.
    pat.post("/desk/tickets/1/notes", json!({"description": "Mine."}))
        .await;
    for (method, path, body) in [
        (Method::PUT, "", json!({"priority": "low"})),
        (Method::POST, "/claim", json!({})),
        (Method::POST, "/close", json!({})),
        (Method::POST, "/reopen", json!({})),
        (Method::POST, "/release", json!({})),
        (Method::POST, "/replies", json!({"description": "Yes."})),
        (Method::POST, "/notes", json!({"description": "Yes."})),
    ] {
        let path = format!("/desk/tickets/1{path}");
        let call = sam.call(method, &path).header("if-match", &tag);
        assert_eq!(call.json(&body).await.status, 412, "{path}");
    }
    let fresh = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    let call = sam
        .call(Method::POST, "/desk/tickets/1/claim")
        .header("if-match", &fresh);
    assert_eq!(call.await.status, 200);
    // A value that was changed and restored still counts as changed.
    let fresh = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    for priority in ["high", "normal"] {
        pat.put("/desk/tickets/1", json!({"priority": priority})).await;
    }
    let call = sam
        .call(Method::POST, "/desk/tickets/1/close")
        .header("if-match", &fresh);
    assert_eq!(call.await.status, 412);
    // A reply of the customer counts too.
    let fresh = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    ada.post("/support/tickets/1/replies", json!({"description": "Wait."}))
        .await;
    let call = sam
        .call(Method::POST, "/desk/tickets/1/close")
        .header("if-match", &fresh);
    assert_eq!(call.await.status, 412);
}

#[tokio::test]
async fn a_reply_can_close_the_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    let replies = "/desk/tickets/1/replies";
    let refused = sam.post(replies, json!({"close": true})).await;
    assert_eq!(refused.errors(), ["description required"]);
    assert_eq!(sam.get("/desk/tickets/1").await.json()["status"], "new");

    let events = ada.events().await.len();
    let sent = sam
        .post(replies, json!({"description": "Solved.", "close": true}))
        .await;
    assert_eq!(sent.json()["description"], "Solved.", "{sent}");
    assert_eq!(ada.get("/support/tickets/1").await.json()["status"], "closed");
    assert_eq!(
        history(&sam, 1).await,
        [
            "ada opened ->- =new",
            "sam reply ->- =open",
            "sam close open>closed =closed",
        ]
    );
    assert_eq!(ada.events().await.len(), events + 2);
}

#[tokio::test]
async fn a_reply_follows_the_reopening_in_the_history() {
    let app = TestApp::with(|policy, _| policy.support.reopen_days = Some(1)).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    post(&ada, "/support/tickets/1/close").await;
    ada.post("/support/tickets/1/replies", json!({"description": "Back."}))
        .await;
    let sam = app.user("sam").staff().await;
    assert_eq!(
        history(&sam, 1).await,
        [
            "ada opened ->- =new",
            "ada close new>closed =closed",
            "ada reopen closed>open =open",
            "ada reply ->- =open",
        ]
    );
    let entry = &sam.get("/desk/tickets/1/history").await.data()[3];
    assert_eq!(
        (&entry["description"], &entry["reply_id"]),
        (&json!("Back."), &json!(1))
    );
    assert_eq!(ada.events().await.len(), 3);
}
