//! Settings of OAuth, and the metadata that lists its endpoints.

use serde_json::json;

use super::oauth::issuer;
use crate::browser::{Browser, CALLBACK, CHALLENGE, VERIFIER, form, parameter};
use crate::harness::TestApp;

#[tokio::test]
async fn the_implicit_flow_works_only_if_enabled() {
    for implicit in [false, true] {
        let app = TestApp::with(|policy, _| policy.oauth.implicit = implicit).await;
        let ada = app.user("ada").await;
        app.set_password("ada").await;
        let client = app.client(&ada, true).await;
        let mut browser = Browser::new(&app);
        let request = |id: &str| form(&[("client_id", id), ("response_type", "token"), ("scopes", "*")]);
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
            let back = browser.open_authorization_page(&request(&client.id)).await;
            let address = back.header("location").to_owned();
            assert!(
                address.starts_with(&format!("{CALLBACK}#error=unsupported_response_type")),
                "{address}"
            );
            continue;
        }
        let page = browser.log_in(&request(&client.id), "ada").await;
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
        let back = browser.open_authorization_page(&request(&confidential.id)).await;
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
async fn the_provider_can_require_pkce_of_every_client() {
    for require in [false, true] {
        let app = TestApp::with(|policy, _| policy.oauth.require_pkce = require).await;
        app.user("ada").await;
        app.set_password("ada").await;
        let client = app.provider_client(false).await;
        let mut browser = Browser::new(&app);
        // If a challenge was sent, the verifier must match it, even if no challenge was required.
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
