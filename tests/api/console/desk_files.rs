//! Files that staff send with a reply from the console.

use serde_json::json;

use crate::browser::{Browser, hidden_field};
use crate::console::desk::{app_with_desk, open_three_tickets};
use crate::console::{assert_contains, assert_redirects_to, logged_in};
use crate::harness::Reply;

const REPLIES: &str = "/desk/tickets/1/replies";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// Submits the form for replies with these files.
async fn send(
    browser: &mut Browser<'_>,
    page: &Reply,
    fields: &[(&str, &str)],
    files: &[(&str, &[u8])],
) -> Reply {
    let (token, since) = (hidden_field(page, "form_token"), hidden_field(page, "since"));
    let mut all = vec![("form_token", token.as_str()), ("since", since.as_str())];
    all.extend_from_slice(fields);
    browser.send_with_files(REPLIES, &all, files).await
}

#[tokio::test]
async fn staff_send_a_reply_with_several_files() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    assert_contains(&page, "type=\"file\" name=\"file\" multiple");
    let files: [(&str, &[u8]); 2] = [("a.txt", b"words"), ("b.png", PNG)];
    let fields = [("description", "See the files."), ("close", "yes")];

    let sent = send(&mut grace, &page, &fields, &files).await;

    assert_redirects_to(&sent, "/desk/tickets/1?done=reply-sent-closed");
    let replies = ada.get("/support/tickets/1/replies").await.data();
    assert_eq!(replies[0]["description"], "See the files.");
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (&ticket["attachments"], &ticket["status"]),
        (&json!(["a.txt", "b.png"]), &json!("closed"))
    );
    assert_eq!(ada.get("/support/tickets/1/attachments/2").await.body, PNG);
    // The history shows images and labels downloads.
    let page = grace.get("/desk/tickets/1").await;
    let file_url = "/desk/tickets/1/attachments";
    let shown = format!("<a href=\"{file_url}/2/image\" target=\"_blank\" rel=\"noopener\">b.png</a>");
    assert_contains(&page, &shown);
    for (id, name) in [(1, "a.txt"), (2, "b.png")] {
        let link =
            format!("<a href=\"{file_url}/{id}\" download aria-label=\"Download {name}\">Download</a>");
        assert_contains(&page, &link);
    }
    // The same form again sends nothing.
    let again = send(&mut grace, &page, &fields, &files).await;
    assert_redirects_to(&again, "/desk/tickets/1?done=sent-already");
    assert_eq!(ada.count("/support/tickets/1/attachments").await, 2);
}

#[tokio::test]
async fn a_refused_file_keeps_the_text_and_sends_nothing() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let large = vec![b'x'; 5 * 1024 * 1024 + 1];
    for (name, content, reason) in [
        ("b.exe", &b"MZ"[..], "The file extension must be one of"),
        ("b.png", b"words", "The content does not match the extension"),
        ("b.txt", &large, "too large"),
    ] {
        let files: [(&str, &[u8]); 2] = [("a.txt", b"words"), (name, content)];
        let refused = send(&mut grace, &page, &[("description", "My long text")], &files).await;
        assert_eq!(refused.status, 400, "{name}");
        assert_contains(&refused, reason);
        assert_contains(&refused, "My long text</textarea>");
    }
    // A text that is refused attaches no file.
    let text = "x".repeat(70_000);
    let refused = send(
        &mut grace,
        &page,
        &[("description", &text)],
        &[("a.txt", b"words")],
    )
    .await;
    assert_eq!(refused.status, 400);
    assert_eq!(ada.count("/support/tickets/1/replies").await, 0);
    assert_eq!(ada.count("/support/tickets/1/attachments").await, 0);
    assert!(
        app.stored_files.names().is_empty(),
        "a refused file leaves no bytes"
    );
}

#[tokio::test]
async fn files_need_no_text_but_the_token_of_the_form() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let files: [(&str, &[u8]); 1] = [("a.txt", b"words")];
    for fields in [&[("form_token", "forged")][..], &[]] {
        let forged = grace.send_with_files(REPLIES, fields, &files).await;
        assert_eq!(forged.status, 403);
    }
    assert_eq!(ada.count("/support/tickets/1/attachments").await, 0);

    let sent = send(&mut grace, &page, &[("description", " ")], &files).await;

    assert_redirects_to(&sent, "/desk/tickets/1?done=files-attached");
    assert_eq!(ada.count("/support/tickets/1/attachments").await, 1);
    assert_eq!(ada.count("/support/tickets/1/replies").await, 0);
    // A browser sends an empty part if no file is selected.
    let sent = send(&mut grace, &page, &[("description", "No files.")], &[("", b"")]).await;
    assert_redirects_to(&sent, "/desk/tickets/1?done=reply-sent");
    assert_eq!(ada.count("/support/tickets/1/attachments").await, 1);
}
