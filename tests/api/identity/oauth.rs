//! OAuth authorization.

use serde_json::json;

use crate::browser::{
    Browser, CALLBACK, CHALLENGE, PASSWORD, VERIFIER, field, form, hidden_field, parameter, text,
};
use crate::harness::TestApp;

/// The issuer parameter, which names the server that responded.
fn issuer(app: &TestApp) -> String {
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
        "without state, as it was asked"
    );
    assert!(
        code.starts_with('c') && code[1..].bytes().all(|b| b.is_ascii_hexdigit()),
        "{code}"
    );

    let given = app.token(&client, &[("code", &code)]).await;
    assert_eq!(given.header("cache-control"), "no-store");
    let keys: Vec<_> = given.json().as_object().unwrap().keys().cloned().collect();
    let expected = [
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
        "scopes",
    ];
    assert_eq!(keys, expected);
    let answer = given.json();
    assert_eq!(
        (&answer["token_type"], &answer["expires_in"]),
        (&json!("bearer"), &json!(7200))
    );
    assert_eq!(answer["scope"], "account:read_only vpc:read_write");
    assert_eq!(answer["scopes"], answer["scope"]);
    let program = app.with_token(&field(&given, "access_token"));
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
        "it is not one of the personal ones"
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
        "another program"
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
    let given = anonymous
        .call(hyper::Method::POST, "//oauth/token")
        .form(&parts)
        .await;

    assert_eq!(given.status, 200, "{given}");
    assert_eq!(given.json()["scopes"], "*");
    assert_eq!(given.header("access-control-allow-origin"), "*");
    let program = app.with_token(&field(&given, "access_token"));
    assert_eq!(program.get("/account/users").await.status, 200);
    // It revokes the token when its user logs out.
    let token = field(&given, "access_token");
    let back = app
        .form("/oauth/revoke", &[("client_id", &client.id), ("token", &token)])
        .await;
    assert_eq!(back.json(), json!({}));
    assert_eq!(program.get("/profile").await.status, 401);
}

#[tokio::test]
async fn a_browser_is_redirected_only_to_registered_uris() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut known = Browser::new(&app);
    known.get_code(&client.query("*"), "ada").await;
    let strange = [
        "https://evil.example/oauth/callback",
        "https://app.example.evil.example/oauth/callback",
        "https://app.example/oauth/callback/../../evil",
        "https://app.example/oauth/callback/",
        "https://app.example/oauth/callback?x=1",
        "https://app.example/oauth/callback?returnTo=/vpcs",
        "https://app.example/oauth",
        "https://app.example@evil.example/oauth/callback",
        "https://evil.example\\@app.example/oauth/callback",
        "http://app.example/oauth/callback",
        "https://app.example:8443/oauth/callback",
        "https://APP.example/oauth/callback",
        "https://app.example/oauth/callback#x",
        "//app.example/oauth/callback",
        "/oauth/callback",
        "javascript:alert(1)//app.example",
        "https://app.example/oauth/callback\r\nX-Evil: 1",
        "nothing",
    ];
    let ask = |id: &str, uri: &str| {
        let pairs = [
            ("client_id", id),
            ("response_type", "code"),
            ("scope", "*"),
            ("redirect_uri", uri),
        ];
        form(&pairs)
    };
    let mut queries: Vec<_> = strange.iter().map(|uri| ask(&client.id, uri)).collect();
    queries.push(ask("0123456789abcdef0123", CALLBACK));
    queries.push(ask("", CALLBACK));
    queries.push(format!(
        "{}&client_id=0123456789abcdef0123",
        ask(&client.id, CALLBACK)
    ));
    queries.push(format!(
        "{}&redirect_uri=https%3A%2F%2Fevil.example",
        ask(&client.id, CALLBACK)
    ));
    // Two parties could each use a different one of the two values.
    queries.push(format!(
        "redirect_uri=https%3A%2F%2Fevil.example&{}",
        ask(&client.id, CALLBACK)
    ));
    queries.push(format!(
        "client_id=0123456789abcdef0123&{}",
        ask(&client.id, CALLBACK)
    ));
    queries.push(String::new());
    for query in &queries {
        // With a logged-in user who has consented to everything, and without.
        for browser in [&mut known, &mut Browser::new(&app)] {
            let page = browser.open_authorization_page(query).await;
            assert_eq!(
                (page.status.as_u16(), page.header("location")),
                (400, ""),
                "{query}"
            );
            assert!(text(&page).contains("Invalid request"), "{query}");
        }
    }
    // Nor by a later form.
    for query in &queries {
        let mut fresh = Browser::new(&app);
        let page = fresh.open_authorization_page(&client.query("*")).await;
        let token = hidden_field(&page, "form_token");
        let fields = [
            ("form_token", token.as_str()),
            ("return_to", query),
            ("username", "ada"),
            ("password", PASSWORD),
        ];
        let refused = fresh.post("/oauth/login", &fields).await;
        assert_eq!(
            (refused.status.as_u16(), refused.header("location")),
            (400, ""),
            "{query}"
        );
    }
}

#[tokio::test]
async fn other_errors_are_returned_to_the_client() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let (secret, public) = (app.client(&ada, false).await, app.client(&ada, true).await);
    let mut browser = Browser::new(&app);
    browser.log_in(&secret.query("*"), "ada").await;
    let method = ("code_challenge_method", "S256");
    let challenge = ("code_challenge", CHALLENGE);
    let code = ("response_type", "code");
    let (scope, state) = (("scope", "*"), ("state", "a&b=c"));
    for (client, pairs, error) in [
        (&secret, vec![scope, state], "invalid_request"),
        (
            &secret,
            vec![("response_type", "id_token"), scope],
            "unsupported_response_type",
        ),
        (&secret, vec![code], "invalid_scope"),
        (&secret, vec![code, ("scope", "everything")], "invalid_scope"),
        (&secret, vec![code, scope, challenge], "invalid_request"),
        (
            &secret,
            vec![code, scope, challenge, ("code_challenge_method", "plain")],
            "invalid_request",
        ),
        (&secret, vec![code, scope, method], "invalid_request"),
        (
            &secret,
            vec![code, scope, ("code_challenge", "short"), method],
            "invalid_request",
        ),
        (
            &secret,
            vec![code, scope, state, ("state", "other")],
            "invalid_request",
        ),
        (
            &secret,
            vec![code, scope, ("scopes", "vpc:read_only")],
            "invalid_request",
        ),
        (&public, vec![code, scope, challenge, method], "invalid_request"),
        (&public, vec![code, scope, state], "invalid_request"),
        (
            &public,
            vec![code, scope, state, challenge, ("code_challenge_method", "plain")],
            "invalid_request",
        ),
    ] {
        let mut all = vec![("client_id", client.id.as_str()), ("redirect_uri", CALLBACK)];
        all.extend(&pairs);
        let back = browser.open_authorization_page(&form(&all)).await;
        assert_eq!(back.status, 303, "{pairs:?}: {back}");
        let address = back.header("location");
        assert!(
            address.starts_with(&format!("{CALLBACK}?error={error}&error_description=")),
            "{address}"
        );
        if pairs.iter().filter(|(name, _)| *name == "state").count() == 1 {
            assert_eq!(parameter(address, "state").as_deref(), Some("a&b=c"));
        }
        assert_eq!(parameter(address, "code"), None);
    }
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
    assert_eq!(parameter(address, "iss"), Some(own), "an error has it too");
    assert_eq!(ada.count("/profile/apps").await, 0);
    assert_eq!(browser.submit_consent(&page, "maybe").await.status, 400);
}

#[tokio::test]
async fn the_implicit_flow_works_only_if_enabled() {
    for implicit in [false, true] {
        let app = TestApp::with(|policy, _| policy.oauth.implicit = implicit).await;
        let ada = app.user("ada").await;
        app.set_password("ada").await;
        let client = app.client(&ada, true).await;
        let mut browser = Browser::new(&app);
        let ask = |id: &str| form(&[("client_id", id), ("response_type", "token"), ("scopes", "*")]);
        let server = app
            .anonymous()
            .get("//.well-known/oauth-authorization-server")
            .await
            .json();
        let types = if implicit {
            json!(["code", "token"])
        } else {
            json!(["code"])
        };
        assert_eq!(server["response_types_supported"], types);
        if !implicit {
            browser.log_in(&client.public_query("*"), "ada").await;
            let back = browser.open_authorization_page(&ask(&client.id)).await;
            let address = back.header("location").to_owned();
            assert!(
                address.starts_with(&format!("{CALLBACK}#error=unsupported_response_type")),
                "{address}"
            );
            continue;
        }
        let page = browser.log_in(&ask(&client.id), "ada").await;
        let back = browser.submit_consent(&page, "allow").await;
        let address = back.header("location").to_owned();
        let fragment = address
            .strip_prefix(&format!("{CALLBACK}#access_token="))
            .expect("in the fragment");
        let (token, rest) = fragment.split_at(64);
        let expected = format!(
            "&token_type=bearer&expires_in=7200&scope=*&scopes=*&{}",
            issuer(&app)
        );
        assert_eq!(rest, expected);
        assert_eq!(
            app.with_token(token).get("/profile").await.json()["username"],
            "ada"
        );
        let confidential = app.client(&ada, false).await;
        let back = browser.open_authorization_page(&ask(&confidential.id)).await;
        assert!(
            back.header("location").contains("#error=unauthorized_client"),
            "{back}"
        );
    }
}

#[tokio::test]
async fn the_metadata_lists_the_endpoints() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let path = "//.well-known/oauth-authorization-server";
    let metadata = anonymous.get(path).await.json();
    let own = format!("http://{}", app.address);
    assert_eq!(metadata["issuer"], own);
    assert_eq!(
        metadata["authorization_endpoint"],
        format!("{own}/oauth/authorize")
    );
    assert_eq!(metadata["token_endpoint"], format!("{own}/oauth/token"));
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(metadata["authorization_response_iss_parameter_supported"], true);
    let app = TestApp::with(|_, options| options.public_url = Some("https://garth.example".to_owned())).await;
    let metadata = app.anonymous().get(path).await.json();
    assert_eq!(
        metadata["revocation_endpoint"],
        "https://garth.example/oauth/revoke"
    );
}

#[tokio::test]
async fn the_prefix_serves_the_same_endpoints() {
    let app = TestApp::with(|_, options| options.oauth_prefix = "/login".to_owned()).await;
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    let mut browser = Browser::new(&app);
    let plain = browser.open_authorization_page(&client.query("*")).await;
    let prefixed = app.anonymous();
    let path = format!("//login/oauth/authorize?{}", client.query("*"));
    let cookie = format!("__Host-garth-form={}", browser.cookies["__Host-garth-form"]);
    let response = prefixed
        .call(hyper::Method::GET, &path)
        .header("cookie", &cookie)
        .send()
        .await;
    assert_eq!(response.status(), 200);
    let body = http_body_util::BodyExt::collect(response.into_body())
        .await
        .unwrap()
        .to_bytes();
    assert_eq!(body, plain.body, "all addresses on a page are relative");
    for (path, status) in [
        ("//login/logout", 200),
        ("//login/forgot/password", 200),
        ("//login/oauth/style.css", 200),
        ("//login/healthz", 404),
    ] {
        assert_eq!(
            prefixed.call(hyper::Method::GET, path).send().await.status(),
            status,
            "{path}"
        );
    }
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
    // Nor by the form of another client's page.
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
async fn the_provider_can_require_pkce_of_every_client() {
    for require in [false, true] {
        let app = TestApp::with(|policy, _| policy.oauth.require_pkce = require).await;
        app.user("ada").await;
        app.set_password("ada").await;
        let client = app.provider_client(false).await;
        let mut browser = Browser::new(&app);
        // A challenge that was sent must match, whether it was required or not.
        let code = browser.get_code(&client.public_query("*"), "ada").await;
        for (verifier, status) in [(None, 400), (Some(CHALLENGE), 400), (Some(VERIFIER), 200)] {
            let mut fields = vec![("code", code.as_str())];
            fields.extend(verifier.map(|verifier| ("code_verifier", verifier)));
            assert_eq!(app.token(&client, &fields).await.status, status, "{verifier:?}");
        }
        let without = browser.open_authorization_page(&client.query("*")).await;
        let address = without.header("location").to_owned();
        match require {
            true => {
                assert_eq!(parameter(&address, "error").as_deref(), Some("invalid_request"));
                let why = parameter(&address, "error_description").expect("it says why");
                assert_eq!(why, "code_challenge is required");
            }
            false => {
                let code = parameter(&address, "code").expect("a code");
                // Removing the challenge from the URL does not help, because the verifier is still sent.
                let fields = [("code", code.as_str()), ("code_verifier", VERIFIER)];
                assert_eq!(app.token(&client, &fields).await.status, 400);
                assert_eq!(app.token(&client, &fields[..1]).await.status, 200);
            }
        }
        let plain = client.public_query("*").replace("S256", "plain");
        let address = browser
            .open_authorization_page(&plain)
            .await
            .header("location")
            .to_owned();
        assert_eq!(parameter(&address, "error").as_deref(), Some("invalid_request"));
    }
}
