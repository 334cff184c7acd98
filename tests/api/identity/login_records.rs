//! The log-ins of an account's users.

use std::time::Duration;

use garth::model::login_record::LoginStatus;
use garth::rules;
use garth::web::{ClientAddress, Network};
use serde_json::{Value, json};

use crate::browser::{Browser, PASSWORD, hidden_field};
use crate::harness::{BEGINNING, TestApp, User};

/// A server behind a proxy that records addresses in this way.
async fn app_with(shown: ClientAddress) -> TestApp {
    let app = TestApp::with(|_, options| {
        options.trusted_proxies = vec![Network::parse("127.0.0.1").expect("an address")];
        options.client_address = shown;
    });
    app.await
}

async fn log_in(app: &TestApp, address: &str, username: &str, password: &str) -> u16 {
    let mut browser = Browser::at(app, address);
    let page = browser.get("/login").await;
    let token = hidden_field(&page, "form_token");
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", ""),
        ("username", username),
        ("password", password),
    ];
    browser.post("/login", &fields).await.status.as_u16()
}

/// Waits until a list has this many records, and returns them. Failures are recorded after the response.
async fn records(user: &User<'_>, path: &str, count: usize) -> Vec<Value> {
    for _ in 0..500 {
        let found = user.get(path).await.data();
        if found.len() == count {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{path} never has {count} records")
}

#[tokio::test]
async fn log_ins_are_recorded_with_their_result() {
    let app = app_with(ClientAddress::Full).await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    for name in ["ada", "bob"] {
        app.set_password(name).await;
    }

    assert_eq!(log_in(&app, "192.0.2.7", "ada", PASSWORD).await, 303);
    assert_eq!(log_in(&app, "198.51.100.9", "BOB", "wrong password").await, 401);
    records(&bob, "/profile/logins", 1).await;
    app.advance(60);
    assert_eq!(log_in(&app, "2001:db8:1:2:3::4", "bob", PASSWORD).await, 303);
    assert_eq!(log_in(&app, "192.0.2.9", "nobody", PASSWORD).await, 401);

    let first = json!({
        "id": 1, "datetime": BEGINNING, "ip": "192.0.2.7", "username": "ada", "status": "successful",
        "restricted": false,
    });
    let second = json!({
        "id": 2, "datetime": BEGINNING, "ip": "198.51.100.9", "username": "bob", "status": "failed",
        "restricted": true,
    });
    let third = json!({
        "id": 3, "datetime": "2024-06-01T12:01:00", "ip": "2001:db8:1:2::", "username": "bob",
        "status": "successful", "restricted": true,
    });
    let all = records(&ada, "/account/logins", 3).await;
    assert_eq!(all, [first.clone(), second.clone(), third.clone()]);
    assert_eq!(ada.get("/account/logins/2").await.json(), second);
    assert_eq!(
        ada.get("/profile/logins").await.data()[..],
        *std::slice::from_ref(&first)
    );
    assert_eq!(ada.get("/profile/logins/1").await.json(), first);
    assert_eq!(ada.get("/profile/logins/2").await.status, 404);
    assert_eq!(bob.get("/profile/logins").await.data(), [second, third]);
    assert_eq!(bob.get("/account/logins").await.status, 403);
    for (filter, ids) in [
        (r#"{"status":"failed"}"#, vec![2]),
        (
            r#"{"username":"bob","+order_by":"datetime","+order":"desc"}"#,
            vec![3, 2],
        ),
        (r#"{"datetime":{"+gt":"2024-06-01T12:00:00"}}"#, vec![3]),
        (r#"{"ip":"192.0.2.7","restricted":false}"#, vec![1]),
    ] {
        assert_eq!(ada.filter("/account/logins", filter).await.ids(), ids, "{filter}");
    }
    let eve = app.user("eve").of(app.another_account().await).await;
    assert_eq!(eve.count("/account/logins").await, 0);
    assert_eq!(eve.get("/account/logins/1").await.status, 404);
    assert_eq!(ada.delete("/account/users/bob").await.status, 200);
    assert_eq!(
        ada.get("/account/logins").await.ids(),
        [1],
        "the records are deleted with the user"
    );
}

#[tokio::test]
async fn addresses_are_recorded_as_the_provider_has_set() {
    for (shown, expected) in [(ClientAddress::Truncated, "192.0.2.0"), (ClientAddress::None, "")] {
        let app = app_with(shown).await;
        let ada = app.user("ada").await;
        app.set_password("ada").await;
        assert_eq!(log_in(&app, "192.0.2.7", "ada", PASSWORD).await, 303);
        assert_eq!(ada.get("/profile/logins").await.data()[0]["ip"], expected);
    }
}

#[tokio::test]
async fn guesses_displace_neither_other_users_nor_successful_log_ins() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").await;
    let recorded = app.store.write(|tx| {
        for (name, status, times) in [
            ("ada", LoginStatus::Successful, 2),
            ("bob", LoginStatus::Failed, 1),
            ("ada", LoginStatus::Failed, 250),
        ] {
            let user = rules::users::load(tx, name)?;
            for _ in 0..times {
                rules::sessions::record(tx, user.id, "192.0.2.7", status)?;
            }
        }
        Ok::<_, rules::Error>(())
    });
    recorded.await.expect("attempts are recorded");

    let remaining = ada.get("/account/logins?page_size=500").await.ids();
    let expected: Vec<i64> = (1..=3).chain(154..=253).collect();
    assert_eq!(remaining, expected);
}

#[tokio::test]
async fn records_expire_with_events() {
    let app = app_with(ClientAddress::Full).await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    assert_eq!(log_in(&app, "192.0.2.7", "ada", PASSWORD).await, 303);
    let sweep = async || {
        app.store
            .write(rules::login_records::sweep)
            .await
            .expect("it runs")
    };
    app.advance(90 * 24 * 3600);
    assert!(!sweep().await);
    assert_eq!(ada.count("/profile/logins").await, 1);
    app.advance(1);
    assert!(!sweep().await);
    assert_eq!(ada.count("/profile/logins").await, 0);
}
