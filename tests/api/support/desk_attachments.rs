//! Files that staff attach to tickets.

use hyper::Method;
use serde_json::json;

use crate::harness::{Reply, TestApp, User};
use crate::support::attachments::sha256;

const FILES: &str = "/desk/tickets/1/attachments";

async fn attach(staff: &User<'_>, name: &str, content: &str) -> Reply {
    staff.call(Method::POST, FILES).file(name, content).await
}

#[tokio::test]
async fn the_customer_sees_files_of_staff_with_the_name_of_the_provider() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("No route").await;

    let attached = attach(&sam, "trace.txt", "no carrier").await;

    assert_eq!((attached.status.as_u16(), attached.json()), (200, json!({})));
    let file = json!({
        "id": 1, "name": "trace.txt", "size": 10, "sha256": sha256(b"no carrier"),
        "created": "2024-06-01T12:00:00", "created_by": "Support",
    });
    for (user, files) in [(&ada, "/support/tickets/1/attachments"), (&sam, FILES)] {
        assert_eq!(user.get(files).await.data(), std::slice::from_ref(&file));
    }
    assert_eq!(
        ada.get("/support/tickets/1/attachments/1").await.body,
        "no carrier"
    );
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (&ticket["status"], &ticket["updated_by"], &ticket["attachments"]),
        (&json!("open"), &json!("Support"), &json!(["trace.txt"]))
    );
    let event = ada.get("/account/events").await.data().remove(0);
    assert_eq!(
        (&event["action"], &event["username"]),
        (&json!("ticket_attachment_upload"), &json!("Support"))
    );
    // Only the history has the name of the member of staff.
    let step = sam.get("/desk/tickets/1/history").await.data().remove(1);
    assert_eq!(
        (&step["action"], &step["created_by"], &step["attachment_id"]),
        (&json!("attachment"), &json!("sam"), &json!(1))
    );
}

#[tokio::test]
async fn files_of_staff_do_not_count_toward_the_limits_of_the_customer() {
    let app = TestApp::with(|policy, _| {
        policy.support.attachments_per_ticket = 1;
        policy.quota.attachment_bytes = 5;
    })
    .await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Look").await;

    assert_eq!(attach(&sam, "a.txt", "0123456789").await.status, 200);

    assert_eq!(ada.attach_file(1, "b.txt", "01234").await.status, 200);
    let used = ada.get("/account/quotas").await.json()["attachment_bytes"]["used"].take();
    assert_eq!(used, 5);
    // Each side has the limit of files on a ticket.
    assert_eq!(attach(&sam, "c.txt", "0").await.errors(), ["- attachment_limit"]);
    assert_eq!(
        ada.attach_file(1, "d.txt", "0").await.errors(),
        ["- attachment_limit"]
    );
    assert_eq!(app.stored_files.names().len(), 2);
}

#[tokio::test]
async fn files_of_staff_follow_the_rules_of_attachments() {
    let app = TestApp::with(|policy, _| policy.support.attachment_max_bytes = 100).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Look").await;
    for (name, content, status, error) in [
        ("a.exe", "x", 400, "file file_extension"),
        ("a.png", "x", 400, "file file_content"),
        ("a.txt", "", 400, "file file_empty"),
        ("a.txt", &"x".repeat(101), 413, "file file_too_large"),
    ] {
        let refused = attach(&sam, name, content).await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (status, vec![error.into()])
        );
    }
    let before = sam.get("/desk/tickets/1").await;
    ada.post("/support/tickets/1/replies", json!({"description": "Any news?"}))
        .await;
    let call = sam.call(Method::POST, FILES).file("a.txt", "x");
    let outdated = call.header("if-match", before.header("etag")).await;
    assert_eq!(outdated.status, 412);
    sam.post("/desk/tickets/1/close", json!({})).await;
    assert_eq!(attach(&sam, "a.txt", "x").await.errors(), ["- ticket_closed"]);
    assert_eq!(ada.get("/support/tickets/1/attachments").await.ids(), [0; 0]);
    assert!(
        app.stored_files.names().is_empty(),
        "a refused file leaves no bytes"
    );
}
