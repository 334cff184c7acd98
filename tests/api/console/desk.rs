//! The desk in the console: access, the queue, assignment and the history.

use garth::console::PAGES;
use garth::model::staff_role::StaffRole;
use garth::web::operation::Audience;
use hyper::Method;

use crate::browser::{Browser, hidden_field, text};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, example, logged_in};
use crate::harness::{Reply, TestApp, User};

/// A server with the tenant `ada` and the staff `grace` and `linus`.
pub async fn app_with_desk() -> TestApp {
    let app = TestApp::new().await;
    app.user("grace").staff().await;
    app.user("linus").staff().await;
    app
}

#[tokio::test]
async fn only_staff_can_use_the_desk_and_its_forms_need_a_token() {
    let app = app_with_desk().await;
    app.user("ada").await;
    let (mut ada, mut grace) = (logged_in(&app, "ada").await, logged_in(&app, "grace").await);
    let (ada_page, grace_page) = (
        hidden_field(&ada.get("/tickets/new").await, "form_token"),
        hidden_field(&grace.get("/desk/tickets/new").await, "form_token"),
    );
    let mut count = 0;
    for page in PAGES.iter().filter(|page| page.audience == Audience::Staff) {
        let path = example(page.path);
        if page.method == Method::GET {
            assert_eq!(ada.get(&path).await.status, 403, "{}", page.id);
        } else {
            assert_eq!(
                ada.post(&path, &[("form_token", &ada_page)]).await.status,
                403,
                "{}",
                page.id
            );
            assert_eq!(
                grace.post(&path, &[("form_token", &ada_page)]).await.status,
                403,
                "{}",
                page.id
            );
            let with_proof = grace.post(&path, &[("form_token", &grace_page)]).await;
            // An empty form restores the defaults of the brand and of the texts of mails, or chooses no mails.
            let expected = match page.id {
                "sendBranding"
                | "sendBrandingPreview"
                | "sendBrandingReset"
                | "sendMailTemplates"
                | "sendMailTemplatesPreview"
                | "sendMailTemplatesReset"
                | "sendMailChoices" => [200, 303],
                _ => [400, 404],
            };
            assert!(
                expected.contains(&with_proof.status.as_u16()),
                "{}: {with_proof}",
                page.id
            );
        }
        count += 1;
    }
    assert!(count > 15, "the table is almost empty");
    let start = grace.get("/login").await;
    assert_eq!(
        (start.status.as_u16(), start.header("location")),
        (303, "/desk/home")
    );
    assert_eq!(grace.get("/desk").await.status, 200);
}

pub async fn open_three_tickets<'a>(app: &'a TestApp) -> User<'a> {
    let ada = app.user("ada").await;
    for summary in ["Rack broken", "Bill wrong", "Disk slow"] {
        ada.open_ticket(summary).await;
        app.advance(3600);
    }
    ada
}

#[tokio::test]
async fn the_queue_shows_assignee_and_age_and_can_be_filtered() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    assert!(text(&grace.get("/desk").await).contains("3 tickets"));
    let page = grace.get("/desk/tickets/1").await;
    assert_eq!(
        grace.submit(&page, "/desk/tickets/1/claim", &[]).await.status,
        303
    );
    let mut linus = logged_in(&app, "linus").await;
    let page = linus.get("/desk/tickets/2").await;
    linus.submit(&page, "/desk/tickets/2/claim", &[]).await;
    linus
        .submit(&page, "/desk/tickets/2/change", &[("priority", "urgent")])
        .await;
    linus.submit(&page, "/desk/tickets/3/close", &[]).await;
    linus
        .submit(&page, "/desk/tickets/1/notes", &[("note", "Zebra crossing")])
        .await;

    let queue = text(&grace.get("/desk").await);
    assert!(
        queue.contains(">Me<") && queue.contains("linus") && queue.contains(">3 h<"),
        "{queue}"
    );
    for (query, tickets) in [
        ("", &[1, 2][..]),
        ("claim=mine", &[1]),
        ("claim=others", &[2]),
        ("claim=unassigned", &[]),
        ("status=closed", &[3]),
        ("status=all", &[1, 2, 3]),
        ("status=new", &[]),
        ("priority=urgent", &[2]),
        ("account=1", &[1, 2]),
        ("account=999", &[]),
        ("account=missing", &[]),
        ("account=99999999999999999999", &[]),
        ("q=zebra", &[1]),
        ("q=rack+bill", &[]),
        ("order=oldest", &[1, 2]),
        ("q=%232", &[2]),
        ("q=%239", &[]),
    ] {
        let html = text(&grace.get(&format!("/desk?{query}")).await);
        let found: Vec<i64> = (1..=3)
            .filter(|id| html.contains(&format!("href=\"/desk/tickets/{id}\"")))
            .collect();
        assert_eq!(found, tickets, "{query}: {html}");
    }
    let newest = text(&grace.get("/desk").await);
    assert!(newest.find("/desk/tickets/2\"") < newest.find("/desk/tickets/1\""));
    let wrong = grace.get("/desk?q=%21%21").await;
    assert_eq!(wrong.status, 400);
    assert!(text(&wrong).contains("<p class=\"reason\">"), "{wrong}");
    let beyond = text(&grace.get("/desk?page=9").await);
    assert!(
        beyond.contains("The list no longer has this many pages"),
        "{beyond}"
    );
}

#[tokio::test]
async fn a_form_does_not_overwrite_an_unseen_change() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let change = "/desk/tickets/1/change";
    let (grace_page, linus_page) = (
        grace.get("/desk/tickets/1").await,
        linus.get("/desk/tickets/1").await,
    );
    assert_contains(&grace_page, "<form class=\"handling\"");
    let version = hidden_field(&grace_page, "version");
    let urgent = [("priority", "urgent"), ("version", version.as_str())];
    assert_eq!(grace.submit(&grace_page, change, &urgent).await.status, 303);
    let version = hidden_field(&linus_page, "version");
    let other = [
        ("priority", "normal"),
        ("may_close", "no"),
        ("version", version.as_str()),
    ];
    let late = linus.submit(&linus_page, change, &other).await;
    assert_eq!(late.status, 412);
    assert_contains(&late, "This was changed after you opened the page");
    let late = linus
        .submit(
            &linus_page,
            "/desk/tickets/1/close",
            &[("version", version.as_str())],
        )
        .await;
    assert_eq!(late.status, 412);
    assert_contains(&linus_page, "name=\"version\" value=\"&quot;");
    // The form has the version of the ticket.
    let form = text(&linus_page);
    let form = &form[form.find("class=\"handling\"").unwrap()..];
    let form = &form[..form.find("</form>").unwrap()];
    assert!(form.contains("name=\"version\""), "{form}");
}

#[tokio::test]
async fn placeholders_are_inserted_without_markup() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    ada.open_ticket("[Renew](http://evil.test) <b>now</b>").await;
    let mut grace = logged_in(&app, "grace").await;
    save_canned_reply(&mut grace, "About {{ticket.summary}}: [help](https://help.test)").await;
    let page = grace.get("/desk/tickets/1?canned=1").await;
    let since = hidden_field(&page, "since");
    let fields = [("canned_reply_id", "1"), ("since", since.as_str())];
    assert_eq!(
        grace
            .submit(&page, "/desk/tickets/1/replies", &fields)
            .await
            .status,
        303
    );
    let mut ada = logged_in(&app, "ada").await;
    let thread = text(&ada.get("/tickets/1").await);
    // A bare URL may become a link to itself.
    assert!(!thread.contains(">Renew</a>"), "{thread}");
    assert!(thread.contains("href=\"https://help.test"), "{thread}");
}

#[tokio::test]
async fn a_ticket_is_reassigned_only_on_request_and_can_be_unassigned() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let page = grace.get("/desk/tickets/1").await;
    let linus_page = linus.get("/desk/tickets/1").await;
    assert_eq!(
        grace.submit(&page, "/desk/tickets/1/claim", &[]).await.status,
        303
    );
    let refused = linus.submit(&linus_page, "/desk/tickets/1/claim", &[]).await;
    assert_eq!(refused.status, 400);
    let html = text(&refused);
    assert!(
        html.contains("This ticket is assigned to someone else") && html.contains("Reassign from grace"),
        "{html}"
    );
    assert_eq!(
        linus
            .submit(&linus_page, "/desk/tickets/1/claim", &[("take_over", "yes")])
            .await
            .status,
        303
    );
    let html = text(&linus.get("/desk/tickets/1").await);
    assert!(
        html.contains("reassigned the ticket from grace to themselves") && html.contains("Unassign"),
        "{html}"
    );
    assert_eq!(
        grace.submit(&page, "/desk/tickets/1/release", &[]).await.status,
        400
    );
    assert_eq!(
        linus
            .submit(&linus_page, "/desk/tickets/1/release", &[])
            .await
            .status,
        303
    );
    assert!(text(&linus.get("/desk/tickets/1").await).contains(">Assign to me<"));
}

#[tokio::test]
async fn a_ticket_is_assigned_to_a_colleague() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let html = text(&page);
    assert!(
        html.contains("<option value=\"linus\">") && !html.contains("<option value=\"grace\">"),
        "{html}"
    );
    let fields = [("assignee", "linus"), ("take_over", "yes")];
    let assigned = grace.submit(&page, "/desk/tickets/1/claim", &fields).await;
    assert_redirects_to(&assigned, "/desk/tickets/1?done=ticket-assigned");
    let html = text(&grace.get("/desk/tickets/1").await);
    assert!(
        html.contains("assigned the ticket to linus") && !html.contains("<option value=\"linus\">"),
        "{html}"
    );
    let stale = [("assignee", "missing"), ("take_over", "yes")];
    let page = grace.get("/desk/tickets/1").await;
    let refused = grace.submit(&page, "/desk/tickets/1/claim", &stale).await;
    assert_eq!(refused.status, 400);
    assert!(text(&refused).contains("No member of staff with access has this username"));
}

#[tokio::test]
async fn the_ticket_of_a_colleague_is_assigned_to_another_colleague() {
    let app = app_with_desk().await;
    app.user("noor").role(StaffRole::Support).await;
    open_three_tickets(&app).await;
    let mut linus = logged_in(&app, "linus").await;
    let page = linus.get("/desk/tickets/1").await;
    linus.submit(&page, "/desk/tickets/1/claim", &[]).await;

    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;

    for part in [
        "Reassign to me",
        "Assign…",
        "This ticket is assigned to <strong>linus</strong>.</p>",
        "<option value=\"noor\">",
    ] {
        assert_contains(&page, part);
    }
    for other in ["grace", "linus"] {
        assert_lacks(&page, &format!("<option value=\"{other}\">"));
    }
    let version = hidden_field(&page, "version");
    let fields = [
        ("assignee", "noor"),
        ("take_over", "yes"),
        ("version", version.as_str()),
    ];
    let assigned = grace.submit(&page, "/desk/tickets/1/claim", &fields).await;
    assert_redirects_to(&assigned, "/desk/tickets/1?done=ticket-assigned");
    assert_contains(
        &grace.get("/desk/tickets/1").await,
        "reassigned the ticket from linus to noor",
    );
}

#[tokio::test]
async fn the_desk_shows_staff_names_counts_and_texts_without_field_names() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let page = page_of(&mut grace, 1).await;
    grace
        .submit(&page, "/desk/tickets/1/replies", &[("description", "Hello")])
        .await;
    // A note does not count as an update.
    let linus_page = page_of(&mut linus, 1).await;
    linus
        .submit(&linus_page, "/desk/tickets/1/notes", &[("note", "x")])
        .await;
    for page in [page_of(&mut linus, 1).await, linus.get("/desk").await] {
        assert_contains(&page, ">by grace</span>");
        assert_lacks(&page, "by Support");
    }
    assert_contains(&ada_page(&app).await, "by Support");
    // The number of other tickets, with a link to all of them.
    for number in 0..30 {
        ada.open_ticket(&format!("More {number}")).await;
    }
    let page = page_of(&mut linus, 1).await;
    assert_contains(&page, "Other open tickets <span class=\"tag\">32</span>");
    assert_contains(
        &page,
        "<a href=\"/desk?account=1\">All open tickets of this account</a>",
    );
    // Error texts name buttons, not API fields.
    let linus_page = page_of(&mut linus, 1).await;
    let grace_page = page_of(&mut grace, 1).await;
    grace.submit(&grace_page, "/desk/tickets/1/claim", &[]).await;
    let late = linus.submit(&linus_page, "/desk/tickets/1/claim", &[]).await;
    assert_eq!(late.status, 400);
    assert_contains(&late, "This ticket is assigned to <strong>grace</strong>");
    assert_lacks(&late, "ask to take it over");
    let new = linus.get("/desk/tickets/new").await;
    for (account, about, id) in [
        ("", "", ""),
        ("x", "", ""),
        ("1", "vpc_id", "99"),
        ("1", "linode_id", "x"),
    ] {
        let fields = [
            ("account_id", account),
            ("about_kind", about),
            ("about_id", id),
            ("summary", "s"),
            ("description", "d"),
        ];
        let wrong = linus.submit(&new, "/desk/tickets/new", &fields).await;
        assert_eq!(wrong.status, 400);
        let html = text(&wrong);
        let alert = html.split_once("role=\"alert\"").expect("an alert").1;
        let alert = alert.split_once("</ul>").expect("an end").0;
        let message: String = alert
            .split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text)
            .collect();
        assert!(!message.contains('_'), "{message}");
    }
}

async fn ada_page(app: &TestApp) -> Reply {
    logged_in(app, "ada").await.get("/tickets/1").await
}

/// Saves the first canned reply.
pub async fn save_canned_reply(browser: &mut Browser<'_>, text: &str) {
    let (here, form) = (
        "/desk/canned-replies/new",
        browser.get("/desk/canned-replies/new").await,
    );
    let saved = browser
        .submit(&form, here, &[("label", "Hi"), ("description", text)])
        .await;
    assert_eq!(saved.status, 303);
}

pub async fn page_of(browser: &mut Browser<'_>, ticket: i64) -> Reply {
    browser.get(&format!("/desk/tickets/{ticket}")).await
}

#[tokio::test]
async fn every_download_by_staff_is_recorded() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    ada.attach_file(1, "log.txt", "hello").await;
    let mut grace = logged_in(&app, "grace").await;
    assert!(text(&grace.get("/desk/tickets/1").await).contains("/desk/tickets/1/attachments/1"));
    for _ in 0..2 {
        let file = grace.get("/desk/tickets/1/attachments/1").await;
        assert_eq!((file.status.as_u16(), &file.body[..]), (200, &b"hello"[..]));
    }
    assert_eq!(
        text(&grace.get("/desk/tickets/1").await)
            .matches("downloaded")
            .count(),
        2
    );
    assert_eq!(grace.get("/desk/tickets/2/attachments/1").await.status, 404);
}
