//! Redirects of OAuth authorization: registered URIs, and errors that the client gets.

use crate::browser::{Browser, CALLBACK, CHALLENGE, PASSWORD, form, hidden_field, parameter, text};
use crate::harness::TestApp;

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
    let request = |id: &str, uri: &str| {
        let pairs = [
            ("client_id", id),
            ("response_type", "code"),
            ("scope", "*"),
            ("redirect_uri", uri),
        ];
        form(&pairs)
    };
    let mut queries: Vec<_> = strange.iter().map(|uri| request(&client.id, uri)).collect();
    queries.push(request("0123456789abcdef0123", CALLBACK));
    queries.push(request("", CALLBACK));
    queries.push(format!(
        "{}&client_id=0123456789abcdef0123",
        request(&client.id, CALLBACK)
    ));
    queries.push(format!(
        "{}&redirect_uri=https%3A%2F%2Fevil.example",
        request(&client.id, CALLBACK)
    ));
    // With two values, Garth and the client could each use a different one.
    queries.push(format!(
        "redirect_uri=https%3A%2F%2Fevil.example&{}",
        request(&client.id, CALLBACK)
    ));
    queries.push(format!(
        "client_id=0123456789abcdef0123&{}",
        request(&client.id, CALLBACK)
    ));
    queries.push(String::new());
    for query in &queries {
        // Once with a logged-in user who has consented to everything, and once without a user.
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
    // A later form does not redirect there either.
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
