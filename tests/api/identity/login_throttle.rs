//! Limits on password attempts: by address, by name and address, and for known devices.

use garth::rules;
use garth::web::Network;

use crate::browser::{Browser, PASSWORD, hidden_field, text};
use crate::harness::{Reply, TestApp};

/// The cookie of ada, who is the first user.
const DEVICE: &str = "__Host-garth-device-1";
const DEVICE_OF_BOB: &str = "__Host-garth-device-2";
const SESSION: &str = "__Host-garth-session";
const WRONG: &str = "wrong password";

/// A server behind a proxy, so that a browser can have any address, with ada and bob.
async fn behind_a_proxy() -> TestApp {
    let app = TestApp::with(|_, options| {
        options.trusted_proxies = vec![Network::parse("127.0.0.1").expect("an address")];
    })
    .await;
    for name in ["ada", "bob"] {
        app.user(name).await;
        app.set_password(name).await;
    }
    app
}

/// Submits the log-in form of the console.
async fn submit_log_in(browser: &mut Browser<'_>, username: &str, password: &str) -> Reply {
    let page = browser.get("/login").await;
    let page = if page.status == 200 {
        page
    } else {
        browser.cookies.remove(SESSION);
        browser.get("/login").await
    };
    let token = hidden_field(&page, "form_token");
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", ""),
        ("username", username),
        ("password", password),
    ];
    browser.post("/login", &fields).await
}

async fn status(browser: &mut Browser<'_>, username: &str, password: &str) -> u16 {
    submit_log_in(browser, username, password).await.status.as_u16()
}

#[tokio::test]
async fn failed_logins_from_other_addresses_do_not_lock_a_user_out() {
    let app = behind_a_proxy().await;
    for last in 1..=4 {
        let mut attacker = Browser::at(&app, &format!("192.0.2.{last}"));
        for _ in 0..5 {
            assert_eq!(status(&mut attacker, "ada", WRONG).await, 401);
        }
        let locked = submit_log_in(&mut attacker, "ada", PASSWORD).await;
        assert_eq!(
            (locked.status.as_u16(), locked.header("retry-after")),
            (429, "30")
        );
        // Another name at the same address has its own counter.
        assert_eq!(status(&mut attacker, "bob", PASSWORD).await, 303);
    }
    let mut ada = Browser::at(&app, "198.51.100.7");
    assert_eq!(status(&mut ada, "ada", PASSWORD).await, 303);
}

#[tokio::test]
async fn an_address_has_twenty_attempts_for_all_names() {
    let app = behind_a_proxy().await;
    for (network, addresses) in [
        ("192.0.2.1", ["192.0.2.1", "192.0.2.1"]),
        ("2001:db8::/64", ["2001:db8::1", "2001:db8::ffff:2"]),
    ] {
        for at in 0..20 {
            let mut attacker = Browser::at(&app, addresses[at % 2]);
            let wrong = submit_log_in(&mut attacker, &format!("name-{at}"), WRONG).await;
            let wait = if at < 19 { "" } else { "30" };
            assert_eq!(
                (wrong.status.as_u16(), wrong.header("retry-after")),
                (401, wait),
                "{network} {at}"
            );
        }
        for address in addresses {
            let locked = submit_log_in(&mut Browser::at(&app, address), "ada", PASSWORD).await;
            assert_eq!(locked.status, 429, "{address}");
            assert!(text(&locked).contains("Wait 30 seconds"), "{locked}");
        }
    }
    for other in ["192.0.2.2", "2001:db8:0:1::1"] {
        assert_eq!(
            status(&mut Browser::at(&app, other), "ada", PASSWORD).await,
            303,
            "{other}"
        );
    }
    app.advance(30);
    let mut waited = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut waited, "ada", PASSWORD).await, 303);
    assert_eq!(status(&mut waited, "name-1", WRONG).await, 401);
    // The correct password does not reset the counter of the address. Otherwise an attacker could reset it
    // with their own account.
    let mut again = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut again, "name-2", WRONG).await, 429);
    app.advance(3600);
    assert_eq!(status(&mut again, "name-2", WRONG).await, 401);
}

#[tokio::test]
async fn a_known_device_has_its_own_counter() {
    let app = behind_a_proxy().await;
    let mut ada = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut ada, "ada", PASSWORD).await, 303);
    let mut bob = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut bob, "bob", PASSWORD).await, 303);
    let device = ada.cookies[DEVICE].clone();

    for at in 0..20 {
        let name = if at < 5 {
            "ada".to_owned()
        } else {
            format!("name-{at}")
        };
        let mut attacker = Browser::at(&app, "192.0.2.1");
        assert_eq!(status(&mut attacker, &name, WRONG).await, 401);
    }
    let with = |cookie: &str| {
        let mut browser = Browser::at(&app, "192.0.2.1");
        browser.cookies.insert(DEVICE.to_owned(), cookie.to_owned());
        browser
    };
    let last = if device.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{last}", &device[..device.len() - 1]);
    let bobs = bob.cookies[DEVICE_OF_BOB].clone();
    for cookie in ["", "x", "....", &forged, &bobs, &bobs.replace(".2.", ".1.")] {
        assert_eq!(
            status(&mut with(cookie), "ada", PASSWORD).await,
            429,
            "{cookie} is no device of ada's"
        );
    }
    assert_eq!(status(&mut with(&device), "name-21", WRONG).await, 429);

    let mut known = with(&device);
    for _ in 0..4 {
        assert_eq!(status(&mut known, "ada", WRONG).await, 401);
    }
    assert_eq!(status(&mut known, "ADA", PASSWORD).await, 303);
    assert_ne!(known.cookies[DEVICE], "");
    for _ in 0..5 {
        assert_eq!(status(&mut known, "ada", WRONG).await, 401);
    }
    assert_eq!(
        status(&mut with(&device), "ada", PASSWORD).await,
        429,
        "a stolen cookie allows five guesses and no more"
    );
    // A user whose cookie was stolen can log in from another address, as a new device.
    let mut fresh = Browser::at(&app, "192.0.2.2");
    assert_eq!(status(&mut fresh, "ada", PASSWORD).await, 303);
    app.advance(365 * 24 * 3600);
    for at in 0..20 {
        status(&mut Browser::at(&app, "192.0.2.1"), &format!("name-{at}"), WRONG).await;
    }
    assert_eq!(
        status(&mut with(&device), "ada", PASSWORD).await,
        429,
        "a device expires after a year"
    );
}

#[tokio::test]
async fn a_password_link_registers_a_known_device() {
    let app = behind_a_proxy().await;
    let created = app
        .store
        .write(|tx| rules::passwords::make_link(tx, "ada", 3600))
        .await;
    let link = format!(
        "/oauth/password/{}",
        created.expect("a link can be created").reveal()
    );
    for at in 0..20 {
        let mut attacker = Browser::at(&app, "192.0.2.1");
        status(&mut attacker, &format!("name-{at}"), WRONG).await;
    }
    let mut ada = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut ada, "ada", PASSWORD).await, 429);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(ada.post(&link, &fields).await.status, 200);
    assert_eq!(status(&mut ada, "ada", PASSWORD).await, 303);
}

#[tokio::test]
async fn a_device_has_the_same_number_for_each_log_in_of_its_user() {
    let app = behind_a_proxy().await;
    let mut ada = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut ada, "ada", PASSWORD).await, 303);
    let id = |browser: &Browser, name: &str| browser.cookies[name].split('.').next().map(str::to_owned);
    let first = id(&ada, DEVICE);
    app.advance(60);
    assert_eq!(status(&mut ada, "ada", PASSWORD).await, 303);
    assert_eq!(id(&ada, DEVICE), first, "the device keeps its number");
    assert_eq!(status(&mut ada, "bob", PASSWORD).await, 303);
    assert_ne!(id(&ada, DEVICE_OF_BOB), first, "another user has another number");
    assert_eq!(id(&ada, DEVICE), first, "the device of ada remains");
}

#[tokio::test]
async fn oauth_and_console_log_ins_share_a_counter() {
    let app = behind_a_proxy().await;
    let eve = app.user("eve").await;
    let client = app.client(&eve, false).await;
    let mut browser = Browser::at(&app, "192.0.2.1");
    let page = browser.open_authorization_page(&client.query("*")).await;
    for _ in 0..5 {
        assert_eq!(browser.submit_login(&page, "ada", WRONG).await.status, 401);
    }
    let mut console = Browser::at(&app, "192.0.2.1");
    assert_eq!(status(&mut console, "ada", PASSWORD).await, 429);
    assert_eq!(status(&mut console, "bob", PASSWORD).await, 303);
}

#[tokio::test]
async fn setting_the_clock_does_not_change_a_wait() {
    let app = behind_a_proxy().await;
    let mut browser = Browser::at(&app, "192.0.2.1");
    for _ in 0..5 {
        assert_eq!(status(&mut browser, "ada", WRONG).await, 401);
    }
    for jump in [-3 * 3600, 6 * 3600] {
        app.set_clock_by(jump);
        let locked = submit_log_in(&mut browser, "ada", PASSWORD).await;
        assert_eq!(
            (locked.status.as_u16(), locked.header("retry-after")),
            (429, "30")
        );
    }
    app.advance(30);
    assert_eq!(status(&mut browser, "ada", PASSWORD).await, 303);
}

#[tokio::test]
async fn responses_do_not_distinguish_unknown_names_from_wrong_passwords() {
    let app = behind_a_proxy().await;
    app.user("cleo").await;
    app.user("agent").staff().await;
    app.set_password("agent").await;
    // Users with a password, of the staff, without a password, and unknown.
    for password in [WRONG, "x"] {
        let mut answers = std::collections::BTreeSet::new();
        for name in ["ada", "agent", "cleo", "nobody"] {
            let mut browser = Browser::at(&app, "192.0.2.1");
            let mut wrong = submit_log_in(&mut browser, name, password).await;
            wrong.headers.remove("x-request-id");
            wrong.headers.remove("date");
            wrong.headers.remove("content-length");
            let token = hidden_field(&wrong, "form_token");
            let page = text(&wrong).replace(name, "NAME").replace(&token, "TOKEN");
            answers.insert(format!("{} {:?} {page}", wrong.status, wrong.headers));
        }
        assert_eq!(answers.len(), 1, "{answers:#?}");
    }
}
