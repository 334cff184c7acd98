//! Mails about tickets: who gets them, their content, retries and results.

use std::time::Duration;

use garth::jobs::mails;
use garth::mail::delivery::Delivery;
use garth::mail::outbound::server::SmtpUrl;
use garth::model::bounce_address;
use garth::model::id::{OutgoingMailId, TicketId};
use garth::model::job::JobKind;
use garth::model::outgoing_mail::{MailState, OutgoingMail};
use garth::model::policy::{MailPolicy, OutgoingMailPolicy, Policy};
use garth::model::reply_address::MailAddress;
use garth::model::staff_role::StaffRole;
use garth::model::user::Email;
use garth::rules::lists::ListRequest;
use garth::rules::{jobs, outgoing_mails, received_mails, suppressed_addresses};
use garth::store::WriteTx;
use garth::web::Options;
use hyper::Method;
use mail_parser::{Message, MessageParser};
use serde_json::json;

use crate::harness::{TestApp, User};
use crate::smtp_server::{Behavior, ReceivedMail, SmtpServer};
use crate::support::received_mails::{message, send, signed};

const DESK: &str = "support@desk.example.net";
const DAY_SECONDS: i64 = 24 * 3600;

pub fn enable_mail(policy: &mut Policy, _: &mut Options) {
    policy.mail = Some(MailPolicy {
        reply_address: MailAddress::parse(DESK).expect("an address"),
        authserv_id: "mx.example.net".to_owned(),
    });
    policy.outgoing_mail = Some(OutgoingMailPolicy {
        from: Email::parse("support@example.net").expect("an address"),
        subject_prefix: None,
        public_url: "https://garth.example.net".to_owned(),
    });
}

/// Runs the jobs of mails that are due. Returns their number.
pub async fn send_due(app: &TestApp, server: &SmtpServer) -> usize {
    let url = format!("smtp://{}", server.address);
    let mut client = SmtpUrl::parse(&url).expect("a URL").with_password(None);
    client.timeout = Duration::from_millis(500);
    let claimed = app
        .store
        .write(|tx| jobs::claim(tx, &[JobKind::MailSend], "node", 100))
        .await;
    let mut claimed = claimed.expect("jobs can be leased");
    // Leased jobs have no order.
    claimed.sort_by_key(|job| job.id.0);
    for job in &claimed {
        let result = mails::send(&app.store, &client, job).await.expect("an attempt");
        let job = job.clone();
        let ran = app.store.write(move |tx| jobs::run_mail(tx, &job, &result)).await;
        assert!(ran.expect("the result is recorded"));
    }
    claimed.len()
}

/// The mails about ticket 1, oldest first.
async fn listed(app: &TestApp) -> Vec<OutgoingMail> {
    let list =
        |tx: &mut garth::store::ReadTx| outgoing_mails::list(tx, TicketId(1), &ListRequest::first(100));
    let mut mails = app.store.read(list).await.expect("mails").items;
    mails.reverse();
    mails
}

async fn states(app: &TestApp) -> Vec<(MailState, bool, Option<String>)> {
    let mails = listed(app).await;
    mails
        .into_iter()
        .map(|mail| (mail.state, mail.maybe_repeated, mail.error))
        .collect()
}

pub async fn reply(staff: &User<'_>, text: &str) {
    let sent = staff
        .post("/desk/tickets/1/replies", json!({"description": text}))
        .await;
    assert_eq!(sent.status, 200, "{sent}");
}

/// The mails to an address that the server received.
pub fn to<'a>(mails: &'a [ReceivedMail], address: &str) -> Vec<Message<'a>> {
    let parse = |mail: &'a ReceivedMail| MessageParser::default().parse(mail.content.as_bytes());
    let sent = mails.iter().filter(|mail| mail.recipient == address);
    sent.map(|mail| parse(mail).expect("a message")).collect()
}

/// The value of a field as it was sent.
fn field(message: &Message, name: &str) -> String {
    let value = message
        .header_raw(name)
        .unwrap_or_else(|| panic!("{name} is missing"));
    value.trim().to_owned()
}

pub fn text(message: &Message) -> String {
    message.body_text(0).expect("a text").replace("\r\n", "\n")
}

#[tokio::test]
async fn a_reply_is_sent_to_the_opener_with_a_thread_and_a_signed_address() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Slow & <b>bold</b>").await;
    reply(&staff, "Is it <script>slow</script>?\n.\nYes.").await;
    assert_eq!(send_due(&app, &server).await, 2);

    let mails = server.mails();
    let (to_ada, to_sam) = (to(&mails, "ada@example.com"), to(&mails, "sam@example.com"));
    assert_eq!((to_ada.len(), to_sam.len()), (1, 1), "{mails:?}");
    let mail = &to_ada[0];
    assert_eq!(mail.subject(), Some("[Garth #1] Slow & <b>bold</b>"));
    assert_eq!(field(mail, "In-Reply-To"), "<ticket-1@example.net>");
    assert_eq!(field(mail, "Auto-Submitted"), "auto-generated");
    assert_eq!(field(mail, "X-Garth-Ticket"), "1");
    assert_eq!(field(mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_eq!(
        mail.date().map(|date| date.to_rfc3339()),
        Some("2024-06-01T12:00:00Z".to_owned())
    );
    let plain = text(mail);
    assert!(
        plain.starts_with("-- Write your reply above this line --\n"),
        "{plain}"
    );
    assert!(plain.contains("Support replied to ticket #1"), "{plain}");
    assert!(
        plain.contains("Is it <script>slow</script>?\n.\nYes.\n"),
        "{plain}"
    );
    assert!(plain.contains("https://garth.example.net/tickets/1\n"), "{plain}");
    let html = mail.body_html(0).expect("HTML");
    assert!(
        html.contains("&lt;script&gt;") && !html.contains("<script>"),
        "{html}"
    );
    assert!(!html.contains("sam"), "the name of the member of staff: {html}");
    assert!(
        text(&to_sam[0]).contains("ada opened ticket #1"),
        "{}",
        text(&to_sam[0])
    );
    assert!(text(&to_sam[0]).contains("https://garth.example.net/desk/tickets/1\n"));

    let envelope = mails
        .iter()
        .find(|mail| mail.recipient == "ada@example.com")
        .expect("a mail");
    let bounce = envelope.sender.clone();
    let reply_to = mail
        .reply_to()
        .and_then(|reply_to| reply_to.first())
        .expect("an address");
    let reply_to = reply_to.address().expect("an address").to_owned();
    let check = move |tx: &mut WriteTx| -> garth::rules::Result<_> {
        let (key, desk) = (
            received_mails::key(tx)?,
            MailAddress::parse(DESK).expect("an address"),
        );
        Ok((
            bounce_address::verify(&key, &desk, &bounce),
            key.target(&desk, &reply_to),
        ))
    };
    let (mail, target) = app.store.write(check).await.expect("the key");
    let of_ada = listed(&app)
        .await
        .into_iter()
        .find(|mail| mail.address.as_str() == "ada@example.com");
    assert_eq!(mail, of_ada.map(|mail| mail.id));
    let expected = garth::model::reply_address::MailTarget::Reply(TicketId(1), garth::model::id::UserId(1));
    assert_eq!(target, expected);
}

#[tokio::test]
async fn changes_within_a_minute_are_in_one_mail() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    reply(&staff, "First").await;
    reply(&staff, "Second").await;
    send_due(&app, &server).await;
    let mails = server.mails();
    let to_ada = to(&mails, "ada@example.com");
    assert_eq!(to_ada.len(), 1);
    assert!(text(&to_ada[0]).contains("First\n") && text(&to_ada[0]).contains("Second\n"));

    reply(&staff, "Third").await;
    app.advance(30);
    staff.post("/desk/tickets/1/close", json!({})).await;
    assert_eq!(send_due(&app, &server).await, 0, "a minute has not passed");
    app.advance(30);
    assert_eq!(send_due(&app, &server).await, 1);
    let mails = server.mails();
    let last = text(to(&mails, "ada@example.com").last().expect("a mail"));
    assert!(
        last.contains("Third\n") && last.contains("Support closed ticket #1"),
        "{last}"
    );
    assert!(!last.contains("Second"), "{last}");
}

#[tokio::test]
async fn a_mail_has_the_newest_twenty_changes_and_the_number_of_the_others() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    for number in 1..=22 {
        reply(&staff, &format!("Step {number}")).await;
    }
    send_due(&app, &server).await;
    let mails = server.mails();
    let to_ada = to(&mails, "ada@example.com");
    assert_eq!(to_ada.len(), 1);
    let text = text(&to_ada[0]);
    for number in 1..=22 {
        let is_expected = number > 2;
        assert_eq!(
            text.contains(&format!("Step {number}\n")),
            is_expected,
            "{number}: {text}"
        );
    }
    assert!(text.contains("2 earlier changes are not in this mail."), "{text}");
}

#[tokio::test]
async fn a_mail_server_that_is_down_for_a_day_loses_nothing() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let down = SmtpServer::start(Behavior::RefuseContent("451 4.3.0 try again, ada@example.com"));
    ada.open_ticket("Help").await;
    reply(&staff, "First").await;
    let mut attempts = 0;
    for minute in 0..DAY_SECONDS / 60 {
        attempts += send_due(&app, &down).await;
        if minute == 600 {
            reply(&staff, "Second").await;
        }
        app.advance(60);
    }
    assert!((50..=70).contains(&attempts), "two mails, hourly: {attempts}");
    let waiting = (MailState::Queued, false, Some("451 4.3.0".to_owned()));
    assert_eq!(states(&app).await, [waiting.clone(), waiting]);
    let up = SmtpServer::start(Behavior::Accept);
    app.advance(3600);
    assert_eq!(send_due(&app, &up).await, 2);
    let mails = up.mails();
    let to_ada = to(&mails, "ada@example.com");
    assert_eq!(to_ada.len(), 1);
    assert!(text(&to_ada[0]).contains("First\n") && text(&to_ada[0]).contains("Second\n"));
    let sent = (MailState::Sent, false, None);
    assert_eq!(states(&app).await, [sent.clone(), sent]);
}

#[tokio::test]
async fn a_mail_fails_after_five_days() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    let down = SmtpServer::start(Behavior::RefuseContent("451 4.3.0 try again"));
    ada.open_ticket("Help").await;
    for _ in 0..6 * 24 {
        send_due(&app, &down).await;
        app.advance(3600);
    }
    assert_eq!(
        states(&app).await,
        [(MailState::Failed, false, Some("451 4.3.0".to_owned()))]
    );
    assert_eq!(send_due(&app, &down).await, 0);
}

#[tokio::test]
async fn a_mail_without_an_answer_is_sent_again_and_marked() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Help").await;
    let server = SmtpServer::start(Behavior::Accept);
    send_due(&app, &server).await;
    reply(&staff, "First").await;
    for behavior in [Behavior::DropAfterContent, Behavior::HoldContent] {
        server.set(behavior);
        assert_eq!(send_due(&app, &server).await, 1, "{behavior:?}");
        app.advance(3600);
    }
    // The recipient may have the mail, so that it must not change.
    reply(&staff, "Second").await;
    server.set(Behavior::Accept);
    assert_eq!(send_due(&app, &server).await, 2);
    let mails = server.mails();
    let to_ada = to(&mails, "ada@example.com");
    let texts: Vec<_> = to_ada.iter().map(text).collect();
    assert_eq!(texts.len(), 4);
    assert!(
        texts[..3]
            .iter()
            .all(|text| text.contains("First\n") && !text.contains("Second"))
    );
    assert!(
        texts[3].contains("Second\n") && !texts[3].contains("First"),
        "{}",
        texts[3]
    );
    let ids: Vec<_> = to_ada
        .iter()
        .map(|mail| mail.message_id().expect("an ID").to_owned())
        .collect();
    assert!(
        ids[0] == ids[1] && ids[1] == ids[2] && ids[2] != ids[3],
        "{ids:?}"
    );
    let sent = |maybe_repeated| (MailState::Sent, maybe_repeated, None);
    assert_eq!(states(&app).await, [sent(false), sent(true), sent(false)]);
}

#[tokio::test]
async fn a_slow_server_is_a_failed_attempt() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    let server = SmtpServer::start(Behavior::Hang);
    assert_eq!(send_due(&app, &server).await, 1);
    assert_eq!(
        states(&app).await,
        [(MailState::Queued, false, Some("timed_out".to_owned()))]
    );
}

#[tokio::test]
async fn a_refused_address_gets_no_more_mails() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Help").await;
    let server = SmtpServer::start(Behavior::Accept);
    send_due(&app, &server).await;
    server.set(Behavior::RefuseRecipient("550 5.1.1 <ada@example.com> unknown"));
    reply(&staff, "First").await;
    send_due(&app, &server).await;
    app.advance(60);
    server.set(Behavior::Accept);
    reply(&staff, "Second").await;
    send_due(&app, &server).await;
    let refused = (MailState::Failed, false, Some("550 5.1.1".to_owned()));
    let suppressed = (
        MailState::Suppressed,
        false,
        Some("address_suppressed".to_owned()),
    );
    assert_eq!(states(&app).await[1..], [refused, suppressed]);
    assert!(to(&server.mails(), "ada@example.com").is_empty());

    let allowed = app
        .store
        .write(|tx| suppressed_addresses::allow(tx, "ADA@example.com"))
        .await;
    allowed.expect("the address was suppressed");
    app.advance(60);
    reply(&staff, "Third").await;
    send_due(&app, &server).await;
    assert_eq!(to(&server.mails(), "ada@example.com").len(), 1);
}

#[tokio::test]
async fn a_mail_waits_while_the_server_refuses_to_relay_it() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    let server = SmtpServer::start(Behavior::RefuseRecipient("554 5.7.1 relaying denied"));
    send_due(&app, &server).await;
    assert_eq!(
        states(&app).await,
        [(MailState::Queued, false, Some("554 5.7.1".to_owned()))]
    );
    server.set(Behavior::Accept);
    app.advance(60);
    send_due(&app, &server).await;
    assert_eq!(states(&app).await, [(MailState::Sent, false, None)]);
}

#[tokio::test]
async fn a_summary_that_looks_like_an_encoded_word_stays_as_it_is() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    let summary = "=?utf-8?q?hello=0D=0ABcc:x@y?=";
    ada.open_ticket(summary).await;
    let server = SmtpServer::start(Behavior::Accept);
    send_due(&app, &server).await;
    let content = server.mails()[0].content.clone();
    assert!(!content.contains("Subject: [Garth #1] =?utf-8?q?"), "{content}");
    let parsed = MessageParser::default()
        .parse(content.as_bytes())
        .expect("a mail");
    assert_eq!(parsed.subject(), Some(format!("[Garth #1] {summary}").as_str()));
}

#[tokio::test]
async fn another_refusal_does_not_suppress_the_address() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    let server = SmtpServer::start(Behavior::RefuseContent("554 5.7.1 spam"));
    send_due(&app, &server).await;
    assert_eq!(
        states(&app).await,
        [(MailState::Failed, false, Some("554 5.7.1".to_owned()))]
    );
    let list = |tx: &mut garth::store::ReadTx| suppressed_addresses::list(tx, &ListRequest::first(100));
    assert_eq!(app.store.read(list).await.expect("a list").items, []);
}

#[tokio::test]
async fn a_bounce_is_recorded_and_suppresses_the_address() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    send_due(&app, &SmtpServer::start(Behavior::Accept)).await;
    let bounce = |tx: &mut WriteTx| -> garth::rules::Result<_> {
        let unknown = outgoing_mails::record_bounce(tx, OutgoingMailId(77), "5.1.1", true)?;
        Ok((
            unknown,
            outgoing_mails::record_bounce(tx, OutgoingMailId(1), "5.1.1", true)?,
        ))
    };
    assert_eq!(
        app.store.write(bounce).await.expect("it is recorded"),
        (false, true)
    );
    assert_eq!(
        states(&app).await,
        [(MailState::Bounced, false, Some("5.1.1".to_owned()))]
    );
    let list = |tx: &mut garth::store::ReadTx| suppressed_addresses::list(tx, &ListRequest::first(100));
    let suppressed = app.store.read(list).await.expect("a list").items;
    assert_eq!(suppressed[0].address.as_str(), "sam@example.com");
}

#[tokio::test]
async fn only_participants_who_see_the_ticket_get_mails() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let ben = app.user("ben").await;
    app.user("cleo").await;
    let dora = app.user("dora").await;
    let staff = app.user("sam").staff().await;
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    for user in [&ben, &dora] {
        let body = json!({"description": "Me, too"});
        assert_eq!(user.post("/support/tickets/1/replies", body).await.status, 200);
    }
    let off = dora.put("/profile", json!({"email_notifications": false})).await;
    assert_eq!(off.status, 200, "{off}");
    send_due(&app, &server).await;
    let before = server.mails().len();
    app.advance(60);
    reply(&staff, "An answer").await;
    send_due(&app, &server).await;
    let recipients: Vec<_> = server.mails()[before..]
        .iter()
        .map(|mail| mail.recipient.clone())
        .collect();
    assert_eq!(recipients, ["ada@example.com", "ben@example.com"]);
    let restricted = ada.put("/account/users/ben", json!({"restricted": true})).await;
    assert_eq!(restricted.status, 200, "{restricted}");
    app.advance(60);
    reply(&staff, "Another answer").await;
    let before = server.mails().len();
    send_due(&app, &server).await;
    let recipients: Vec<_> = server.mails()[before..]
        .iter()
        .map(|mail| mail.recipient.clone())
        .collect();
    assert_eq!(recipients, ["ada@example.com"]);
}

#[tokio::test]
async fn a_queued_mail_is_not_sent_after_its_recipient_has_lost_access_or_unsubscribed() {
    let app = TestApp::with(enable_mail).await;
    let admin = app.user("sam").role(StaffRole::Admin).await;
    let (ada, ben, dora) = (
        app.user("ada").await,
        app.user("ben").await,
        app.user("dora").await,
    );
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    for user in [&ben, &dora] {
        let body = json!({"description": "Me, too"});
        assert_eq!(user.post("/support/tickets/1/replies", body).await.status, 200);
    }
    send_due(&app, &server).await;
    app.advance(60);
    let before = server.mails().len();
    reply(&admin, "An answer").await;
    let disabled = admin
        .put("/provider/accounts/1/users/ben", json!({"disabled": true}))
        .await;
    assert_eq!(disabled.status, 200, "{disabled}");
    let off = dora.put("/profile", json!({"email_notifications": false})).await;
    assert_eq!(off.status, 200, "{off}");
    assert_eq!(send_due(&app, &server).await, 3);
    let recipients: Vec<_> = server.mails()[before..]
        .iter()
        .map(|mail| mail.recipient.clone())
        .collect();
    assert_eq!(recipients, ["ada@example.com"]);

    app.advance(60);
    reply(&admin, "Another answer").await;
    let suspended = admin.post("/provider/accounts/1/suspend", json!({})).await;
    assert_eq!(suspended.status, 200, "{suspended}");
    assert_eq!(send_due(&app, &server).await, 1);
    assert_eq!(server.mails().len(), before + 1, "the account is suspended");
    let mails = listed(&app).await.into_iter();
    let mut reasons: Vec<_> = mails
        .filter(|mail| mail.state == MailState::Suppressed)
        .map(|mail| format!("{} {}", mail.address.as_str(), mail.error.unwrap_or_default()))
        .collect();
    reasons.sort();
    let expected = [
        "ada@example.com no_access",
        "ben@example.com no_access",
        "dora@example.com unsubscribed",
    ];
    assert_eq!(reasons, expected);
}

#[tokio::test]
async fn a_mail_after_a_reply_by_mail_continues_its_thread() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let staff = app.user("sam").staff().await;
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    reply(&staff, "Which VPC is it?").await;
    send_due(&app, &server).await;
    let answer = message("ada@example.com", "reply@example.com", "It is the VPC core.");
    let delivered = send(&app, &signed(&app, 1, 1).await, &answer).await;
    assert_eq!(delivered, Delivery::Accepted("reply"));
    app.advance(60);
    reply(&staff, "Thank you.").await;
    send_due(&app, &server).await;
    let mails = server.mails();
    let to_ada = to(&mails, "ada@example.com");
    let threads: Vec<_> = to_ada
        .iter()
        .map(|mail| (field(mail, "In-Reply-To"), field(mail, "References")))
        .collect();
    let (root, last) = ("<ticket-1@example.net>", "<reply@example.com>");
    let expected = [
        (root.to_owned(), root.to_owned()),
        (last.to_owned(), format!("{root} {last}")),
    ];
    assert_eq!(threads, expected);
}

#[tokio::test]
async fn staff_get_mails_about_new_and_assigned_tickets_and_replies() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let (sam, _tess) = (app.user("sam").staff().await, app.user("tess").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    send_due(&app, &server).await;
    app.advance(60);
    let claimed = sam
        .post("/desk/tickets/1/claim", json!({"assignee": "tess"}))
        .await;
    assert_eq!(claimed.status, 200, "{claimed}");
    send_due(&app, &server).await;
    app.advance(60);
    ada.post("/support/tickets/1/replies", json!({"description": "More"}))
        .await;
    send_due(&app, &server).await;
    let mails = server.mails();
    assert_eq!(
        (
            to(&mails, "sam@example.com").len(),
            to(&mails, "ada@example.com").len()
        ),
        (1, 0)
    );
    let to_tess: Vec<_> = to(&mails, "tess@example.com").iter().map(text).collect();
    assert_eq!(to_tess.len(), 3);
    assert!(
        to_tess[1].contains("sam assigned ticket #1 to you"),
        "{}",
        to_tess[1]
    );
    assert!(
        to_tess[2].contains("ada replied") && to_tess[2].contains("More\n"),
        "{}",
        to_tess[2]
    );
}

#[tokio::test]
async fn the_link_in_a_mail_stops_mails_and_starts_them_again() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    reply(&staff, "First").await;
    send_due(&app, &server).await;
    let mails = server.mails();
    let link = field(&to(&mails, "ada@example.com")[0], "List-Unsubscribe");
    let link = link
        .trim_matches(['<', '>'])
        .strip_prefix("https://garth.example.net")
        .expect("a link");
    let anonymous = app.anonymous();
    let open = |method: Method, path: String| anonymous.call(method, &format!("/{path}"));
    assert_eq!(open(Method::GET, link.to_owned()).send().await.status(), 200);
    let wants = |user: serde_json::Value| user["email_notifications"].clone();
    assert_eq!(
        wants(ada.get("/profile").await.json()),
        true,
        "opening the link changes nothing"
    );
    let forged = link.replace("user=1", "user=2");
    assert_eq!(open(Method::POST, forged).send().await.status(), 404);
    assert_eq!(open(Method::POST, link.to_owned()).send().await.status(), 200);
    assert_eq!(wants(ada.get("/profile").await.json()), false);
    app.advance(60);
    reply(&staff, "Second").await;
    send_due(&app, &server).await;
    assert_eq!(to(&server.mails(), "ada@example.com").len(), 1);

    let start = open(Method::POST, link.to_owned())
        .header("content-type", "application/x-www-form-urlencoded")
        .body("mails=start");
    assert_eq!(start.send().await.status(), 200);
    assert_eq!(wants(ada.get("/profile").await.json()), true);
}

#[tokio::test]
async fn without_a_mail_server_nothing_is_queued() {
    let app = TestApp::new().await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Help").await;
    reply(&staff, "First").await;
    assert_eq!(listed(&app).await, []);
}

#[tokio::test]
async fn a_dropped_job_ends_its_mail() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    let drop_job = |tx: &mut WriteTx| {
        let job = jobs::list(tx)?.into_iter().find(|job| job.kind == "mail_send");
        jobs::discard(tx, job.expect("a job").id)
    };
    assert!(app.store.write(drop_job).await.expect("the job can be dropped"));
    assert_eq!(
        states(&app).await,
        [(MailState::Failed, false, Some("canceled".to_owned()))]
    );
}
