//! Replies, notes and canned replies at the desk in the console.

use serde_json::json;

use crate::browser::{Browser, hidden_field, text};
use crate::console::desk::{app_with_desk, open_three_tickets, page_of, save_canned_reply};
use crate::console::{assert_contains, assert_has_anchor, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::Reply;

#[tokio::test]
async fn a_note_cannot_be_sent_as_a_reply() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let html = text(&page);
    for expected in [
        "Send reply to customer",
        "visible to users of ",
        "Save internal note",
        "visible to staff only",
        "name=\"note\"",
    ] {
        assert!(html.contains(expected), "{expected} is not in {html}");
    }
    // Each box has its own field, which the other form does not read.
    let crossed = grace
        .submit(&page, "/desk/tickets/1/replies", &[("note", "secret")])
        .await;
    assert_eq!(crossed.status, 400);
    let crossed = grace
        .submit(&page, "/desk/tickets/1/notes", &[("description", "hello")])
        .await;
    assert_eq!(crossed.status, 400);
    assert!(text(&crossed).contains("id=\"f-note-wrong\""), "{crossed}");

    grace
        .submit(&page, "/desk/tickets/1/notes", &[("note", "He owes us *money*")])
        .await;
    grace
        .submit(
            &page,
            "/desk/tickets/1/replies",
            &[("description", "We look into it.")],
        )
        .await;
    let html = text(&grace.get("/desk/tickets/1").await);
    assert!(
        html.contains("message note") && html.contains("He owes us <em>money</em>"),
        "{html}"
    );
    assert!(
        html.contains("message staff") && html.contains("We look into it."),
        "{html}"
    );
    let mut ada_page = logged_in(&app, "ada").await;
    let html = text(&ada_page.get("/tickets/1").await);
    assert!(
        html.contains("We look into it.") && !html.contains("money") && !html.contains("grace"),
        "{html}"
    );
    assert_eq!(ada.count("/support/tickets/1/replies").await, 1);
}

#[tokio::test]
async fn a_reply_is_sent_and_the_ticket_closed_once() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    assert_contains(&page, "Send and close");
    let fields = [("description", "Solved."), ("close", "yes")];
    let sent = grace.submit(&page, "/desk/tickets/1/replies", &fields).await;
    assert_redirects_to(&sent, "/desk/tickets/1?done=reply-sent-closed");
    let again = grace.submit(&page, "/desk/tickets/1/replies", &fields).await;
    assert_redirects_to(&again, "/desk/tickets/1?done=sent-already");
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (&ticket["status"], &ticket["closed"].is_null()),
        (&json!("closed"), &false)
    );
    assert_eq!(ada.count("/support/tickets/1/replies").await, 1);
}

#[tokio::test]
async fn a_reply_conflicts_with_an_unseen_reply_and_preserves_the_text() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let (grace_page, linus_page) = (
        grace.get("/desk/tickets/1").await,
        linus.get("/desk/tickets/1").await,
    );
    let since = hidden_field(&grace_page, "since");
    assert_eq!(
        linus
            .submit(
                &linus_page,
                "/desk/tickets/1/replies",
                &[
                    ("description", "Mine"),
                    ("since", &hidden_field(&linus_page, "since"))
                ]
            )
            .await
            .status,
        303
    );
    let late = grace
        .submit(
            &grace_page,
            "/desk/tickets/1/replies",
            &[("description", "Mine too"), ("since", &since)],
        )
        .await;
    assert_eq!(late.status, 412);
    let html = text(&late);
    assert!(
        html.contains("Mine too</textarea>") && html.contains("linus replied</a>"),
        "{html}"
    );
    assert_eq!(ada.count("/support/tickets/1/replies").await, 1);
    // The new page shows the update.
    let fields = [
        ("description", "Mine too"),
        ("since", &hidden_field(&late, "since")),
    ];
    assert_eq!(
        grace
            .submit(&late, "/desk/tickets/1/replies", &fields)
            .await
            .status,
        303
    );
}

#[tokio::test]
async fn a_text_that_is_submitted_twice_is_posted_once() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    save_canned_reply(&mut grace, "Hello {{customer.username}}").await;
    for (path, field, message) in [
        (
            "/desk/tickets/1/replies",
            "description",
            "We look into it.\r\nBye",
        ),
        ("/desk/tickets/1/notes", "note", "Rack 4"),
        ("/desk/tickets/2/replies", "canned_reply_id", "1"),
    ] {
        let here = path.rsplit_once('/').expect("a path").0;
        let steps = async |grace: &mut Browser<'_>| {
            let page = text(&grace.get(here).await);
            page.matches("class=\"message staff\"").count() + page.matches("class=\"message note\"").count()
        };
        let before = steps(&mut grace).await;
        let old = grace.get(here).await;
        let since = hidden_field(&old, "since");
        let fields = [(field, message), ("since", since.as_str())];
        assert_eq!(grace.submit(&old, path, &fields).await.status, 303);
        // A browser that goes back restores the text in the box, on the old page or on a new page.
        let fresh = hidden_field(&grace.get(here).await, "since");
        assert_ne!(since, fresh);
        for since in [since.as_str(), &fresh] {
            let again = grace
                .submit(&old, path, &[(field, message), ("since", since)])
                .await;
            assert_redirects_to(&again, &format!("{here}?done=sent-already"));
        }
        assert_contains(
            &grace.get(&format!("{here}?done=sent-already")).await,
            "was not sent again",
        );
        assert_eq!(steps(&mut grace).await, before + 1, "{path}");
        // After a reply of the customer, a text that was posted after the page was rendered is still a duplicate.
        let number = here.rsplit_once('/').expect("a path").1;
        let reply = json!({"description": "And now?"});
        ada.post(&format!("/support/tickets/{number}/replies"), reply)
            .await;
        let again = grace.submit(&old, path, &fields).await;
        assert_redirects_to(&again, &format!("{here}?done=sent-already"));
    }
    let page = grace.get("/desk/tickets/1").await;
    let since = hidden_field(&page, "since");
    let fields = [
        ("description", "We look into it.\nBye"),
        ("since", since.as_str()),
    ];
    assert_redirects_to(
        &grace.submit(&page, "/desk/tickets/1/replies", &fields).await,
        "/desk/tickets/1?done=reply-sent",
    );
    // The same text of another user, or from the API, is not a duplicate.
    let mut linus = logged_in(&app, "linus").await;
    let page = linus.get("/desk/tickets/1").await;
    assert_redirects_to(
        &linus.submit(&page, "/desk/tickets/1/replies", &fields[..1]).await,
        "/desk/tickets/1?done=reply-sent",
    );
    let before = ada.count("/support/tickets/3/replies").await;
    let program = app.user("hopper").staff().await;
    for _ in 0..2 {
        let replies = program
            .post("/desk/tickets/3/replies", json!({"description": "Hello"}))
            .await;
        assert_eq!(replies.status, 200, "{replies}");
    }
    assert_eq!(ada.count("/support/tickets/3/replies").await, before + 2);
}

#[tokio::test]
async fn only_changes_visible_to_the_customer_conflict_with_a_reply() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let (reply, note) = ("/desk/tickets/1/replies", "/desk/tickets/1/notes");
    let page = grace.get("/desk/tickets/1").await;
    let since = hidden_field(&page, "since");
    let says = |text: &'static str| [("description", text), ("since", since.as_str())];
    // Notes and priorities do not conflict.
    let linus_page = page_of(&mut linus, 1).await;
    linus.submit(&linus_page, note, &[("note", "He owes us")]).await;
    let high = [("priority", "high")];
    linus.submit(&linus_page, "/desk/tickets/1/change", &high).await;
    assert_redirects_to(
        &grace.submit(&page, reply, &says("One")).await,
        "/desk/tickets/1?done=reply-sent",
    );
    // The user's own reply does not conflict.
    assert_redirects_to(
        &grace.submit(&page, reply, &says("Two")).await,
        "/desk/tickets/1?done=reply-sent",
    );
    // An assignment, a file, a reply and closing do conflict.
    let mut seen = hidden_field(&grace.get("/desk/tickets/1").await, "since");
    for (index, doing) in ["claim", "file", "reply", "close"].into_iter().enumerate() {
        let text = format!("Text {index}");
        match doing {
            "file" => drop(ada.attach_file(1, "log.txt", "hop").await),
            "reply" => drop(
                ada.post("/support/tickets/1/replies", json!({"description": "x"}))
                    .await,
            ),
            deed => {
                let page = page_of(&mut linus, 1).await;
                drop(linus.submit(&page, &format!("/desk/tickets/1/{deed}"), &[]).await);
            }
        }
        let late = grace
            .submit(&page, reply, &[("description", &text), ("since", &seen)])
            .await;
        assert_eq!(late.status, 412, "{doing}");
        assert_contains(&late, &format!("{text}</textarea>"));
        let noted = grace
            .submit(&page, note, &[("note", &text), ("since", &seen)])
            .await;
        assert_redirects_to(&noted, "/desk/tickets/1?done=note-saved");
        seen = hidden_field(&late, "since");
    }
}

#[tokio::test]
async fn submitting_one_box_preserves_the_text_of_the_other() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    save_canned_reply(&mut grace, "Hello {{customer.username}}").await;
    let page = page_of(&mut grace, 1).await;
    // All boxes are in one form, so a browser submits them together.
    let html = text(&page);
    let form = html.split_once("<form class=\"compose\"").expect("a form").1;
    let form = form.split_once("</form>").expect("an end").0;
    for name in ["description", "note", "canned", "since"] {
        assert_eq!(
            form.matches(&format!("name=\"{name}\"")).count(),
            1,
            "{name}: {form}"
        );
    }
    assert!(form.contains("formaction=\"/desk/tickets/1/notes\""), "{form}");

    let (replies, notes) = ("/desk/tickets/1/replies", "/desk/tickets/1/notes");
    let typed = [("description", "To *her*"), ("note", "To us"), ("canned", "1")];
    for (path, button, shown) in [
        (replies, ("act", "preview"), "To <em>her</em>"),
        (notes, ("act", "preview"), "<p>To us</p>"),
        (replies, ("act", "canned"), "<p>Hello ada</p>"),
    ] {
        let fields = [&typed[..], &[button]].concat();
        let preview = grace.submit(&page, path, &fields).await;
        assert_eq!(preview.status, 200);
        for expected in [
            shown,
            "\nTo *her*</textarea>",
            "\nTo us</textarea>",
            "<p>Hello ada</p>",
        ] {
            assert_contains(&preview, expected);
        }
    }
    let used = grace
        .submit(&page, replies, &[&typed[..], &[("use", "1")]].concat())
        .await;
    assert_contains(&used, "\nTo *her*\n\nHello ada</textarea>");
    assert_contains(&used, "\nTo us</textarea>");
    assert_eq!(ada.count("/support/tickets/1/replies").await, 0);

    // After an error, the text of both boxes is preserved.
    let wrong = [("description", " "), ("note", "To us")];
    let refused = grace.submit(&page, replies, &wrong).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "\nTo us</textarea>");
    assert_contains(&refused, "id=\"f-description-wrong\"");
    // Sending one box clears only that box.
    let sent = grace.submit(&page, notes, &typed).await;
    assert_eq!(sent.status, 200);
    assert_contains(&sent, "Internal note saved.");
    assert_contains(&sent, "\nTo *her*</textarea>");
    assert_lacks(&sent, "To us</textarea>");
    let canned = [&typed[..], &[("canned_reply_id", "1")]].concat();
    let sent = grace.submit(&page, replies, &canned).await;
    assert_contains(&sent, "Reply sent.");
    assert_contains(&sent, "\nTo *her*</textarea>");
    assert_contains(&sent, "\nTo us</textarea>");
    assert_redirects_to(
        &grace.submit(&page, replies, &typed[..1]).await,
        "/desk/tickets/1?done=reply-sent",
    );
    let replies = ada.get("/support/tickets/1/replies").await;
    let replies: Vec<_> = replies
        .data()
        .iter()
        .map(|reply| reply["description"].clone())
        .collect();
    assert_eq!(replies, ["Hello ada", "To *her*"]);
}

#[tokio::test]
async fn updates_are_listed_next_to_the_box() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let page = page_of(&mut grace, 1).await;
    let since = hidden_field(&page, "since");
    let updates_url = format!("/desk/tickets/1?after={since}");
    assert!(loads_updates_from(&page, &updates_url), "{page}");
    assert_eq!(updates(&page), "");
    for (browser, path, field) in [
        (&mut linus, "notes", ("note", "Rack 4")),
        (&mut grace, "replies", ("description", "Mine")),
    ] {
        let page = page_of(browser, 1).await;
        let sent = browser
            .submit(&page, &format!("/desk/tickets/1/{path}"), &[field])
            .await;
        assert_eq!(sent.status, 303);
    }
    ada.post("/support/tickets/1/replies", json!({"description": "And?"}))
        .await;
    ada.attach_file(1, "log.txt", "hop").await;
    let now = grace.get(&updates_url).await;
    let shown = updates(&now);
    for expected in [
        "linus wrote an internal note",
        "ada replied",
        "ada attached log.txt",
    ] {
        assert!(shown.contains(&format!(">{expected}</a>")), "{expected}: {shown}");
    }
    assert!(!shown.contains("grace"), "own actions are not listed: {shown}");
    let places: Vec<_> = shown
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(places.len(), 3, "{shown}");
    for place in places {
        assert_has_anchor(&now, place);
    }
}

/// Whether htmx loads updates from this URL.
fn loads_updates_from(page: &Reply, address: &str) -> bool {
    text(page).contains(&format!("hx-get=\"{address}\""))
}

/// The updates next to the box.
fn updates(page: &Reply) -> String {
    let html = text(page);
    let shown = html.split_once("<div class=\"arrived\" id=\"arrived\" role=\"status\">");
    let shown = shown.unwrap_or_else(|| panic!("no place in {html}")).1;
    shown.split_once("</div>").expect("an end").0.to_owned()
}

#[tokio::test]
async fn canned_replies_are_saved_previewed_and_sent() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    assert!(text(&grace.get("/desk/canned-replies").await).contains("No canned replies yet"));
    let form = grace.get("/desk/canned-replies/new").await;
    let wrong = grace
        .submit(
            &form,
            "/desk/canned-replies/new",
            &[("label", "Hi"), ("description", "{{unknown}}")],
        )
        .await;
    assert_eq!(wrong.status, 400);
    assert!(
        text(&wrong).contains("id=\"f-description-wrong\"")
            && text(&wrong).contains("{{unknown}}</textarea>"),
        "{wrong}"
    );
    let fields = [
        ("label", "Hi"),
        (
            "description",
            "Hello **{{customer.username}}**, about #{{ticket.id}}.",
        ),
    ];
    assert_eq!(
        grace
            .submit(&form, "/desk/canned-replies/new", &fields)
            .await
            .status,
        303
    );

    let page = grace.get("/desk/tickets/2?canned=1").await;
    let html = text(&page);
    assert!(
        html.contains("Hello <strong>ada</strong>, about #2.") && html.contains("Send to customer as is"),
        "{html}"
    );
    assert_eq!(ada.count("/support/tickets/2/replies").await, 0);
    let replies = "/desk/tickets/2/replies";
    // The preview is not the reply.
    for button in [&[][..], &[("close", "yes")]] {
        let fields = [&[("canned", "1"), ("description", " ")][..], button].concat();
        let refused = grace.submit(&page, replies, &fields).await;
        assert_eq!(refused.status, 400);
        assert_contains(&refused, "Press “Insert into reply” first, or write a reply");
        assert_contains(&refused, "Send as is and close");
    }
    let used = grace.submit(&page, replies, &[("use", "1")]).await;
    assert_contains(&used, "Hello **ada**, about #2.</textarea>");
    // The text can be changed now, so the unchanged text is no longer offered.
    assert_lacks(&used, "Send to customer as is");
    let sent = grace
        .submit(&page, "/desk/tickets/2/replies", &[("canned_reply_id", "1")])
        .await;
    assert_eq!(sent.status, 303);
    let replies = ada.get("/support/tickets/2/replies").await;
    assert_eq!(replies.data()[0]["description"], "Hello **ada**, about #2.");

    let closed = grace
        .submit(&page, "/desk/tickets/3/replies", &[("canned_reply_close", "1")])
        .await;
    assert_redirects_to(&closed, "/desk/tickets/3?done=reply-sent-closed");
    let replies = ada.get("/support/tickets/3/replies").await;
    assert_eq!(replies.data()[0]["description"], "Hello **ada**, about #3.");
    assert_eq!(ada.get("/support/tickets/3").await.json()["status"], "closed");

    let edit = grace.get("/desk/canned-replies/1").await;
    let fields = [
        ("label", "Hello"),
        ("description", "Hi"),
        ("version", &hidden_field(&edit, "version")),
    ];
    assert_eq!(
        grace
            .submit(&edit, "/desk/canned-replies/1", &fields)
            .await
            .status,
        303
    );
    let stale = grace.submit(&edit, "/desk/canned-replies/1", &fields).await;
    assert_eq!(stale.status, 412);
    assert_eq!(
        grace
            .submit(&edit, "/desk/canned-replies/1/delete", &[])
            .await
            .status,
        303
    );
    assert_eq!(grace.get("/desk/canned-replies/1").await.status, 404);
}

#[tokio::test]
async fn a_canned_reply_with_a_gap_has_a_warning() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    save_canned_reply(
        &mut grace,
        "Hello {{customer.username}}, about {{ entity.label }}.",
    )
    .await;
    let page = grace.get("/desk/tickets/1?canned=1").await;
    assert_contains(&page, "so the text has a gap: <code>{{entity.label}}</code></p>");
    assert_lacks(&grace.get("/desk/tickets/1").await, "so the text has a gap");
}

#[tokio::test]
async fn the_unsent_reply_to_a_closed_ticket_is_preserved_until_it_is_reopened() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let page = page_of(&mut grace, 1).await;
    let linus_page = page_of(&mut linus, 1).await;
    linus.submit(&linus_page, "/desk/tickets/1/close", &[]).await;
    let typed = [("description", "Long words")];
    let late = grace.submit(&page, "/desk/tickets/1/replies", &typed).await;
    assert_eq!(late.status, 400);
    assert_contains(&late, "Your text is preserved. Reopen the ticket to send it.");
    assert_contains(&late, "type=\"hidden\" name=\"description\" value=\"Long words\"");
    let reopened = grace.submit(&late, "/desk/tickets/1/reopen", &typed).await;
    assert_eq!(reopened.status, 200);
    assert_contains(&reopened, "Ticket reopened.");
    assert_contains(&reopened, "name=\"description\" rows=\"8\"");
    assert_contains(&reopened, "\nLong words</textarea>");
}

#[tokio::test]
async fn a_browser_does_not_cut_a_long_reply() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = page_of(&mut grace, 1).await;
    assert_lacks(&page, "maxlength=\"65535\"");
    let text = "x".repeat(65_536);
    let refused = grace
        .submit(&page, "/desk/tickets/1/replies", &[("description", &text)])
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, &format!("{text}</textarea>"));
}

#[tokio::test]
async fn an_old_reply_or_note_can_be_repeated() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    for (path, field, done) in [
        ("/desk/tickets/1/replies", "description", "reply-sent"),
        ("/desk/tickets/1/notes", "note", "note-saved"),
    ] {
        for (seconds, done) in [(0, done), (0, "sent-already"), (601, done)] {
            app.advance(seconds);
            let page = grace.get("/desk/tickets/1").await;
            let since = hidden_field(&page, "since");
            let fields = [
                (field, "We are waiting for your answer."),
                ("since", since.as_str()),
            ];
            let sent = grace.submit(&page, path, &fields).await;
            assert_redirects_to(&sent, &format!("/desk/tickets/1?done={done}"));
        }
    }
}
