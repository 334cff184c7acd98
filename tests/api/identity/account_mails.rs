//! Mails about users: invitations and security notices. `password_resets.rs` tests links for a new password.

use garth::model::staff_role::StaffRole;
use garth::web::Network;
use mail_parser::Message;
use serde_json::json;

use crate::browser::{Browser, PASSWORD};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, browser, logged_in};
use crate::harness::{TestApp, User};
use crate::smtp_server::{Behavior, SmtpServer};
use crate::support::outgoing_mails::{enable_mail, reply, send_due, text, to};

const NEW: &str = "new@example.com";
const DAY_SECONDS: i64 = 24 * 3600;
const PASSWORD_FIELDS: [(&str, &str); 2] = [("password", PASSWORD), ("again", PASSWORD)];

/// The path of the link in a mail.
pub fn link(message: &Message) -> String {
    let text = text(message);
    let start = "https://garth.example.net";
    let at = text.find(&format!("{start}/oauth/password/")).expect("a link") + start.len();
    text[at..].split_whitespace().next().expect("a link").to_owned()
}

/// The subjects of the mails to an address.
pub fn subjects(server: &SmtpServer, address: &str) -> Vec<String> {
    let mails = server.mails();
    let subject = |mail: &Message| mail.subject().expect("a subject").to_owned();
    to(&mails, address).iter().map(subject).collect()
}

async fn create_user(ada: &User<'_>) {
    let body = json!({"username": "newcomer", "email": NEW, "restricted": true});
    let created = ada.post("/account/users", body).await;
    assert_eq!(created.status, 200, "{created}");
}

#[tokio::test]
async fn a_new_user_gets_an_invitation_with_a_link_that_works_once() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let server = SmtpServer::start(Behavior::Accept);
    create_user(&ada).await;
    assert_eq!(send_due(&app, &server).await, 1);

    let mails = server.mails();
    let sent = &to(&mails, NEW)[0];
    assert_eq!(sent.subject(), Some("[Garth] Choose your password"));
    assert!(
        text(sent).contains("Your username is newcomer."),
        "{}",
        text(sent)
    );
    assert!(sent.header_raw("Auto-Submitted").is_some());
    for name in [
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "Reply-To",
        "In-Reply-To",
        "References",
        "X-Garth-Ticket",
    ] {
        assert_eq!(sent.header_raw(name), None, "{name}");
    }
    let (path, html) = (link(sent), sent.body_html(0).expect("HTML"));
    assert!(html.contains(&path), "{html}");

    let mut visitor = Browser::new(&app);
    app.advance(3 * DAY_SECONDS - 1);
    assert_eq!(visitor.get(&path).await.status, 200);
    assert_eq!(visitor.post(&path, &PASSWORD_FIELDS).await.status, 200);
    assert_eq!(visitor.post(&path, &PASSWORD_FIELDS).await.status, 404);
    visitor.log_in_at_console("newcomer").await;
    send_due(&app, &server).await;
    let expected = [
        "[Garth] Choose your password",
        "[Garth] Your password was set with a link",
    ];
    assert_eq!(
        subjects(&server, NEW),
        expected,
        "the device is known from the link"
    );
}

#[tokio::test]
async fn an_invitation_expires_after_three_days() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let server = SmtpServer::start(Behavior::Accept);
    create_user(&ada).await;
    send_due(&app, &server).await;
    let mails = server.mails();
    let path = link(&to(&mails, NEW)[0]);
    app.advance(3 * DAY_SECONDS);
    assert_eq!(Browser::new(&app).get(&path).await.status, 404);
}

#[tokio::test]
async fn users_and_staff_of_the_provider_are_invited() {
    let app = TestApp::with(enable_mail).await;
    let admin = app.user("sam").role(StaffRole::Admin).await;
    let server = SmtpServer::start(Behavior::Accept);
    let account = json!({"email": "owner@example.com", "username": "owner"});
    let created = admin.post("/provider/accounts", account).await;
    assert_eq!(created.status, 200, "{created}");
    let staff = json!({"username": "noor", "email": "noor@example.com", "role": "support"});
    let created = admin.post("/provider/staff", staff).await;
    assert_eq!(created.status, 200, "{created}");
    assert_eq!(send_due(&app, &server).await, 2);
    for address in ["owner@example.com", "noor@example.com"] {
        let mails = server.mails();
        let path = link(&to(&mails, address)[0]);
        assert_eq!(Browser::new(&app).get(&path).await.status, 200, "{address}");
    }
}

#[tokio::test]
async fn each_attempt_to_send_has_a_new_link_that_works() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let server = SmtpServer::start(Behavior::RefuseContent("451 4.3.0 try again"));
    create_user(&ada).await;
    send_due(&app, &server).await;
    app.advance(3600);
    server.set(Behavior::Accept);
    assert_eq!(send_due(&app, &server).await, 1);
    let mails = server.mails();
    let links: Vec<_> = to(&mails, NEW).iter().map(link).collect();
    assert_eq!(links.len(), 2);
    assert_ne!(links[0], links[1]);
    let mut visitor = Browser::new(&app);
    assert_eq!(visitor.post(&links[1], &PASSWORD_FIELDS).await.status, 200);
    assert_eq!(visitor.get(&links[0]).await.status, 404, "all links end");
}

#[tokio::test]
async fn an_invitation_is_not_sent_if_the_user_has_a_password() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let server = SmtpServer::start(Behavior::Accept);
    create_user(&ada).await;
    app.set_password("newcomer").await;
    assert_eq!(send_due(&app, &server).await, 1);
    assert_eq!(subjects(&server, NEW), [""; 0]);
}

#[tokio::test]
async fn the_console_sends_an_invitation_again_after_five_minutes() {
    let app = TestApp::with(enable_mail).await;
    app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    let server = SmtpServer::start(Behavior::Accept);
    let form = ada.get("/account/new-user").await;
    assert_contains(&form, "The user gets a mail with a link");
    let fields = [("username", "newcomer"), ("email", NEW), ("restricted", "true")];
    assert_redirects_to(
        &ada.submit(&form, "/account/new-user", &fields).await,
        "/account/users/newcomer?done=user-created-invited",
    );
    let (user, invitation) = ("/account/users/newcomer", "/account/users/newcomer/invitation");
    let page = ada.get(user).await;
    assert_contains(&page, "Send the invitation again");
    assert_contains(&page, "Generate link");
    assert_redirects_to(&ada.submit(&page, invitation, &[]).await, user);
    assert_contains(&ada.get(user).await, "still queued");
    send_due(&app, &server).await;
    app.advance(299);
    assert_redirects_to(&ada.submit(&page, invitation, &[]).await, user);
    app.advance(1);
    let sent = ada.submit(&page, invitation, &[]).await;
    assert_redirects_to(&sent, "/account/users/newcomer?done=user-invited");
    assert_eq!(send_due(&app, &server).await, 1);
    assert_eq!(subjects(&server, NEW).len(), 2);
    app.set_password("newcomer").await;
    app.advance(300);
    assert_redirects_to(&ada.submit(&page, invitation, &[]).await, user);
    assert_contains(&ada.get(user).await, "already has a password");
}

#[tokio::test]
async fn the_provider_sends_invitations_again() {
    let app = TestApp::with(enable_mail).await;
    let (_, admin) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Admin).await,
    );
    let body = json!({"username": "noor", "email": "noor@example.com", "role": "support"});
    assert_eq!(admin.post("/provider/staff", body).await.status, 200);
    let mut sam = logged_in(&app, "sam").await;
    let server = SmtpServer::start(Behavior::Accept);
    send_due(&app, &server).await;
    app.advance(300);
    let page = sam.get("/provider/staff/noor").await;
    assert_contains(&page, "Send the invitation again");
    let sent = sam.submit(&page, "/provider/staff/noor/invitation", &[]).await;
    assert_redirects_to(&sent, "/provider/staff/noor?done=user-invited");
    let page = sam.get("/provider/accounts/1").await;
    assert_contains(&page, "/provider/accounts/1/users/ada/invitation");
    let sent = sam
        .submit(&page, "/provider/accounts/1/users/ada/invitation", &[])
        .await;
    assert_redirects_to(&sent, "/provider/accounts/1?done=user-invited");
    assert_eq!(send_due(&app, &server).await, 2);
    assert_eq!(subjects(&server, "noor@example.com").len(), 2);
    assert_eq!(subjects(&server, "ada@example.com").len(), 1);
}

#[tokio::test]
async fn without_a_mail_server_the_console_offers_only_links() {
    let app = TestApp::new().await;
    app.user("ada").await;
    app.user("newcomer").await;
    let mut ada = logged_in(&app, "ada").await;
    assert_contains(&ada.get("/account/new-user").await, "you can generate a link");
    let page = ada.get("/account/users/newcomer").await;
    assert_contains(&page, "Generate link");
    assert_lacks(&page, "invitation");
    let invitation = "/account/users/newcomer/invitation";
    assert_redirects_to(
        &ada.submit(&page, invitation, &[]).await,
        "/account/users/newcomer",
    );
    assert_contains(&ada.get("/account/users/newcomer").await, "sends no mail");
    let server = SmtpServer::start(Behavior::Accept);
    assert_eq!(send_due(&app, &server).await, 0);
}

#[tokio::test]
async fn a_new_token_causes_a_notice_even_without_mails_about_tickets() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let server = SmtpServer::start(Behavior::Accept);
    ada.put("/profile", json!({"email_notifications": false})).await;
    let token = ada
        .post(
            "/profile/tokens",
            json!({"label": "ci <b>", "scopes": "vpc:read_only"}),
        )
        .await;
    assert_eq!(token.status, 200, "{token}");
    // The notice is for the owner of the address at the time of the change.
    ada.put("/profile", json!({"email": "attacker@example.com"}))
        .await;
    assert_eq!(send_due(&app, &server).await, 1);
    let mails = server.mails();
    let sent = &to(&mails, "ada@example.com")[0];
    assert_eq!(sent.subject(), Some("[Garth] New personal token"));
    let plain = text(sent);
    for part in [
        "Username: ada\n",
        "Time: 2024-06-01 12:00:00 UTC\n",
        "Label: ci <b>\n",
        "If this was not you",
    ] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    assert!(sent.body_html(0).expect("HTML").contains("Label: ci &lt;b&gt;"));
    let secret = token.json()["token"].as_str().expect("a token").to_owned();
    assert!(!mails[0].content.contains(&secret));
    assert_eq!(sent.header_raw("List-Unsubscribe"), None);
}

#[tokio::test]
async fn a_changed_password_causes_a_notice() {
    let app = TestApp::with(enable_mail).await;
    app.user("ada").await;
    app.user("sam").staff().await;
    let server = SmtpServer::start(Behavior::Accept);
    for (name, path) in [("ada", "/account"), ("sam", "/desk/password")] {
        let mut browser = logged_in(&app, name).await;
        let page = browser.get(path).await;
        let fields = [
            ("old_password", PASSWORD),
            ("password", "another long password"),
            ("again", "another long password"),
        ];
        let target = if name == "ada" { "/account/password" } else { path };
        let wrong = [("old_password", "wrong password"), fields[1], fields[2]];
        assert_eq!(browser.submit(&page, target, &wrong).await.status, 400);
        assert_eq!(send_due(&app, &server).await, 0, "nothing has changed");
        assert_eq!(browser.submit(&page, target, &fields).await.status, 303);
        assert_eq!(send_due(&app, &server).await, 1);
        let address = format!("{name}@example.com");
        assert_eq!(subjects(&server, &address), ["[Garth] Your password was changed"]);
        let mails = server.mails();
        let plain = text(&to(&mails, &address)[0]);
        assert!(plain.contains("Client: 127.0.0.1"), "{plain}");
    }
}

/// A server that sends mail, behind a proxy, so that a browser can have any address.
async fn behind_a_proxy() -> TestApp {
    let app = TestApp::with(|policy, options| {
        enable_mail(policy, options);
        options.trusted_proxies = vec![Network::parse("127.0.0.1").expect("an address")];
    })
    .await;
    for name in ["ada", "bob"] {
        app.user(name).await;
        app.set_password(name).await;
    }
    app
}

#[tokio::test]
async fn a_log_in_on_a_new_device_causes_a_notice() {
    let app = behind_a_proxy().await;
    let server = SmtpServer::start(Behavior::Accept);
    let mut first = Browser::at(&app, "192.0.2.1");
    first.log_in_at_console("ada").await;
    assert_eq!(send_due(&app, &server).await, 0, "the first log-in of ada");

    let mut second = Browser::at(&app, "192.0.2.2");
    second.log_in_at_console("ada").await;
    assert_eq!(send_due(&app, &server).await, 1);
    let mails = server.mails();
    let sent = &to(&mails, "ada@example.com")[0];
    assert_eq!(sent.subject(), Some("[Garth] Log-in on a new device"));
    let plain = text(sent);
    assert!(
        plain.contains("Time: 2024-06-01 12:00:00 UTC\nClient: 192.0.2.2\n"),
        "{plain}"
    );
}

#[tokio::test]
async fn a_known_device_causes_no_notice_even_if_users_share_it() {
    let app = behind_a_proxy().await;
    let server = SmtpServer::start(Behavior::Accept);
    let mut shared = Browser::at(&app, "192.0.2.1");
    for name in ["ada", "bob", "ada", "bob"] {
        shared.cookies.remove("__Host-garth-session");
        shared.log_in_at_console(name).await;
        app.advance(60);
    }
    // A user who moves keeps the device.
    shared.address = Some("198.51.100.1".to_owned());
    app.advance(364 * DAY_SECONDS);
    shared.cookies.remove("__Host-garth-session");
    shared.log_in_at_console("ada").await;
    assert_eq!(send_due(&app, &server).await, 0);
    app.advance(365 * DAY_SECONDS);
    shared.cookies.remove("__Host-garth-session");
    shared.log_in_at_console("ada").await;
    assert_eq!(send_due(&app, &server).await, 1, "a year has passed");
}

#[tokio::test]
async fn a_changed_device_cookie_is_a_new_device() {
    let app = behind_a_proxy().await;
    let server = SmtpServer::start(Behavior::Accept);
    let mut ada = Browser::at(&app, "192.0.2.1");
    ada.log_in_at_console("ada").await;
    let mut bob = Browser::at(&app, "192.0.2.1");
    bob.log_in_at_console("bob").await;
    let (name, cookie) = device(&ada);
    let (_, of_bob) = device(&bob);
    let last = if cookie.ends_with('0') { "1" } else { "0" };
    let changed = format!("{}{last}", &cookie[..cookie.len() - 1]);
    for (value, notices) in [
        (cookie.clone(), 0),
        (changed, 1),
        (of_bob.clone(), 1),
        (of_bob.replace(".2.", ".1."), 1),
    ] {
        let mut visitor = Browser::at(&app, "192.0.2.1");
        visitor.cookies.insert(name.clone(), value.clone());
        visitor.log_in_at_console("ada").await;
        assert_eq!(send_due(&app, &server).await, notices, "{value}");
    }
}

fn device(browser: &Browser) -> (String, String) {
    let mut cookies = browser.cookies.iter();
    let found = cookies.find(|(name, _)| name.starts_with("__Host-garth-device-"));
    let (name, value) = found.expect("a device");
    (name.clone(), value.clone())
}

#[tokio::test]
async fn a_failed_attempt_does_not_hide_a_new_device() {
    let app = behind_a_proxy().await;
    let server = SmtpServer::start(Behavior::Accept);
    browser(&app, "ada").await;
    let mut attacker = Browser::at(&app, "192.0.2.9");
    let page = attacker.get("/login").await;
    let fields = [
        ("return_to", ""),
        ("username", "ada"),
        ("password", "wrong password"),
    ];
    assert_eq!(attacker.submit(&page, "/login", &fields).await.status, 401);
    attacker.log_in_at_console("ada").await;
    assert_eq!(send_due(&app, &server).await, 1);
}

#[tokio::test]
async fn an_account_gets_fifty_invitations_a_day() {
    let app = TestApp::with(enable_mail).await;
    let (ada, admin) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Admin).await,
    );
    for number in 0..50 {
        let (name, email) = (format!("guest{number}"), format!("guest{number}@example.com"));
        let body = json!({"username": name, "email": email, "restricted": true});
        assert_eq!(ada.post("/account/users", body).await.status, 200);
        // The invitation of a deleted user counts.
        assert_eq!(ada.delete(&format!("/account/users/{name}")).await.status, 200);
        app.advance(1);
    }
    let queued = async || admin.get("/provider/mail-status").await.json()["queue"]["queued"].clone();
    assert_eq!(queued().await, 50);
    create_user(&ada).await;
    assert_eq!(queued().await, 50, "the user is created without a mail");
    // Staff and other accounts have their own limits.
    let staff = json!({"username": "noor", "email": "noor@example.com", "role": "support"});
    assert_eq!(admin.post("/provider/staff", staff).await.status, 200);
    let account = json!({"email": "owner@example.com", "username": "owner"});
    assert_eq!(admin.post("/provider/accounts", account).await.status, 200);
    assert_eq!(queued().await, 52);

    let mut browser = logged_in(&app, "ada").await;
    let form = browser.get("/account/new-user").await;
    let fields = [("username", "late"), ("email", NEW), ("restricted", "true")];
    let created = browser.submit(&form, "/account/new-user", &fields).await;
    assert_redirects_to(&created, "/account/users/late?done=user-created-not-invited");
    let page = browser
        .get("/account/users/late?done=user-created-not-invited")
        .await;
    assert_contains(&page, "No mail is sent");
    assert_contains(&page, "Generate a password link and send it to");
    let invitation = "/account/users/late/invitation";
    assert_redirects_to(
        &browser.submit(&page, invitation, &[]).await,
        "/account/users/late",
    );
    assert_contains(
        &browser.get("/account/users/late").await,
        "50 invitations within 24 hours",
    );
    app.advance(DAY_SECONDS - 50);
    let mut browser = logged_in(&app, "ada").await;
    let page = browser.get("/account/users/late").await;
    let sent = browser.submit(&page, invitation, &[]).await;
    assert_redirects_to(&sent, "/account/users/late?done=user-invited");
}

#[tokio::test]
async fn operators_see_the_mails_about_a_user_without_their_links() {
    let app = TestApp::with(enable_mail).await;
    let (ada, noor, sam) = (
        app.user("ada").await,
        app.user("noor").role(StaffRole::Operator).await,
        app.user("sam").role(StaffRole::Support).await,
    );
    let server = SmtpServer::start(Behavior::RefuseRecipient("550 5.1.1 unknown"));
    create_user(&ada).await;
    ada.open_ticket("Help").await;
    // The mail to ada is about the ticket, not about the user.
    reply(&noor, "An answer").await;
    send_due(&app, &server).await;
    let mails = "/provider/accounts/1/users/newcomer/mails";
    let listed = noor.get(mails).await;
    let expected = json!([{
        "id": 1, "kind": "invitation", "address": NEW, "state": "failed", "maybe_repeated": false, "attempts": 1,
        "queued": "2024-06-01T12:00:00", "last_attempt": "2024-06-01T12:00:00", "sent": null, "error": "550 5.1.1",
    }]);
    assert_eq!(json!(listed.data()), expected);
    assert_eq!(noor.count("/provider/accounts/1/users/ada/mails").await, 0);
    assert_eq!(
        noor.get("/provider/accounts/1/users/noor/mails").await.status,
        404
    );
    assert_eq!(
        noor.get("/provider/accounts/2/users/newcomer/mails").await.status,
        404
    );
    assert_eq!(sam.get(mails).await.errors(), ["- role_missing"]);
    let mut browser = logged_in(&app, "noor").await;
    assert_contains(&browser.get("/provider/accounts/1").await, mails);
    let page = browser.get(mails).await;
    for text in ["Invitation", NEW, "failed", "550 5.1.1"] {
        assert_contains(&page, text);
    }
    assert_lacks(&page, "/oauth/password/");
}
