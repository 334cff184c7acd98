//! OAuth authorization: log-in, consent and access.

use serde_json::json;

use crate::browser::{Browser, CALLBACK, CHALLENGE, VERIFIER, field, form, hidden_field, parameter, text};
use crate::harness::TestApp;

/// The issuer parameter, which names the server that responded.
pub fn issuer(app: &TestApp) -> String {
    format!("iss=http%3A%2F%2F127.0.0.1%3A{}", app.address.port())
}

#[tokio::test]
async fn a_user_logs_in_and_consents_and_the_client_gets_access() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let query = client.query("vpc:read_write,account:read_only");

    let page = browser.log_in(&query, "ADA").await;

    let html = text(&page);
    for words in [
        "Dashboard",
        "ada",
        "read and change VPCs",
        "read your account",
        "https://app.example",
    ] {
        assert!(html.contains(words), "{words} is not on {html}");
    }
    let back = browser.submit_consent(&page, "allow").await;
    assert_eq!(back.status, 303);
    let address = back.header("location");
    let code = parameter(address, "code").unwrap();
    assert_eq!(
        address,
        format!("{CALLBACK}?code={code}&{}", issuer(&app)),
        "the request had no state, so the redirect has none"
    );
    assert!(
        code.starts_with('c') && code[1..].bytes().all(|b| b.is_ascii_hexdigit()),
        "{code}"
    );

    let issued = app.token(&client, &[("code", &code)]).await;
    assert_eq!(issued.header("cache-control"), "no-store");
    let keys: Vec<_> = issued.json().as_object().unwrap().keys().cloned().collect();
    let expected = [
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
        "scopes",
    ];
    assert_eq!(keys, expected);
    let answer = issued.json();
    assert_eq!(
        (&answer["token_type"], &answer["expires_in"]),
        (&json!("bearer"), &json!(7200))
    );
    assert_eq!(answer["scope"], "account:read_only vpc:read_write");
    assert_eq!(answer["scopes"], answer["scope"]);
    let program = app.with_token(&field(&issued, "access_token"));
    let profile = program.get("/profile").await;
    assert_eq!(profile.json()["username"], "ada");
    assert_eq!(
        profile.header("x-oauth-scopes"),
        "account:read_only vpc:read_write"
    );
    assert_eq!(
        program.post("/profile/tokens", json!({})).await.errors(),
        ["- scope_missing"]
    );
    assert_eq!(
        ada.count("/profile/tokens").await,
        1,
        "the list of personal tokens does not contain it"
    );
    app.advance(7200);
    assert_eq!(program.get("/profile").await.status, 401);
}

#[tokio::test]
async fn consent_is_remembered_until_it_is_revoked() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let code = browser.get_code(&client.query("vpc:read_write"), "ada").await;
    app.token(&client, &[("code", &code)]).await;

    for (scopes, status) in [
        ("vpc:read_write", 303),
        ("vpc:read_only", 303),
        ("vpc:* events:*", 200),
        ("*", 200),
    ] {
        assert_eq!(
            browser
                .open_authorization_page(&client.query(scopes))
                .await
                .status,
            status,
            "{scopes}"
        );
    }
    let other = app.client(&ada, false).await;
    assert_eq!(
        browser
            .open_authorization_page(&other.query("vpc:read_only"))
            .await
            .status,
        200,
        "another client needs consent"
    );
    for id in ada.get("/profile/apps").await.ids() {
        ada.delete(&format!("/profile/apps/{id}")).await;
    }
    assert_eq!(
        browser
            .open_authorization_page(&client.query("vpc:read_only"))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_public_client_gets_its_token_with_pkce() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, true).await;
    let mut browser = Browser::new(&app);
    // Like the public web app: the redirect URI has a query that contains a question mark.
    let uri = format!("{CALLBACK}?returnTo=/support/tickets?dialogOpen=true");
    let query = form(&[
        ("client_id", &client.id),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("redirect_uri", &uri),
        ("response_type", "code"),
        ("scope", "*"),
        ("state", "8e4b11c2-1b6f-4a6e"),
    ]);
    let page = browser.log_in(&query, "ada").await;
    let back = browser.submit_consent(&page, "allow").await;
    let address = back.header("location").to_owned();
    let rest = address
        .strip_prefix(&format!("{uri}&code="))
        .expect("its query is kept");
    let code = rest
        .strip_suffix(&format!("&state=8e4b11c2-1b6f-4a6e&{}", issuer(&app)))
        .expect("the state comes back");

    let parts: Vec<(String, &[u8])> = [
        ("grant_type", "authorization_code"),
        ("client_id", &client.id),
        ("code", code),
        ("state", "8e4b11c2-1b6f-4a6e"),
        ("code_verifier", VERIFIER),
    ]
    .iter()
    .map(|(name, value)| (format!("form-data; name=\"{name}\""), value.as_bytes()))
    .collect();
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let anonymous = app.anonymous();
    let issued = anonymous
        .call(hyper::Method::POST, "//oauth/token")
        .form(&parts)
        .await;

    assert_eq!(issued.status, 200, "{issued}");
    assert_eq!(issued.json()["scopes"], "*");
    assert_eq!(issued.header("access-control-allow-origin"), "*");
    let program = app.with_token(&field(&issued, "access_token"));
    assert_eq!(program.get("/account/users").await.status, 200);
    // The client revokes the token when its user logs out.
    let token = field(&issued, "access_token");
    let back = app
        .form("/oauth/revoke", &[("client_id", &client.id), ("token", &token)])
        .await;
    assert_eq!(back.json(), json!({}));
    assert_eq!(program.get("/profile").await.status, 401);
}

#[tokio::test]
async fn a_user_can_deny_access() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, true).await;
    let mut browser = Browser::new(&app);
    let page = browser.log_in(&client.public_query("*"), "ada").await;

    let back = browser.submit_consent(&page, "deny").await;

    let address = back.header("location");
    assert!(
        address.starts_with(&format!("{CALLBACK}?error=access_denied&")),
        "{address}"
    );
    assert_eq!(parameter(address, "state").as_deref(), Some("xyz"));
    let own = format!("http://{}", app.address);
    assert_eq!(
        parameter(address, "iss"),
        Some(own),
        "an error redirect also has iss"
    );
    assert_eq!(ada.count("/profile/apps").await, 0);
    assert_eq!(browser.submit_consent(&page, "maybe").await.status, 400);
}

#[tokio::test]
async fn staff_authorize_only_the_providers_own_clients() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("agent").staff().await;
    for name in ["ada", "agent"] {
        app.set_password(name).await;
    }
    let (tenants, own) = (app.client(&ada, false).await, app.provider_client(false).await);

    let mut agent = Browser::new(&app);
    let page = agent.log_in(&tenants.query("*"), "agent").await;
    assert_eq!((page.status.as_u16(), page.header("location")), (403, ""));
    assert!(text(&page).contains("belongs to a customer"), "{page}");
    assert!(
        !text(&page).contains("<form"),
        "there is nothing to decide: {page}"
    );
    // The form of another client's page does not authorize the client either.
    let consent = agent.open_authorization_page(&own.query("*")).await;
    let (token, query) = (hidden_field(&consent, "form_token"), tenants.query("*"));
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", &query),
        ("decision", "allow"),
    ];
    let refused = agent.post("/oauth/authorize", &fields).await;
    assert_eq!((refused.status.as_u16(), refused.header("location")), (403, ""));
    // An invalid request does not redirect staff either.
    let wrong = agent
        .open_authorization_page(&format!("{}&response_type=x", tenants.query("*")))
        .await;
    assert_eq!((wrong.status.as_u16(), wrong.header("location")), (403, ""));

    let code = agent.submit_consent(&consent, "allow").await;
    assert!(code.header("location").contains("code="), "{code}");
    let mut customer = Browser::new(&app);
    customer.get_code(&tenants.query("*"), "ada").await;
}

#[tokio::test]
async fn an_authorization_deletes_unused_earlier_ones_for_the_same_client() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let (client, other) = (app.client(&ada, false).await, app.client(&ada, false).await);
    Browser::new(&app).get_code(&other.query("*"), "ada").await;
    for scopes in ["vpc:read_only", "linodes:read_only", "events:read_only"] {
        Browser::new(&app).get_code(&client.query(scopes), "ada").await;
        // The code expires, so the authorization has no usable code.
        app.advance(61);
    }

    let content = app.home().content().await;

    let clients: Vec<_> = content["oauth_grant"]
        .iter()
        .map(|grant| &grant["client"])
        .collect();
    assert_eq!(clients, [&json!(other.id), &json!(client.id)]);
}
