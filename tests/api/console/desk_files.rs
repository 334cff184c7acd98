//! Files that staff send with a reply from the console.

use serde_json::json;

use crate::browser::{Browser, hidden_field};
use crate::console::desk::{app_with_desk, open_three_tickets};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
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

#[tokio::test]
async fn a_log_gets_the_extension_of_a_text() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let files: [(&str, &[u8]); 2] = [("Trace.LOG", b"eth1 down"), ("hosts.csv", b"1,2")];
    let sent = send(&mut grace, &page, &[], &files).await;
    assert_redirects_to(&sent, "/desk/tickets/1?done=files-attached");
    let stored = ada.get("/support/tickets/1/attachments").await.json();
    let names: Vec<_> = stored["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["name"])
        .collect();
    assert_eq!(names, ["Trace.LOG.txt", "hosts.csv.txt"]);
    // The content must be a text.
    let page = grace.get("/desk/tickets/1").await;
    let refused = send(&mut grace, &page, &[], &[("a.log", PNG)]).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "The content does not match the extension");
}

#[tokio::test]
async fn a_form_that_returns_names_the_files_to_select_again() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let page = grace.get("/desk/tickets/1").await;
    let files: [(&str, &[u8]); 2] = [("a&b.txt", b"words"), ("c.png", PNG)];
    let reply = [("description", "See the files.")];
    let named = "Files that were not attached: <strong>a&amp;b.txt, c.png</strong>. ";
    let again = format!("{named}Select them again before you send the reply.");
    assert_lacks(&page, "unsent-files\">");

    // A colleague has replied.
    let linus_page = linus.get("/desk/tickets/1").await;
    linus
        .submit(&linus_page, REPLIES, &[("description", "Mine")])
        .await;
    let late = send(&mut grace, &page, &reply, &files).await;
    assert_eq!(late.status, 412);
    assert_contains(&late, "Review the updates, select the files again, then send it.");
    assert_contains(&late, &again);

    // A refused file, next to an accepted one.
    let refused: [(&str, &[u8]); 2] = [("a&b.txt", b"words"), ("c.png", b"words")];
    assert_contains(&send(&mut grace, &late, &reply, &refused).await, &again);

    // A browser sends the names of the files with the other buttons of the form.
    let since = hidden_field(&late, "since");
    for (path, field) in [
        (REPLIES, ("act", "preview")),
        ("/desk/tickets/1/notes", ("note", "Ours")),
    ] {
        let fields = [field, ("since", &since), ("file", "a&b.txt"), ("file", "c.png")];
        let shown = grace.submit(&late, path, &fields).await;
        assert_eq!(shown.status, 200, "{shown}");
        assert_contains(&shown, &again);
    }

    // A colleague has closed the ticket. The names are shown again after it is reopened.
    linus.submit(&linus_page, "/desk/tickets/1/close", &[]).await;
    let page = grace.get("/desk/tickets/1").await;
    let closed = send(&mut grace, &page, &reply, &files).await;
    assert_eq!(closed.status, 400);
    assert_contains(
        &closed,
        &format!("{named}Reopen the ticket, then select them again."),
    );
    let hidden = "type=\"hidden\" name=\"file\" value=\"c.png\"";
    assert_contains(&closed, hidden);
    let fields = [
        ("description", "See the files."),
        ("file", "a&b.txt"),
        ("file", "c.png"),
    ];
    let reopened = grace.submit(&closed, "/desk/tickets/1/reopen", &fields).await;
    assert_contains(&reopened, "Ticket reopened.");
    assert_contains(&reopened, &again);
    assert_eq!(ada.count("/support/tickets/1/attachments").await, 0);

    let sent = send(&mut grace, &reopened, &reply, &files).await;
    assert_redirects_to(&sent, "/desk/tickets/1?done=reply-sent");
}
