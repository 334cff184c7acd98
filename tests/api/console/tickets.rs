//! Tickets in the console, for the users of their account.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::{Browser, hidden_field, text};
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, links, logged_in};
use crate::harness::TestApp;

pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0";

#[tokio::test]
async fn a_ticket_is_opened_answered_and_closed_with_forms() {
    let app = app_with_ada().await;
    let mut ada = logged_in(&app, "ada").await;
    let none = ada.get("/tickets").await;
    assert!(text(&none).contains("No tickets yet") && text(&none).contains("href=\"/tickets/new\""));

    let form = ada.get("/tickets/new").await;
    let fields = [
        ("summary", "No route"),
        ("description", "It is **down**.\r\nSince noon."),
    ];
    let opened = ada.submit(&form, "/tickets/new", &fields).await;
    assert_eq!(
        (opened.status.as_u16(), opened.header("location")),
        (303, "/tickets/1?done=ticket-opened")
    );
    let page = ada.get("/tickets/1?done=ticket-opened").await;
    let html = text(&page);
    assert!(
        html.contains("<p>It is <strong>down</strong>.<br>Since noon.</p>"),
        "{html}"
    );
    assert!(html.contains("Ticket opened."), "{html}");

    let replied = ada
        .submit(&page, "/tickets/1/replies", &[("description", "Any news?")])
        .await;
    assert_eq!(replied.header("location"), "/tickets/1?done=reply-sent");
    let grace = app.user("grace").staff().await;
    grace
        .post("/desk/tickets/1/replies", json!({"description": "Soon."}))
        .await;
    let html = text(&ada.get("/tickets/1").await);
    let places = ["Since noon", "Any news?", "Soon."].map(|words| html.find(words).expect(words));
    assert!(places.is_sorted(), "the thread is in order: {html}");
    assert!(
        html.contains("message staff") && !html.contains("grace"),
        "{html}"
    );

    let list = text(&ada.get("/tickets").await);
    assert!(list.contains("No route") && list.contains(">Open <"), "{list}");
    let closed = ada.submit(&page, "/tickets/1/close", &[]).await;
    assert_eq!(closed.header("location"), "/tickets/1?done=ticket-closed");
    let html = text(&ada.get("/tickets/1").await);
    assert!(
        html.contains("This ticket is closed.") && !html.contains("name=\"description\""),
        "{html}"
    );
    // The script shows an unsent draft, with the reason why it cannot be sent.
    assert!(
        html.contains("<div hidden data-unsent=\"reply-1\">") && html.contains("Copy it into a new ticket."),
        "{html}"
    );
    assert!(text(&ada.get("/tickets").await).contains("No open tickets"));
    assert!(text(&ada.get("/tickets?status=closed").await).contains("No route"));
    for (words, found) in [("route", true), ("1", true), ("ada", true), ("elsewhere", false)] {
        let list = text(&ada.get(&format!("/tickets?status=closed&q={words}")).await);
        assert_eq!(list.contains("/tickets/1\""), found, "{words}: {list}");
    }
}

#[tokio::test]
async fn a_form_that_is_submitted_twice_takes_effect_once() {
    let app = app_with_ada().await;
    let mut ada = logged_in(&app, "ada").await;
    let form = ada.get("/tickets/new").await;
    let drawn = hidden_field(&form, "newest");
    let ticket = [
        ("newest", drawn.as_str()),
        ("summary", "No route"),
        ("description", "Since noon."),
    ];
    assert_redirects_to(
        &ada.submit(&form, "/tickets/new", &ticket).await,
        "/tickets/1?done=ticket-opened",
    );
    app.advance(3_600);
    assert_redirects_to(
        &ada.submit(&form, "/tickets/new", &ticket).await,
        "/tickets/1?done=ticket-opened-before",
    );
    let about = [
        ("newest", drawn.as_str()),
        ("summary", "No route"),
        ("description", "Since ten."),
    ];
    assert_redirects_to(
        &ada.submit(&form, "/tickets/new", &about).await,
        "/tickets/2?done=ticket-opened",
    );
    let fresh = hidden_field(&ada.get("/tickets/new").await, "newest");
    let meant = [
        ("newest", fresh.as_str()),
        ("summary", "No route"),
        ("description", "Since noon."),
    ];
    assert_redirects_to(
        &ada.submit(&form, "/tickets/new", &meant).await,
        "/tickets/3?done=ticket-opened",
    );

    let page = ada.get("/tickets/1").await;
    let to = "/tickets/1/replies";
    let before = hidden_field(&page, "newest");
    let old = [("newest", before.as_str()), ("description", "Any\r\nnews?")];
    assert_redirects_to(&ada.submit(&page, to, &old).await, "/tickets/1?done=reply-sent");
    let again = ada.submit(&page, to, &old).await;
    assert_redirects_to(&again, "/tickets/1?done=sent-already");
    assert_contains(&ada.get("/tickets/1?done=sent-already").await, "not sent again");
    // A browser may reload the page when the user goes back, and still restore the text.
    let page = ada.get("/tickets/1").await;
    let after = hidden_field(&page, "newest");
    assert_ne!(before, after);
    let resent = [("newest", after.as_str()), ("description", "Any\r\nnews?")];
    let again = ada.submit(&page, to, &resent).await;
    assert_redirects_to(&again, "/tickets/1?done=sent-already");
    // The same text is sent again after an hour, or after another reply.
    app.advance(3_600);
    assert_redirects_to(
        &ada.submit(&page, to, &resent).await,
        "/tickets/1?done=reply-sent",
    );
    let grace = app.user("grace").staff().await;
    grace
        .post("/desk/tickets/1/replies", json!({"description": "Soon."}))
        .await;
    let page = ada.get("/tickets/1").await;
    let answering = hidden_field(&page, "newest");
    let answering = [("newest", answering.as_str()), ("description", "Any\r\nnews?")];
    assert_redirects_to(
        &ada.submit(&page, to, &answering).await,
        "/tickets/1?done=reply-sent",
    );
    // The API accepts the same text repeatedly.
    let program = app.user("bea").await;
    for _ in 0..2 {
        let reply = json!({"description": "Ping"});
        let path = "/support/tickets/1/replies";
        assert_eq!(program.post(path, reply).await.status, 200);
        let opened = json!({"summary": "a", "description": "b"});
        assert_eq!(program.post("/support/tickets", opened).await.status, 200);
    }
    let replies = program.get("/support/tickets/1/replies").await;
    assert_eq!(replies.ids().len(), 6, "{replies}");
}

impl TestApp {
    pub async fn with_ticket_of(&self, browser: &mut Browser<'_>) -> String {
        let form = browser.get("/tickets/new").await;
        let fields = [("summary", "Help"), ("description", "Please")];
        let opened = browser.submit(&form, "/tickets/new", &fields).await;
        let (path, _) = opened.header("location").split_once('?').expect("a query");
        path.rsplit('/').next().expect("an id").to_owned()
    }
}

#[tokio::test]
async fn files_have_the_same_limits_as_in_the_api() {
    let app = TestApp::with(|policy, _| {
        policy.support.attachment_max_bytes = 1000;
        policy.support.attachments_per_ticket = 2;
    })
    .await;
    app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    let ticket = app.with_ticket_of(&mut ada).await;
    let page = ada.get(&format!("/tickets/{ticket}")).await;
    // The page shows the limits.
    let html = text(&page);
    assert!(
        html.contains("Up to 1000 bytes per file, 2 files per ticket. Accepted types: .gif, .jpg"),
        "{html}"
    );
    assert!(
        html.contains("data-bytes=\"1000\" data-most=\"2\""),
        "the script has them, too: {html}"
    );
    assert!(html.contains("enctype=\"multipart/form-data\""), "{html}");
    let path = format!("/tickets/{ticket}/attachments");
    let to = format!(
        "{path}?form_token={}",
        crate::browser::hidden_field(&page, "form_token")
    );

    assert_eq!(ada.upload(&path, "a.png", PNG, &[]).await.status, 403);
    let attached = ada.upload(&to, "a.png", PNG, &[]).await;
    assert_eq!(
        attached.header("location"),
        format!("/tickets/{ticket}?done=file-attached")
    );
    let html = text(&ada.get(&format!("/tickets/{ticket}")).await);
    assert!(
        html.contains(">a.png</a>") && html.contains("1 more on this ticket"),
        "{html}"
    );

    // A log gets the extension of a text.
    let refused = ada.upload(&to, "a.log", PNG, &[]).await;
    ada.store_cookies(&refused);
    assert_contains(
        &ada.get(&format!("/tickets/{ticket}")).await,
        "The content does not match",
    );

    // Errors: at the field for a browser, as plain text for the script.
    let refused = ada.upload(&to, "a.exe", PNG, &[]).await;
    // The redirect removes the form token from the URL.
    assert_redirects_to(&refused, &format!("/tickets/{ticket}"));
    ada.store_cookies(&refused);
    let page = ada.get(&format!("/tickets/{ticket}")).await;
    assert_contains(&page, "id=\"f-file-wrong\"");
    assert_lacks(&ada.get(&format!("/tickets/{ticket}")).await, "class=\"reason\"");
    let large = vec![b'x'; 2000];
    let refused = ada.upload(&to, "a.txt", &large, &[("hx-request", "true")]).await;
    assert_eq!(
        (refused.status.as_u16(), text(&refused).as_str()),
        (413, "The file is too large. The maximum is 1000 bytes")
    );
    let attached = ada
        .upload(&to, "b.txt", b"hello", &[("hx-request", "true")])
        .await;
    assert_eq!(attached.status, 204);
    let full = ada
        .upload(&to, "c.txt", b"hello", &[("hx-request", "true")])
        .await;
    assert_eq!(
        (full.status.as_u16(), text(&full).as_str()),
        (400, "A ticket can have at most 2 attachments")
    );
    assert!(!text(&ada.get(&format!("/tickets/{ticket}")).await).contains("type=\"file\""));
    let none = ada.submit(&page, &path, &[]).await;
    assert_eq!(none.status, 415);
}

#[tokio::test]
async fn other_tickets_are_hidden_and_read_only_access_cannot_write() {
    let app = app_with_ada().await;
    let mut ada = logged_in(&app, "ada").await;
    let ticket = app.with_ticket_of(&mut ada).await;
    let page = ada.get(&format!("/tickets/{ticket}")).await;
    let to = format!(
        "/tickets/{ticket}/attachments?form_token={}",
        crate::browser::hidden_field(&page, "form_token")
    );
    ada.upload(&to, "a.png", PNG, &[]).await;

    let other = app.another_account().await;
    app.user("bob").of(other).await;
    app.user("rita").restricted().await;
    app.user("reader")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    for (name, status, writing) in [("bob", 404, 404), ("rita", 404, 404), ("reader", 200, 403)] {
        let mut browser = logged_in(&app, name).await;
        let own = browser.get("/tickets/new").await;
        for path in [
            format!("/tickets/{ticket}"),
            format!("/tickets/{ticket}/attachments/1"),
        ] {
            assert_eq!(browser.get(&path).await.status.as_u16(), status, "{name} {path}");
        }
        assert_eq!(
            text(&browser.get("/tickets").await).contains("Help"),
            status == 200,
            "{name}"
        );
        for path in ["replies", "close"] {
            let sent = browser
                .submit(
                    &own,
                    &format!("/tickets/{ticket}/{path}"),
                    &[("description", "x")],
                )
                .await;
            assert_eq!(sent.status.as_u16(), writing, "{name} {path}");
        }
        let token = crate::browser::hidden_field(&own, "form_token");
        let to = format!("/tickets/{ticket}/attachments?form_token={token}");
        assert_eq!(
            browser.upload(&to, "b.png", PNG, &[]).await.status.as_u16(),
            writing,
            "{name}"
        );
    }
    let mut reader = logged_in(&app, "reader").await;
    let html = text(&reader.get(&format!("/tickets/{ticket}")).await);
    assert!(
        html.contains("read-only access")
            && !html.contains("name=\"description\"")
            && !html.contains("Close ticket"),
        "{html}"
    );
}

#[tokio::test]
async fn a_ticket_is_found_by_id_and_text() {
    let app = app_with_ada().await;
    let mut ada = logged_in(&app, "ada").await;
    let bob = app.user("bob").await;
    for number in 1..=12 {
        let body = json!({"summary": format!("Case {number}x"), "description": format!("The fan number {number}a hums at 50% load.")});
        assert_eq!(bob.post("/support/tickets", body).await.status, 200);
    }
    let grace = app.user("grace").staff().await;
    let note = json!({"description": "They are difficult."});
    assert_eq!(grace.post("/desk/tickets/7/notes", note).await.status, 200);
    for (words, found) in [
        ("%232", vec![2]),
        ("fan+number+3a", vec![3]),
        ("3a+fan", vec![3]),
        ("Case+4X", vec![4]),
        ("50%25", (1..=12).rev().collect()),
        ("5_%25", vec![]),
        ("difficult", vec![]),
    ] {
        let page = ada.get(&format!("/tickets?q={words}")).await;
        let listed: Vec<i64> = links(&page)
            .iter()
            .filter_map(|link| link.strip_prefix("/tickets/")?.parse().ok())
            .collect();
        assert_eq!(listed, found, "{words}");
    }
}
