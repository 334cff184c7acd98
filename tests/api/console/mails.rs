//! Mails in the console: choices, the mails of a ticket, and suppressed addresses.

use garth::model::mail_count::MailOutcome;
use garth::model::staff_role::StaffRole;
use garth::rules::mail_counts;
use serde_json::json;

use super::account::version;
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::TestApp;
use crate::smtp_server::{Behavior, SmtpServer};
use crate::support::outgoing_mails::{enable_mail, reply, send_due};

#[tokio::test]
async fn a_user_chooses_mails_in_the_profile() {
    let app = TestApp::with(enable_mail).await;
    let user = app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    let page = ada.get("/account").await;
    assert_contains(&page, "name=\"email_notifications\" value=\"true\" checked");
    let tag = version(&page);
    let fields = [
        ("version", tag.as_str()),
        ("email", "ada@example.com"),
        ("timezone", "GMT"),
    ];
    assert_redirects_to(
        &ada.submit(&page, "/account", &fields).await,
        "/account?done=profile-changed",
    );
    assert_eq!(user.get("/profile").await.json()["email_notifications"], false);
    let page = ada.get("/account").await;
    assert_lacks(&page, "name=\"email_notifications\" value=\"true\" checked");
    let tag = version(&page);
    let fields = [
        ("version", tag.as_str()),
        ("email", "ada@example.com"),
        ("timezone", "GMT"),
        ("email_notifications", "true"),
    ];
    ada.submit(&page, "/account", &fields).await;
    assert_eq!(user.get("/profile").await.json()["email_notifications"], true);
}

#[tokio::test]
async fn staff_choose_mails_at_the_desk_if_there_is_a_mail_server() {
    let app = TestApp::with(enable_mail).await;
    let user = app.user("sam").staff().await;
    let mut sam = logged_in(&app, "sam").await;
    assert_contains(&sam.get("/desk/password").await, "href=\"/desk/mail-choices\"");
    let page = sam.get("/desk/mail-choices").await;
    for name in ["new_tickets", "assigned", "replies"] {
        assert_contains(&page, &format!("name=\"{name}\" value=\"true\" checked"));
    }
    let tag = version(&page);
    let fields = [("version", tag.as_str()), ("assigned", "true")];
    let saved = sam.submit(&page, "/desk/mail-choices", &fields).await;
    assert_redirects_to(&saved, "/desk/mail-choices?done=mails-chosen");
    let chosen = json!({"new_tickets": false, "assigned": true, "replies": false});
    assert_eq!(user.get("/desk/mail-choices").await.json(), chosen);
    let outdated = sam.submit(&page, "/desk/mail-choices", &fields).await;
    assert_eq!(outdated.status, 412);

    let app = TestApp::new().await;
    app.user("sam").staff().await;
    let mut sam = logged_in(&app, "sam").await;
    assert_lacks(&sam.get("/desk/password").await, "mail-choices");
    let page = sam.get("/desk/mail-choices").await;
    assert_contains(&page, "No mail server");
    assert_lacks(&page, "new_tickets");
    assert_contains(
        &sam.get("/provider/suppressed-addresses").await,
        "This server sends no mail, because <code>mail.smtp_url</code> is not set.",
    );
}

#[tokio::test]
async fn staff_see_mails_of_a_ticket_and_operators_allow_addresses() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let mut sam = logged_in(&app, "sam").await;
    ada.open_ticket("Help").await;
    assert_contains(&sam.get("/desk/tickets/1").await, "1 mail about this ticket");
    let server = SmtpServer::start(Behavior::DropAfterContent);
    send_due(&app, &server).await;
    server.set(Behavior::RefuseRecipient("550 5.1.1 unknown"));
    reply(&staff, "An answer").await;
    send_due(&app, &server).await;

    let page = sam.get("/desk/tickets/1").await;
    assert_contains(
        &page,
        "<p class=\"warning\"><a href=\"/desk/tickets/1/mails\">2 mails, ",
    );
    assert_contains(&page, " failed</a>");
    let mails = sam.get("/desk/tickets/1/mails").await;
    for text in [
        "ada@example.com",
        "Customer",
        "Failed",
        "550 5.1.1",
        "sam@example.com",
        "possibly sent twice",
    ] {
        assert_contains(&mails, text);
    }
    let list = "/provider/suppressed-addresses";
    let page = sam.get(list).await;
    assert_contains(&page, "ada@example.com");
    let tag = version(&page);
    let allowed = sam
        .submit(&page, &format!("{list}/1/delete"), &[("version", tag.as_str())])
        .await;
    assert_redirects_to(&allowed, &format!("{list}?done=address-allowed"));
    assert_lacks(&sam.get(list).await, "ada@example.com");
}

#[tokio::test]
async fn a_reply_shows_the_mails_that_were_not_delivered() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let mut sam = logged_in(&app, "sam").await;
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    send_due(&app, &server).await;
    assert_lacks(&sam.get("/desk/tickets/1").await, "mail-state");
    reply(&staff, "An answer").await;
    let link = "<a href=\"/desk/tickets/1/mails#mail-2\">Mail to ada@example.com</a>";
    let waiting = sam.get("/desk/tickets/1").await;
    assert_contains(
        &waiting,
        &format!("<p class=\"mail-state info\">{link} is not sent yet.</p>"),
    );

    server.set(Behavior::RefuseRecipient("450 4.2.1 later"));
    send_due(&app, &server).await;
    let delayed = format!("{link} is not sent yet, and will be tried again: <code>450 4.2.1</code>");
    assert_contains(&sam.get("/desk/tickets/1").await, &delayed);

    server.set(Behavior::RefuseRecipient("550 5.1.1 unknown"));
    app.advance(3600);
    send_due(&app, &server).await;
    let failed = format!("<p class=\"mail-state warning\">{link} was not sent: <code>550 5.1.1</code></p>");
    assert_contains(&sam.get("/desk/tickets/1").await, &failed);
    assert_contains(&sam.get("/desk/tickets/1/mails").await, "<tr id=\"mail-2\">");
    // The address gets no more mails. Customers do not see the state.
    reply(&staff, "Another answer").await;
    app.advance(3600);
    send_due(&app, &server).await;
    let suppressed = "Mail to ada@example.com</a> was not sent: An earlier mail to this address failed.";
    assert_contains(&sam.get("/desk/tickets/1").await, suppressed);
    let mut browser = logged_in(&app, "ada").await;
    assert_lacks(&browser.get("/tickets/1").await, "mail-state");
}

#[tokio::test]
async fn operators_see_the_queue_and_the_received_messages() {
    let app = TestApp::with(enable_mail).await;
    let (ada, noor, sam) = (
        app.user("ada").await,
        app.user("noor").role(StaffRole::Operator).await,
        app.user("sam").role(StaffRole::Support).await,
    );
    let status = "/provider/mail-status";
    let empty = json!({"received": [], "queue": {"queued": 0, "failed": 0, "oldest_queued": null}});
    assert_eq!(noor.get(status).await.json(), empty);
    ada.open_ticket("Help").await;
    let server = SmtpServer::start(Behavior::RefuseContent("554 5.7.1 refused"));
    assert_eq!(send_due(&app, &server).await, 2);
    app.advance(60);
    reply(&noor, "An answer").await;
    let counted = app.store.write(|tx| {
        mail_counts::count(tx, MailOutcome::Dropped, "stranger")?;
        mail_counts::count(tx, MailOutcome::Dropped, "stranger")?;
        mail_counts::count(tx, MailOutcome::Refused, "ticket_closed")
    });
    counted.await.expect("the messages are counted");

    let at = "2024-06-01T12:01:00";
    let expected = json!({
        "received": [
            {"outcome": "dropped", "reason": "stranger", "messages": 2, "last_received": at},
            {"outcome": "refused", "reason": "ticket_closed", "messages": 1, "last_received": at},
        ],
        "queue": {"queued": 1, "failed": 2, "oldest_queued": at},
    });
    assert_eq!(noor.get(status).await.json(), expected);
    assert_eq!(sam.get(status).await.errors(), ["- role_missing"]);
    let page = logged_in(&app, "noor")
        .await
        .get("/provider/suppressed-addresses")
        .await;
    assert_lacks(&page, "sends no mail");
    for text in [
        "<h1>Mail</h1>",
        "href=\"/provider/mail-templates\"",
        "Suppressed addresses",
        "<dt>Queued</dt><dd>1</dd>",
        "<dt>Failed</dt><dd>2</dd>",
        "<code>stranger</code>",
        "data-label=\"Messages\">2<",
        "<code>ticket_closed</code>",
        "Refused",
    ] {
        assert_contains(&page, text);
    }
}
