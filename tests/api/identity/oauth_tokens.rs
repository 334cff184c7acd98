//! OAuth tokens: codes, refresh, revocation, and refusals.

use hyper::Method;
use serde_json::{Value, json};

use crate::browser::{Browser, CALLBACK, Client, VERIFIER, field};
use crate::harness::{Reply, TestApp, User};

/// The error of RFC 6749, and our code.
fn refusal(reply: &Reply) -> (u16, String, Vec<String>) {
    assert_eq!(reply.header("cache-control"), "no-store", "{reply}");
    (reply.status.as_u16(), field(reply, "error"), reply.errors())
}

fn refused(status: u16, error: &str, ours: &str) -> (u16, String, Vec<String>) {
    (status, error.to_owned(), vec![ours.to_owned()])
}

/// A user with a password, and two clients: confidential and public.
async fn set_up(app: &TestApp) -> (User<'_>, Client, Client) {
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let (secret, public) = (app.client(&ada, false).await, app.client(&ada, true).await);
    (ada, secret, public)
}

#[tokio::test]
async fn a_code_works_once_and_its_reuse_revokes_the_grant() {
    let app = TestApp::new().await;
    let (_, client, _) = set_up(&app).await;
    let code = Browser::new(&app).get_code(&client.query("*"), "ada").await;
    let issued = app
        .token(&client, &[("grant_type", "authorization_code"), ("code", &code)])
        .await;
    let program = app.with_token(&field(&issued, "access_token"));
    assert_eq!(program.get("/profile").await.status, 200);

    let again = app.token(&client, &[("code", &code)]).await;

    assert_eq!(
        refusal(&again),
        refused(400, "invalid_grant", "code code_invalid")
    );
    assert_eq!(program.get("/profile").await.status, 401);
    let refresh = field(&issued, "refresh_token");
    let refreshed = app
        .token(
            &client,
            &[("grant_type", "refresh_token"), ("refresh_token", &refresh)],
        )
        .await;
    assert_eq!(
        refusal(&refreshed),
        refused(400, "invalid_grant", "refresh_token refresh_token_invalid")
    );
}

#[tokio::test]
async fn a_code_expires_after_a_minute() {
    let app = TestApp::new().await;
    let (_, client, _) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    let code = browser.get_code(&client.query("*"), "ada").await;
    app.advance(59);
    assert_eq!(app.token(&client, &[("code", &code)]).await.status, 200);
    let again = browser.open_authorization_page(&client.query("*")).await;
    let code = crate::browser::parameter(again.header("location"), "code").unwrap();
    app.advance(60);
    let late = app.token(&client, &[("code", &code)]).await;
    assert_eq!(refusal(&late), refused(400, "invalid_grant", "code code_invalid"));
}

#[tokio::test]
async fn a_code_works_only_for_its_client() {
    let app = TestApp::new().await;
    let (ada, client, public) = set_up(&app).await;
    let code = Browser::new(&app).get_code(&client.query("*"), "ada").await;
    let other = app.client(&ada, false).await;
    let stolen = app.token(&other, &[("code", &code)]).await;
    assert_eq!(
        refusal(&stolen),
        refused(400, "invalid_grant", "code code_invalid")
    );
    let stolen = app
        .form("/oauth/token", &[("client_id", &public.id), ("code", &code)])
        .await;
    assert_eq!(
        refusal(&stolen),
        refused(400, "invalid_grant", "code code_invalid")
    );
    let wrong = [
        ("code", code.as_str()),
        ("redirect_uri", "https://app.example/oauth/callback?x=1"),
    ];
    let wrong = app.token(&client, &wrong).await;
    assert_eq!(
        refusal(&wrong),
        refused(400, "invalid_grant", "redirect_uri redirect_uri_invalid")
    );
    let right = [("code", code.as_str()), ("redirect_uri", CALLBACK)];
    assert_eq!(
        app.token(&client, &right).await.status,
        200,
        "the refused requests did not use the code"
    );
}

#[tokio::test]
async fn a_challenge_needs_its_verifier_and_a_verifier_its_challenge() {
    let app = TestApp::new().await;
    let (_, secret, public) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    let code = browser.get_code(&public.public_query("*"), "ada").await;
    let with = |verifier: &'static str| {
        let mut fields = vec![("client_id", public.id.clone()), ("code", code.clone())];
        if !verifier.is_empty() {
            fields.push(("code_verifier", verifier.to_owned()));
        }
        let app = &app;
        async move {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            app.form("/oauth/token", &fields).await
        }
    };
    let wrong = refused(400, "invalid_grant", "code_verifier code_verifier_invalid");
    for verifier in [
        "",
        "x",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl",
        crate::browser::CHALLENGE,
    ] {
        assert_eq!(refusal(&with(verifier).await), wrong, "{verifier:?}");
    }
    assert_eq!(with(VERIFIER).await.status, 200);
    // An attacker removed the challenge from the authorization request.
    let code = Browser::new(&app).get_code(&secret.query("*"), "ada").await;
    let fields = [("code", code.as_str()), ("code_verifier", VERIFIER)];
    assert_eq!(refusal(&app.token(&secret, &fields).await), wrong);
}

#[tokio::test]
async fn a_refresh_issues_new_tokens_and_revokes_the_old() {
    let app = TestApp::new().await;
    let (_, client, _) = set_up(&app).await;
    let code = Browser::new(&app)
        .get_code(&client.query("vpc:read_write events:read_only"), "ada")
        .await;
    let first = app.token(&client, &[("code", &code)]).await;
    let refresh = async |token: String, scope: &str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token.as_str()),
            ("scope", scope),
        ];
        app.token(&client, &fields).await
    };
    app.advance(8000);

    let second = refresh(field(&first, "refresh_token"), "").await;

    assert_eq!(second.json()["scope"], "events:read_only vpc:read_write");
    assert_ne!(field(&second, "access_token"), field(&first, "access_token"));
    assert_eq!(
        app.with_token(&field(&second, "access_token"))
            .get("/profile")
            .await
            .status,
        200
    );
    let third = refresh(field(&second, "refresh_token"), "vpc:read_only").await;
    assert_eq!(
        third.json()["scopes"],
        "vpc:read_only",
        "fewer scopes can be requested"
    );
    let old = app.with_token(&field(&second, "access_token"));
    assert_eq!(
        old.get("/profile").await.status,
        401,
        "the refresh revoked the previous access token"
    );
    let wider = refresh(field(&third, "refresh_token"), "linodes:read_only").await;
    assert_eq!(
        refusal(&wider),
        refused(400, "invalid_scope", "scope scopes_invalid")
    );
    let fourth = refresh(field(&third, "refresh_token"), "").await;
    assert_eq!(fourth.json()["scopes"], "events:read_only vpc:read_write");
    app.advance(30 * 24 * 3600);
    let late = refresh(field(&fourth, "refresh_token"), "").await;
    assert_eq!(
        refusal(&late),
        refused(400, "invalid_grant", "refresh_token refresh_token_invalid")
    );
}

#[tokio::test]
async fn reuse_of_a_refresh_token_revokes_the_grant() {
    let app = TestApp::new().await;
    let (ada, _, client) = set_up(&app).await;
    let code = Browser::new(&app)
        .get_code(&client.public_query("*"), "ada")
        .await;
    let request_token = async |fields: &[(&str, &str)]| {
        let mut all = vec![("client_id", client.id.as_str())];
        all.extend_from_slice(fields);
        app.form("/oauth/token", &all).await
    };
    let first = request_token(&[("code", &code), ("code_verifier", VERIFIER)]).await;
    let stolen = field(&first, "refresh_token");
    let thief = request_token(&[("grant_type", "refresh_token"), ("refresh_token", &stolen)]).await;
    assert_eq!(
        app.with_token(&field(&thief, "access_token"))
            .get("/profile")
            .await
            .status,
        200
    );

    let owner = request_token(&[("grant_type", "refresh_token"), ("refresh_token", &stolen)]).await;

    assert_eq!(
        refusal(&owner),
        refused(400, "invalid_grant", "refresh_token refresh_token_invalid")
    );
    assert_eq!(
        app.with_token(&field(&thief, "access_token"))
            .get("/profile")
            .await
            .status,
        401
    );
    let next = field(&thief, "refresh_token");
    let next = request_token(&[("grant_type", "refresh_token"), ("refresh_token", &next)]).await;
    assert_eq!(next.status, 400);
    assert_eq!(
        ada.count("/profile/apps").await,
        0,
        "the authorization is revoked"
    );
}

#[tokio::test]
async fn a_client_authenticates_by_one_method_only() {
    let app = TestApp::new().await;
    let (ada, client, public) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    let code = browser.get_code(&client.query("*"), "ada").await;
    let Client { id, secret } = &client;
    let wrong = "0".repeat(64);
    let invalid = refused(401, "invalid_client", "- client_invalid");
    for fields in [
        vec![("client_id", id), ("code", &code)],
        vec![("client_id", id), ("client_secret", &wrong), ("code", &code)],
        vec![("client_id", &wrong), ("client_secret", secret), ("code", &code)],
        vec![
            ("client_id", &public.id),
            ("client_secret", secret),
            ("code", &code),
        ],
    ] {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let reply = app.form("/oauth/token", &fields).await;
        assert_eq!(refusal(&reply), invalid, "{fields:?}");
        assert!(reply.header("www-authenticate").starts_with("Basic"));
    }
    let basic = async |secret: &str, body: String| {
        use base64::prelude::{BASE64_STANDARD, Engine};
        let anonymous = app.anonymous();
        let proof = format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")));
        let call = anonymous
            .call(Method::POST, "//oauth/token")
            .header("authorization", &proof);
        call.header("content-type", "application/x-www-form-urlencoded")
            .body(body)
            .await
    };
    assert_eq!(refusal(&basic(&wrong, format!("code={code}")).await), invalid);
    let both = basic(secret, format!("code={code}&client_secret={secret}")).await;
    assert_eq!(
        refusal(&both),
        refused(400, "invalid_request", "- client_invalid")
    );
    assert_eq!(basic(secret, format!("code={code}")).await.status, 200);
    // The old secret is invalid after it is reset.
    ada.post(&format!("/account/oauth-clients/{id}/reset-secret"), json!({}))
        .await;
    assert_eq!(refusal(&app.token(&client, &[("code", "c0")]).await), invalid);
}

#[tokio::test]
async fn token_errors_have_both_error_formats() {
    let app = TestApp::new().await;
    let (_, client, _) = set_up(&app).await;
    for (fields, error, ours) in [
        (vec![], "invalid_request", "grant_type required"),
        (
            vec![("grant_type", "authorization_code")],
            "invalid_request",
            "code required",
        ),
        (
            vec![("grant_type", "refresh_token")],
            "invalid_request",
            "refresh_token required",
        ),
        (
            vec![("grant_type", "password"), ("code", "x")],
            "unsupported_grant_type",
            "grant_type grant_type_invalid",
        ),
        (
            vec![("code", "x"), ("code", "y")],
            "invalid_request",
            "- form_invalid",
        ),
        (vec![("code", "c12345")], "invalid_grant", "code code_invalid"),
    ] {
        let reply = app.token(&client, &fields).await;
        assert_eq!(refusal(&reply), refused(400, error, ours), "{fields:?}");
    }
    let nobody = app.form("/oauth/token", &[("code", "x")]).await;
    assert_eq!(
        refusal(&nobody),
        refused(400, "invalid_request", "client_id required")
    );
    let anonymous = app.anonymous();
    let json = anonymous
        .call(Method::POST, "//oauth/token")
        .json(&json!({"code": "x"}))
        .await;
    assert_eq!(
        (json.status.as_u16(), json.errors()),
        (415, vec!["- media_type_unsupported".to_owned()])
    );
    let broken = anonymous
        .call(Method::POST, "//oauth/token")
        .header("content-type", "multipart/form-data; boundary=edge")
        .body("--edge\r\nContent-Disposition: form-data; name=\"code\"\r\n\r\nx");
    assert_eq!(broken.await.errors(), ["- multipart_invalid"]);
}

#[tokio::test]
async fn a_client_can_revoke_its_own_access_and_refresh_tokens() {
    let app = TestApp::new().await;
    let (ada, client, public) = set_up(&app).await;
    let personal = ada.token.clone().unwrap();
    for half in ["access_token", "refresh_token"] {
        let code = Browser::new(&app).get_code(&client.query("*"), "ada").await;
        let issued = app.token(&client, &[("code", &code)]).await;
        let program = app.with_token(&field(&issued, "access_token"));
        let token = field(&issued, half);
        let revoke = async |fields: &[(&str, &str)]| app.form("/oauth/revoke", fields).await;
        let (id, secret) = (client.id.as_str(), client.secret.as_str());
        for (fields, status) in [
            (vec![("client_id", public.id.as_str()), ("token", &token)], 200),
            (vec![("client_id", id), ("token", "unknown")], 200),
            (vec![("client_id", id), ("token", &personal)], 200),
            (
                vec![("client_id", id), ("client_secret", "wrong"), ("token", &token)],
                401,
            ),
            (vec![("client_id", id)], 400),
            (vec![("token", &token)], 400),
        ] {
            assert_eq!(revoke(&fields).await.status, status, "{fields:?}");
            assert_eq!(program.get("/profile").await.status, 200, "{fields:?}");
        }
        let fields = [
            ("client_id", id),
            ("client_secret", secret),
            ("token", &token),
            ("token_type_hint", "x"),
        ];
        for _ in 0..2 {
            assert_eq!(revoke(&fields).await.json(), json!({}));
        }
        assert_eq!(program.get("/profile").await.status, 401, "{half}");
        let refresh = field(&issued, "refresh_token");
        let refresh = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.as_str()),
        ];
        assert_eq!(app.token(&client, &refresh).await.status, 400);
    }
    assert_eq!(ada.get("/profile").await.status, 200);
}

#[tokio::test]
async fn users_list_and_revoke_authorized_clients() {
    let app = TestApp::new().await;
    let (ada, client, _) = set_up(&app).await;
    let bob = app.user("bob").await;
    let code = Browser::new(&app)
        .get_code(&client.query("vpc:read_only"), "ada")
        .await;
    let issued = app.token(&client, &[("code", &code)]).await;
    let program = app.with_token(&field(&issued, "access_token"));

    let apps = ada.get("/profile/apps").await.data();

    let expected = json!({
        "id": 1, "label": "Dashboard", "scopes": "vpc:read_only", "website": null,
        "created": "2024-06-01T12:00:00", "expiry": "2024-07-01T12:00:00", "thumbnail_url": null,
    });
    assert_eq!(apps, std::slice::from_ref(&expected));
    let path = "/profile/apps/1";
    assert_eq!(ada.get(path).await.json(), expected);
    for (filter, count) in [
        (r#"{"scopes": "vpc:read_only"}"#, 1),
        (r#"{"expiry": {"+lt": "2024-07-01T12:00:00"}}"#, 0),
        (r#"{"label": {"+contains": "dash"}, "id": 1}"#, 1),
    ] {
        assert_eq!(
            ada.filter("/profile/apps", filter).await.data().len(),
            count,
            "{filter}"
        );
    }
    assert_eq!(bob.count("/profile/apps").await, 0);
    assert_eq!(bob.delete(path).await.status, 404);
    assert_eq!(ada.delete(path).await.json(), json!({}));
    assert_eq!(program.get("/profile").await.status, 401);
    assert_eq!(ada.get(path).await.status, 404);
}

#[tokio::test]
async fn tokens_are_revoked_with_their_client_and_their_user() {
    let app = TestApp::new().await;
    let (ada, client, other) = set_up(&app).await;
    app.user("bob").await;
    app.set_password("bob").await;
    let mut programs = Vec::new();
    for user in ["ada", "bob"] {
        let code = Browser::new(&app).get_code(&client.query("*"), user).await;
        let issued = app.token(&client, &[("code", &code)]).await;
        programs.push((
            app.with_token(&field(&issued, "access_token")),
            field(&issued, "refresh_token"),
        ));
    }
    let status = async |at: usize| programs[at].0.get("/profile").await.status.as_u16();
    ada.delete("/account/users/bob").await;
    assert_eq!((status(0).await, status(1).await), (200, 401));
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", programs[1].1.as_str()),
    ];
    assert_eq!(app.token(&client, &refresh).await.status, 400);
    ada.delete(&format!("/account/oauth-clients/{}", other.id)).await;
    assert_eq!(status(0).await, 200);
    ada.delete(&format!("/account/oauth-clients/{}", client.id)).await;
    assert_eq!(status(0).await, 401);
    let apps: Value = ada.get("/profile/apps").await.json();
    assert_eq!(apps["results"], 0);
}

#[tokio::test]
async fn a_disabled_user_gets_no_tokens_and_keeps_the_refresh_token() {
    let app = TestApp::new().await;
    let (_, client, _) = set_up(&app).await;
    let sam = app.user("sam").staff().await;
    let code = Browser::new(&app).get_code(&client.query("*"), "ada").await;
    let issued = app.token(&client, &[("code", &code)]).await;
    let refresh = field(&issued, "refresh_token");
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.as_str()),
    ];
    let path = "/provider/accounts/1/users/ada";
    assert_eq!(sam.put(path, json!({"disabled": true})).await.status, 200);

    let refreshed = app.token(&client, &form).await;

    assert_eq!(
        refusal(&refreshed),
        refused(400, "invalid_grant", "refresh_token refresh_token_invalid")
    );
    sam.put(path, json!({"disabled": false})).await;
    assert_eq!(app.token(&client, &form).await.status, 200);
}

#[tokio::test]
async fn a_client_of_a_suspended_account_is_refused() {
    let app = TestApp::new().await;
    let (_, client, _) = set_up(&app).await;
    let sam = app.user("sam").staff().await;
    let code = Browser::new(&app).get_code(&client.query("*"), "ada").await;
    let suspended = sam.post("/provider/accounts/1/suspend", json!({})).await;
    assert_eq!(suspended.status, 200, "{suspended}");

    let issued = app.token(&client, &[("code", &code)]).await;

    assert_eq!(field(&issued, "error"), "invalid_client", "{issued}");
    let page = Browser::new(&app)
        .open_authorization_page(&client.query("*"))
        .await;
    assert_eq!(page.status, 400, "{page}");
}
