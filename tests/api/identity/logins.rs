//! Log-in: pages, attempts, sessions and password links.

use std::collections::BTreeSet;
use std::time::Duration;

use garth::rules;
use hyper::Method;
use serde_json::json;

use crate::browser::{Browser, CALLBACK, PASSWORD, hidden_field, text};
use crate::harness::TestApp;

const SESSION: &str = "__Host-garth-session";

#[tokio::test]
async fn pages_have_a_strict_policy_and_are_not_cached() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let log_in = browser.open_authorization_page(&client.query("*")).await;
    let consent = browser.log_in(&client.query("*"), "ada").await;
    for page in [&log_in, &consent] {
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(
            page.header("content-security-policy"),
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' https://app.example; \
             frame-ancestors 'none'; base-uri 'none'"
        );
        let html = text(page);
        for expected in [
            "<html lang=\"en\"",
            "<main>",
            "<h1>",
            "name=\"viewport\"",
            "<title>",
        ] {
            assert!(html.contains(expected), "{expected} is not in {html}");
        }
        for bad in ["<script", "http-equiv", "onclick", "style=\"", "src="] {
            assert!(!html.contains(bad), "{bad} is in {html}");
        }
    }
    // Every visible field has a label.
    let html = text(&log_in);
    for name in ["username", "password"] {
        assert!(html.contains(&format!("<label for=\"{name}\">")), "{html}");
        assert!(html.contains(&format!("id=\"{name}\" name=\"{name}\"")), "{html}");
    }
    let style = browser.get("/oauth/style.css").await;
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert!(text(&style).contains("prefers-color-scheme: dark"));
}

#[tokio::test]
async fn names_on_pages_are_escaped() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let evil = "<script>alert(1)</script>\"'&";
    let body = json!({"label": evil, "redirect_uri": CALLBACK});
    let created = ada.post("/account/oauth-clients", body).await.json();
    let query = format!(
        "client_id={}&response_type=code&scope=*&state=%22%3E%3Cscript%3E",
        created["id"].as_str().unwrap()
    );
    let mut browser = Browser::new(&app);
    let page = browser.open_authorization_page(&query).await;
    let again = browser
        .submit_login(&page, "\"><script>x", "wrong password")
        .await;
    let consent = browser.log_in(&query, "ada").await;
    for page in [page, again, consent] {
        assert!(!text(&page).contains("<script"), "{page}");
    }
}

#[tokio::test]
async fn a_cross_site_form_cannot_log_in() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let page = browser.open_authorization_page(&client.query("*")).await;
    let return_to = hidden_field(&page, "return_to");
    let token = hidden_field(&page, "form_token");
    let other = hidden_field(
        &Browser::new(&app)
            .open_authorization_page(&client.query("*"))
            .await,
        "form_token",
    );
    for wrong in ["", "x", other.as_str()] {
        let fields = [
            ("form_token", wrong),
            ("return_to", &return_to),
            ("username", "ada"),
            ("password", PASSWORD),
        ];
        let refused = browser.post("/oauth/login", &fields).await;
        assert_eq!(refused.status, 403, "{wrong}");
        assert!(!browser.cookies.contains_key(SESSION));
    }
    // A valid token without its cookie is refused.
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", &return_to),
        ("username", "ada"),
        ("password", PASSWORD),
    ];
    assert_eq!(Browser::new(&app).post("/oauth/login", &fields).await.status, 403);
    let users = ada.get("/account/users/ada").await.json();
    assert_eq!(
        users["last_login"],
        json!(null),
        "none of the requests counts as an attempt"
    );
    assert_eq!(browser.post("/oauth/login", &fields).await.status, 303);
}

#[tokio::test]
async fn a_cross_site_form_cannot_consent() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for name in ["ada", "bob"] {
        if name == "bob" {
            app.user(name).await;
        }
        app.set_password(name).await;
    }
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let page = browser.log_in(&client.query("*"), "ada").await;
    let return_to = hidden_field(&page, "return_to");
    let theirs = hidden_field(
        &Browser::new(&app).log_in(&client.query("*"), "bob").await,
        "form_token",
    );
    for wrong in ["", "x", theirs.as_str()] {
        let fields = [
            ("form_token", wrong),
            ("return_to", &return_to),
            ("decision", "allow"),
        ];
        let refused = browser.post("/oauth/authorize", &fields).await;
        assert_eq!(
            (refused.status.as_u16(), refused.header("location")),
            (403, ""),
            "{wrong}"
        );
    }
    assert_eq!(ada.count("/profile/apps").await, 0);
    // Without a session, the log-in page is shown, independent of the form.
    let token = hidden_field(&page, "form_token");
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", &return_to),
        ("decision", "allow"),
    ];
    let log_in = Browser::new(&app).post("/oauth/authorize", &fields).await;
    assert_eq!(log_in.status, 200);
    assert!(text(&log_in).contains("Log in"));
    assert_eq!(browser.post("/oauth/authorize", &fields).await.status, 303);
}

#[tokio::test]
async fn a_form_cannot_redirect_to_another_site() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    for evil in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "../../evil",
        "?client_id=x",
        "x\r\nLocation: https://evil.example",
    ] {
        for return_to in [
            evil.to_owned(),
            format!("{}&next={evil}#{evil}", client.query("*")),
        ] {
            let mut browser = Browser::new(&app);
            let page = browser.open_authorization_page(&client.query("*")).await;
            let token = hidden_field(&page, "form_token");
            let fields = [
                ("form_token", token.as_str()),
                ("return_to", &return_to),
                ("username", "ada"),
                ("password", PASSWORD),
            ];
            let sent = browser.post("/oauth/login", &fields).await;
            let to = sent.header("location").to_owned();
            match sent.status.as_u16() {
                400 => assert_eq!(to, ""),
                status => {
                    assert_eq!(status, 303, "{return_to}");
                    let plain = |b: u8| b.is_ascii_alphanumeric() || b"?&=%-_.*+".contains(&b);
                    assert!(
                        to.starts_with("authorize?client_id=") && to.bytes().all(plain),
                        "{to}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn unknown_names_and_wrong_passwords_are_throttled_equally() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    app.user("bob").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let page = browser.open_authorization_page(&client.query("*")).await;
    let mut answers = BTreeSet::new();
    for name in ["ada", "bob", "eve"] {
        // One user has a password, one has none, and one does not exist.
        for _ in 0..4 {
            let wrong = browser.submit_login(&page, name, "wrong password").await;
            assert_eq!((wrong.status.as_u16(), wrong.header("retry-after")), (401, ""));
            answers.insert(text(&wrong).replace(name, "NAME"));
        }
        let fifth = browser.submit_login(&page, name, "wrong password").await;
        assert_eq!((fifth.status.as_u16(), fifth.header("retry-after")), (401, "30"));
        assert!(text(&fifth).contains("Wait 30 seconds"));
        // Not even the correct password is checked now.
        let locked = browser.submit_login(&page, name, PASSWORD).await;
        assert_eq!(
            (locked.status.as_u16(), locked.header("retry-after")),
            (429, "30")
        );
        assert!(text(&locked).contains("Too many failed attempts"));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(!browser.cookies.contains_key(SESSION));
    let login = json!({"login_datetime": "2024-06-01T12:00:00", "status": "failed"});
    // `last_login` is written after the response, so that the response time reveals nothing.
    while ada.get("/account/users/ada").await.json()["last_login"] != login {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    // Each further failure doubles the wait, up to 15 minutes.
    for wait in [30, 60, 120, 240, 480, 900, 900] {
        app.advance(wait - 1);
        assert_eq!(browser.submit_login(&page, "ADA", PASSWORD).await.status, 429);
        app.advance(1);
        let wrong = browser.submit_login(&page, "Ada", "wrong password").await;
        assert_eq!(wrong.status, 401);
    }
    app.advance(900);
    assert_eq!(browser.submit_login(&page, "ada", PASSWORD).await.status, 303);
    assert_eq!(
        ada.get("/account/users/ada").await.json()["last_login"]["status"],
        "successful"
    );
    app.advance(3600);
    let mut fresh = Browser::new(&app);
    let page = fresh.open_authorization_page(&client.query("*")).await;
    let wrong = fresh.submit_login(&page, "ada", "wrong password").await;
    assert_eq!(
        (wrong.status.as_u16(), wrong.header("retry-after")),
        (401, ""),
        "the counter starts again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_attempts_do_not_exceed_the_limit() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let page = browser.open_authorization_page(&client.query("*")).await;
    let guess = async || {
        let mut browser = Browser::new(&app);
        let cookie = browser_cookie(&page);
        browser.cookies.insert("__Host-garth-form".to_owned(), cookie);
        browser
            .submit_login(&page, "ada", "wrong password")
            .await
            .status
            .as_u16()
    };
    let statuses = futures_util::future::join_all((0..12).map(|_| guess())).await;
    assert_eq!(
        statuses.iter().filter(|status| **status == 401).count(),
        5,
        "{statuses:?}"
    );
    assert_eq!(
        statuses.iter().filter(|status| **status == 429).count(),
        7,
        "{statuses:?}"
    );
}

fn browser_cookie(page: &crate::harness::Reply) -> String {
    let cookie = page.header("set-cookie");
    let value = cookie.split_once('=').expect("the first page sets it").1;
    value.split(';').next().expect("a value").to_owned()
}

#[tokio::test]
async fn a_session_is_new_and_expires_after_twelve_hours() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").await;
    app.set_password("bob").await;
    let client = app.client(&ada, false).await;
    let query = client.query("*");
    let is_logged_in = async |browser: &mut Browser| {
        !text(&browser.open_authorization_page(&query).await).contains("<h1>Log in</h1>")
    };
    let logged_in = async || {
        let mut browser = Browser::new(&app);
        browser.log_in(&query, "bob").await;
        browser
    };

    // A log-in with an existing session creates a new session, and the old session ends.
    let mut browser = logged_in().await;
    let before = browser.cookies[SESSION].clone();
    let mut thief = Browser::new(&app);
    thief.cookies.insert(SESSION.to_owned(), before.clone());
    assert!(is_logged_in(&mut thief).await);
    let other = Browser::new(&app).open_authorization_page(&query).await;
    browser
        .cookies
        .insert("__Host-garth-form".to_owned(), browser_cookie(&other));
    browser.submit_login(&other, "bob", PASSWORD).await;
    assert_ne!(browser.cookies[SESSION], before);
    assert!(!is_logged_in(&mut thief).await);

    app.advance(12 * 3600 - 1);
    assert!(is_logged_in(&mut browser).await);
    app.advance(1);
    assert!(!is_logged_in(&mut browser).await);

    let mut browser = logged_in().await;
    let cookie = format!("{SESSION}={}", browser.cookies[SESSION]);
    app.anonymous()
        .call(Method::HEAD, "//logout")
        .header("cookie", &cookie)
        .await;
    assert!(
        is_logged_in(&mut browser).await,
        "a HEAD request does not end the session"
    );
    let mut copy = Browser::new(&app);
    copy.cookies = browser.cookies.clone();
    let out = browser.get("/logout").await;
    assert!(text(&out).contains("You are logged out"), "{out}");
    assert!(!browser.cookies.contains_key(SESSION));
    assert!(
        !is_logged_in(&mut copy).await,
        "the server has ended the session, not only the browser"
    );

    let mut browser = logged_in().await;
    app.set_password("bob").await;
    assert!(
        !is_logged_in(&mut browser).await,
        "a new password ends earlier sessions"
    );
    let mut browser = logged_in().await;
    ada.delete("/account/users/bob").await;
    assert!(!is_logged_in(&mut browser).await);
    assert_eq!(bob.get("/profile").await.status, 401);
}

#[tokio::test]
async fn a_link_sets_a_password_once() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let client = app.client(&ada, false).await;
    let make = async |seconds: i64| {
        let created = app
            .store
            .write(move |tx| rules::passwords::make_link(tx, "ada", seconds));
        format!(
            "/oauth/password/{}",
            created.await.expect("a link can be created").reveal()
        )
    };
    let (link, other, short) = (make(3600).await, make(3600).await, make(60).await);
    let mut browser = Browser::new(&app);
    let page = browser.get(&link).await;
    assert!(text(&page).contains("value=\"ada\""), "{page}");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    for (password, again, says) in [
        ("too short", "too short", "at least 11 characters"),
        (PASSWORD, "another one entirely", "do not match"),
        ("", "", "at least 11 characters"),
        ("ssssssssssss", "ssssssssssss", "one repeated character"),
    ] {
        let refused = browser
            .post(&link, &[("password", password), ("again", again)])
            .await;
        assert_eq!(refused.status, 400);
        assert!(text(&refused).contains(says), "{refused}");
    }
    app.advance(60);
    assert_eq!(
        browser.get(&short).await.status,
        404,
        "the link was valid for a minute"
    );

    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    let set = browser.post(&link, &fields).await;

    assert!(text(&set).contains("Password set"), "{set}");
    for used in [&link, &other, &"/oauth/password/nothing".to_owned()] {
        assert_eq!(browser.get(used).await.status, 404);
        assert_eq!(browser.post(used, &fields).await.status, 404);
    }
    assert_eq!(
        ada.get("/account/users/ada").await.json()["password_created"],
        "2024-06-01T12:01:00"
    );
    let page = browser.log_in(&client.query("*"), "ada").await;
    assert!(
        text(&page).contains("Allow “Dashboard” to access your account?"),
        "{page}"
    );
}

#[tokio::test]
async fn log_ins_are_rate_limited_by_address() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    for at in 0..61 {
        let reply = app.form("/oauth/token", &[("client_id", "x")]).await;
        assert_eq!(reply.status, if at < 60 { 401 } else { 429 }, "{at}");
    }
    assert_eq!(app.form("/oauth/revoke", &[("client_id", "x")]).await.status, 401);
    // A client cannot change its address with a header.
    let anonymous = app.anonymous();
    let call = anonymous
        .call(Method::POST, "//oauth/token")
        .header("x-forwarded-for", "203.0.113.9");
    assert_eq!(call.await.status, 429);
}

#[tokio::test]
async fn browsers_get_a_page_for_rate_limit_errors() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    let anonymous = app.anonymous();
    let request = async |method: Method, path: &str, accept: &str, kind: &str, body: String| {
        let call = anonymous.call(method, path).header("accept", accept);
        call.header("content-type", kind).body(body).await
    };
    let (html, json) = ("text/html,application/xhtml+xml", "application/json");
    let form = "application/x-www-form-urlencoded";
    let large = "x".repeat(2 * 1024 * 1024);
    for (accept, kind) in [(html, "text/html; charset=utf-8"), ("*/*", json)] {
        let wrong = request(Method::POST, "//oauth/login", accept, json, "{}".to_owned()).await;
        assert_eq!((wrong.status.as_u16(), wrong.header("content-type")), (415, kind));
        let wrong = request(Method::POST, "//oauth/login", accept, form, large.clone()).await;
        assert_eq!((wrong.status.as_u16(), wrong.header("content-type")), (413, kind));
    }
    for _ in 0..60 {
        anonymous.get("//oauth/authorize").await;
    }
    let late = request(Method::GET, "//oauth/authorize", html, form, String::new()).await;
    assert_eq!(late.status, 429);
    assert!(text(&late).contains("Wait a minute"), "{late}");
    assert_ne!(late.header("retry-after"), "");
    assert_ne!(late.header("content-security-policy"), "");
}

#[tokio::test]
async fn the_page_for_a_forgotten_password_says_how_to_get_a_link() {
    let app = TestApp::with(|policy, _| policy.support.provider = "Example Support".to_owned()).await;
    let page = app.anonymous().get("//forgot/password").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let text = text(&page);
    assert!(
        text.contains("Example Support") && text.contains("link"),
        "{text}"
    );
}
