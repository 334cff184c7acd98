//! Links for a new password that users request on the page for a forgotten password.

use std::time::{Duration, Instant};

use garth::model::user::Email;
use garth::store;
use serde_json::json;

use crate::browser::{Browser, PASSWORD, hidden_field, text};
use crate::harness::{Reply, TestApp};
use crate::identity::account_mails::{link, subjects};
use crate::smtp_server::{Behavior, SmtpServer};
use crate::support::outgoing_mails::{enable_mail, send_due, to};

const PAGE: &str = "/forgot/password";
const NEW_PASSWORD: &str = "a new and longer password";
const ADA: &str = "ada@example.com";

/// Submits the form with a name or an address.
async fn request(app: &TestApp, name_or_address: &str) -> Reply {
    let mut visitor = Browser::new(app);
    let form = visitor.get(PAGE).await;
    let token = hidden_field(&form, "form_token");
    let fields = [("form_token", token.as_str()), ("username", name_or_address)];
    let reply = visitor.post(PAGE, &fields).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply
}

/// Sends the mails that are due. They are queued in the background, so that this waits for the expected number.
async fn sent(app: &TestApp, server: &SmtpServer, expected: usize) -> usize {
    let mut sent = send_due(app, server).await;
    for _ in 0..100 {
        if sent >= expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        sent += send_due(app, server).await;
    }
    sent
}

async fn app_with_ada() -> TestApp {
    let app = TestApp::with(enable_mail).await;
    app.user("ada").await;
    app.set_password("ada").await;
    app
}

#[tokio::test]
async fn a_user_gets_a_link_and_sets_a_new_password_once() {
    let app = app_with_ada().await;
    let server = SmtpServer::start(Behavior::Accept);
    let log_in = Browser::new(&app).get("/login").await;
    assert!(text(&log_in).contains("href=\"forgot/password\""), "{log_in}");
    request(&app, " ADA ").await;
    assert_eq!(sent(&app, &server, 1).await, 1);
    assert_eq!(subjects(&server, ADA), ["[Garth] Choose a new password"]);
    let mails = server.mails();
    let path = link(&to(&mails, ADA)[0]);

    let mut visitor = Browser::new(&app);
    app.advance(3599);
    assert_eq!(visitor.get(&path).await.status, 200);
    let fields = [("password", NEW_PASSWORD), ("again", NEW_PASSWORD)];
    assert_eq!(visitor.post(&path, &fields).await.status, 200);
    assert_eq!(
        visitor.post(&path, &fields).await.status,
        404,
        "a link works once"
    );
    for (password, status) in [(PASSWORD, 401), (NEW_PASSWORD, 303)] {
        let page = visitor.get("/login").await;
        let fields = [("return_to", ""), ("username", "ada"), ("password", password)];
        assert_eq!(visitor.submit(&page, "/login", &fields).await.status, status);
    }
    assert_eq!(sent(&app, &server, 1).await, 1);
    assert_eq!(
        subjects(&server, ADA)[1..],
        ["[Garth] Your password was set with a link"]
    );
}

#[tokio::test]
async fn a_link_for_a_new_password_expires_after_an_hour() {
    let app = app_with_ada().await;
    let server = SmtpServer::start(Behavior::Accept);
    request(&app, "ada").await;
    sent(&app, &server, 1).await;
    let mails = server.mails();
    let path = link(&to(&mails, ADA)[0]);
    app.advance(3600);
    assert_eq!(Browser::new(&app).get(&path).await.status, 404);
}

#[tokio::test]
async fn the_response_is_the_same_for_known_and_unknown_names() {
    let app = app_with_ada().await;
    let server = SmtpServer::start(Behavior::Accept);
    let mut replies = Vec::new();
    for name in ["ada", ADA, "unknown", "unknown@example.com", "", "\0", "<b>"] {
        let started = Instant::now();
        let mut reply = request(&app, name).await;
        assert!(started.elapsed() >= Duration::from_millis(500), "{name}");
        reply.headers.remove("x-request-id");
        reply.headers.remove("date");
        replies.push((reply.status, format!("{:?}", reply.headers), text(&reply)));
    }
    for reply in &replies[1..] {
        assert_eq!(*reply, replies[0]);
    }
    assert_eq!(sent(&app, &server, 1).await, 1, "only ada got a mail");
}

#[tokio::test]
async fn a_user_gets_one_link_in_five_minutes() {
    let app = app_with_ada().await;
    let server = SmtpServer::start(Behavior::Accept);
    request(&app, "ada").await;
    request(&app, "ada").await;
    assert_eq!(sent(&app, &server, 1).await, 1);
    app.advance(299);
    request(&app, ADA).await;
    assert_eq!(sent(&app, &server, 0).await, 0);
    app.advance(1);
    request(&app, ADA).await;
    assert_eq!(sent(&app, &server, 1).await, 1);
    // A mail that is still queued is enough.
    server.set(Behavior::RefuseContent("451 4.3.0 try again"));
    app.advance(300);
    request(&app, ADA).await;
    assert_eq!(sent(&app, &server, 1).await, 1);
    app.advance(300);
    request(&app, ADA).await;
    server.set(Behavior::Accept);
    app.advance(3600);
    assert_eq!(sent(&app, &server, 1).await, 1);
}

#[tokio::test]
async fn an_address_gets_links_for_at_most_five_users() {
    let app = TestApp::with(enable_mail).await;
    let server = SmtpServer::start(Behavior::Accept);
    for number in 1..=6 {
        let name = format!("user-{number}");
        let user = app.user(&name).await;
        let changed = user.put("/profile", json!({"email": "Team@example.com"})).await;
        assert_eq!(changed.status, 200, "{changed}");
    }
    request(&app, "team@EXAMPLE.com").await;
    assert_eq!(sent(&app, &server, 5).await, 5);
    let mails = server.mails();
    let texts: Vec<_> = to(&mails, "Team@example.com")
        .iter()
        .map(crate::support::outgoing_mails::text)
        .collect();
    for number in 1..=5 {
        let name = format!("the user user-{number}.");
        assert!(texts.iter().any(|text| text.contains(&name)), "{texts:?}");
    }
}

#[tokio::test]
async fn users_without_access_and_suppressed_addresses_get_no_link() {
    let app = app_with_ada().await;
    let server = SmtpServer::start(Behavior::Accept);
    let admin = app
        .user("sam")
        .role(garth::model::staff_role::StaffRole::Admin)
        .await;
    let disable = async |disabled: bool| {
        let changed = admin
            .put("/provider/accounts/1/users/ada", json!({"disabled": disabled}))
            .await;
        assert_eq!(changed.status, 200, "{changed}");
    };
    disable(true).await;
    request(&app, "ada").await;
    assert_eq!(sent(&app, &server, 0).await, 0, "the user is disabled");
    disable(false).await;

    // The user is disabled after the mail was queued.
    request(&app, "ada").await;
    disable(true).await;
    assert_eq!(sent(&app, &server, 1).await, 1);
    disable(false).await;
    app.advance(300);

    let suppress = |suppressed: bool| {
        app.store.write(move |tx| -> garth::rules::Result<()> {
            let address = Email::parse(ADA).expect("an address");
            match suppressed {
                true => store::suppressed_addresses::insert(tx, &address, "5.1.1")?,
                false => drop(store::suppressed_addresses::delete(tx, ADA)?),
            }
            Ok(())
        })
    };
    suppress(true).await.expect("the address is suppressed");
    request(&app, ADA).await;
    assert_eq!(sent(&app, &server, 0).await, 0, "the address is suppressed");
    suppress(false).await.expect("the address is allowed");

    request(&app, ADA).await;
    suppress(true).await.expect("the address is suppressed");
    assert_eq!(sent(&app, &server, 1).await, 1);
    suppress(false).await.expect("the address is allowed");
    app.advance(300);

    let closed = admin.post("/provider/accounts/1/close", json!({})).await;
    assert_eq!(closed.status, 200, "{closed}");
    request(&app, "ada").await;
    assert_eq!(sent(&app, &server, 0).await, 0, "the account is closed");
    assert!(server.mails().is_empty(), "{:?}", server.mails());
}

#[tokio::test]
async fn the_form_needs_its_token() {
    let app = app_with_ada().await;
    let server = SmtpServer::start(Behavior::Accept);
    let mut visitor = Browser::new(&app);
    visitor.get(PAGE).await;
    for fields in [
        &[("username", "ada")][..],
        &[("username", "ada"), ("form_token", "0")],
    ] {
        let refused = visitor.post(PAGE, fields).await;
        assert_eq!(refused.status, 403, "{refused}");
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(sent(&app, &server, 0).await, 0);
}

#[tokio::test]
async fn without_a_mail_server_the_provider_must_create_a_link() {
    let app = TestApp::new().await;
    app.user("ada").await;
    let mut visitor = Browser::new(&app);
    let log_in = visitor.get("/login").await;
    assert!(!text(&log_in).contains(PAGE), "{log_in}");
    let page = visitor.get(PAGE).await;
    assert!(
        text(&page).contains("Contact ") && !text(&page).contains("<form"),
        "{page}"
    );
    let token = hidden_field(&log_in, "form_token");
    let fields = [("form_token", token.as_str()), ("username", "ada")];
    let page = visitor.post(PAGE, &fields).await;
    assert!(text(&page).contains("Contact "), "{page}");
    let server = SmtpServer::start(Behavior::Accept);
    assert_eq!(sent(&app, &server, 0).await, 0);
}
