//! Tokens, applications and OAuth clients in the console.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::{Browser, hidden_field, text};
use crate::console::account::version;
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser};
use crate::harness::{Reply, TestApp};

/// The secret that a page shows once.
pub fn secret(page: &Reply) -> String {
    let html = text(page);
    let rest = html
        .split_once("<code id=\"secret\" tabindex=\"0\">")
        .unwrap_or_else(|| panic!("no secret on {html}"))
        .1;
    rest.split('<').next().expect("it ends").to_owned()
}

#[tokio::test]
async fn a_token_is_shown_once_and_works_until_it_is_revoked() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/tokens/new").await;
    let none = [
        ("label", "<b>ci"),
        ("access", "chosen"),
        ("expiry", "30"),
        ("scopes.vpc", ""),
    ];
    let again = ada.submit(&form, "/account/tokens/new", &none).await;
    assert_eq!(again.status, 400);
    assert_contains(&again, "id=\"f-scopes-wrong\"");
    assert_contains(&again, "value=\"&lt;b&gt;ci\"");
    assert_contains(&again, "<option value=\"30\" selected>");
    assert_lacks(&again, "id=\"secret\"");

    let fields = [
        ("label", "<b>ci"),
        ("access", "chosen"),
        ("expiry", "30"),
        ("scopes.vpc", "read_only"),
        ("scopes.events", "read_write"),
    ];
    let created = ada.submit(&form, "/account/tokens/new", &fields).await;
    assert_eq!(created.status, 200, "{created}");
    assert_eq!(created.header("cache-control"), "no-store");
    let token = secret(&created);
    assert_eq!(token.len(), 64);
    // The command can be pasted into a terminal.
    let address = app.address;
    assert_contains(
        &created,
        &format!("curl -H &quot;Authorization: Bearer {token}&quot; http://{address}/v4/vpcs<"),
    );
    let program = app.with_token(&token);
    assert_eq!(program.get("/vpcs").await.status, 200);
    assert_eq!(
        program
            .post("/vpcs", json!({"label": "x", "region": "us-east"}))
            .await
            .status,
        401,
        "the token is read-only"
    );
    let list = ada.get("/account/tokens").await;
    for expected in [
        "&lt;b&gt;ci",
        &token[..16],
        "vpc:read_only",
        "events:read_write",
        "2024-07-01T12:00:00Z",
    ] {
        assert_contains(&list, expected);
    }
    for page in ["/account/tokens", "/account/tokens/new", "/account"] {
        assert_lacks(&ada.get(page).await, &token);
    }
    let of_it = text(&list);
    let of_it = of_it.split_once("&lt;b&gt;ci").expect("the object is listed").1;
    let id = of_it
        .split("/account/tokens/")
        .find_map(|rest| rest.split_once("/revoke").map(|(id, _)| id.to_owned()))
        .expect("a link");
    let revoke = format!("/account/tokens/{id}/revoke");
    let confirmation = ada.get(&revoke).await;
    assert_lacks(&confirmation, &token);
    assert_eq!(
        program.get("/vpcs").await.status,
        200,
        "the confirmation page revokes nothing"
    );
    let tag = version(&confirmation);
    assert_redirects_to(
        &ada.submit(&confirmation, &revoke, &[("version", &tag)]).await,
        "/account/tokens?done=token-revoked",
    );
    assert_eq!(program.get("/vpcs").await.status, 401);
    assert_lacks(&ada.get("/account/tokens").await, "&lt;b&gt;ci");
}

#[tokio::test]
async fn a_token_or_client_form_that_is_submitted_twice_creates_one() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let to = "/account/tokens/new";
    let form = ada.get(to).await;
    let newest = hidden_field(&form, "newest");
    let fields = [
        ("newest", newest.as_str()),
        ("label", "ci"),
        ("access", "all"),
        ("expiry", "30"),
    ];
    let created = ada.submit(&form, to, &fields).await;
    let program = app.with_token(&secret(&created));
    let count = program.get("/profile/tokens").await.ids().len();
    app.advance(60);
    let again = ada.submit(&form, to, &fields).await;
    assert_eq!(again.status, 409, "{again}");
    assert_contains(&again, "This token was already created");
    assert_contains(&again, "href=\"/account/tokens\"");
    assert_lacks(&again, "id=\"secret\"");
    assert_eq!(program.get("/profile/tokens").await.ids().len(), count);
    // Another label, other scopes or a new form create another token.
    let other = [
        ("newest", newest.as_str()),
        ("label", "ci 2"),
        ("access", "all"),
        ("expiry", "30"),
    ];
    secret(&ada.submit(&form, to, &other).await);
    let narrow = [
        ("newest", newest.as_str()),
        ("label", "ci"),
        ("access", "chosen"),
        ("scopes.vpc", "read_only"),
        ("expiry", "30"),
    ];
    secret(&ada.submit(&form, to, &narrow).await);
    let form = ada.get(to).await;
    let fresh = hidden_field(&form, "newest");
    let meant = [
        ("newest", fresh.as_str()),
        ("label", "ci"),
        ("access", "all"),
        ("expiry", "30"),
    ];
    secret(&ada.submit(&form, to, &meant).await);
    assert_eq!(program.get("/profile/tokens").await.ids().len(), count + 3);

    let to = "/account/clients/new";
    let form = ada.get(to).await;
    let newest = hidden_field(&form, "newest");
    let fields = [
        ("newest", newest.as_str()),
        ("label", "Dashboard"),
        ("redirect_uri", "https://app.example/back"),
    ];
    secret(&ada.submit(&form, to, &fields).await);
    let again = ada.submit(&form, to, &fields).await;
    assert_eq!(again.status, 409, "{again}");
    assert_contains(&again, "This client was already created");
    assert_contains(&again, "href=\"/account/clients\"");
    assert_lacks(&again, "id=\"secret\"");
    let clients = program.get("/account/oauth-clients").await;
    assert_eq!(clients.json()["results"], 1, "{clients}");
    let fresh = hidden_field(&ada.get(to).await, "newest");
    let meant = [
        ("newest", fresh.as_str()),
        ("label", "Dashboard"),
        ("redirect_uri", "https://app.example/back"),
    ];
    secret(&ada.submit(&form, to, &meant).await);
}

#[tokio::test]
async fn a_token_is_renamed() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/tokens/new").await;
    let fields = [("label", "ci"), ("access", "all"), ("expiry", "30")];
    let program = app.with_token(&secret(&ada.submit(&form, "/account/tokens/new", &fields).await));
    let tokens = program.get("/profile/tokens").await;
    let id = *tokens.ids().last().expect("the newest");
    let path = format!("/account/tokens/{id}/edit");
    assert_contains(&ada.get("/account/tokens").await, &format!("href=\"{path}\""));
    let form = ada.get(&path).await;
    assert_contains(&form, "value=\"ci\"");
    let tag = version(&form);
    let long = "x".repeat(101);
    let refused = ada
        .submit(&form, &path, &[("version", &tag), ("label", &long)])
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, &format!("value=\"{long}\""));
    assert_contains(&refused, "id=\"f-label-wrong\"");
    let fields = [("version", tag.as_str()), ("label", "<b>build 3")];
    assert_redirects_to(
        &ada.submit(&form, &path, &fields).await,
        "/account/tokens?done=token-changed",
    );
    assert_contains(&ada.get("/account/tokens").await, "&lt;b&gt;build 3");
    let token = program.get(&format!("/profile/tokens/{id}")).await;
    assert_eq!(token.json()["label"], "<b>build 3");
    let late = ada.submit(&form, &path, &fields).await;
    assert_eq!(late.status, 412);
    assert_contains(&late, "This was changed after you opened the page");

    app.user("eve").await;
    app.set_password("eve").await;
    let mut eve = browser(&app, "eve").await;
    assert_eq!(eve.get(&path).await.status, 404, "tokens belong to their user");
}

#[tokio::test]
async fn a_token_with_full_access_and_no_expiry_needs_explicit_choices() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/tokens/new").await;
    let all = [("label", ""), ("access", "all"), ("expiry", "never")];
    let created = ada.submit(&form, "/account/tokens/new", &all).await;
    let program = app.with_token(&secret(&created));
    assert_eq!(program.get("/profile/tokens").await.data()[0]["scopes"], "*");
    assert_contains(&ada.get("/account/tokens").await, "(no label)");
    let odd = [("access", "all"), ("expiry", "yesterday")];
    let refused = ada.submit(&form, "/account/tokens/new", &odd).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "id=\"f-expiry-wrong\"");
    // The tokens of other users are not found.
    app.user("bob").await;
    app.set_password("bob").await;
    let mut bob = browser(&app, "bob").await;
    for id in 1..5 {
        assert_eq!(
            bob.get(&format!("/account/tokens/{id}/revoke"))
                .await
                .status
                .as_u16(),
            if owns_token(&app, "bob", id).await {
                200
            } else {
                404
            }
        );
    }
}

async fn owns_token(app: &TestApp, username: &str, id: i64) -> bool {
    let name = username.to_owned();
    let tokens = app
        .store
        .read(move |tx| garth::rules::tokens::list(tx, &name))
        .await;
    tokens
        .expect("the user exists")
        .iter()
        .any(|token| token.id.0 == id)
}

#[tokio::test]
async fn an_application_is_listed_and_revoked() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    let client = app.client(&maker, false).await;
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/account/apps").await, "No applications");
    let mut other = Browser::new(&app);
    let code = other.get_code(&client.query("vpc:read_only"), "ada").await;
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str())];
    let token = app.token(&client, &fields).await.json()["access_token"]
        .as_str()
        .expect("a token")
        .to_owned();
    assert_eq!(app.with_token(&token).get("/vpcs").await.status, 200);

    let list = ada.get("/account/apps").await;
    assert_contains(&list, "Dashboard");
    assert_contains(&list, "vpc:read_only");
    let revoke = "/account/apps/1/revoke";
    let confirmation = ada.get(revoke).await;
    let tag = version(&confirmation);
    assert_redirects_to(
        &ada.submit(&confirmation, revoke, &[("version", &tag)]).await,
        "/account/apps?done=app-revoked",
    );
    assert_eq!(app.with_token(&token).get("/vpcs").await.status, 401);
}

#[tokio::test]
async fn read_only_account_access_lists_clients_without_changing_them() {
    let app = app_with_ada().await;
    app.user("rex")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    app.set_password("rex").await;
    let maker = app.user("maker").await;
    let client = app.client(&maker, false).await;
    let mut rex = browser(&app, "rex").await;
    let list = rex.get("/account/clients").await;
    assert_contains(&list, "Dashboard");
    assert_lacks(&list, "/account/clients/new");
    assert_lacks(&list, "Reset secret");
    let edit = format!("/account/clients/{}/edit", client.id);
    assert_eq!(rex.get(&edit).await.status, 403);
    assert_eq!(rex.get("/account/users").await.status, 403);
}

#[tokio::test]
async fn a_client_is_created_gets_a_new_secret_and_is_deleted() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/account/clients").await, "No OAuth clients yet");
    let form = ada.get("/account/clients/new").await;
    let wrong = [
        ("label", "<i>Board"),
        ("redirect_uri", "javascript:alert(1)"),
        ("public", "true"),
    ];
    let again = ada.submit(&form, "/account/clients/new", &wrong).await;
    assert_eq!(again.status, 400);
    for expected in [
        "id=\"f-redirect-uri-wrong\"",
        "value=\"&lt;i&gt;Board\"",
        "value=\"javascript:alert(1)\"",
        "name=\"public\" value=\"true\" checked",
    ] {
        assert_contains(&again, expected);
    }
    let fields = [("label", "<i>Board"), ("redirect_uri", crate::browser::CALLBACK)];
    let created = ada.submit(&form, "/account/clients/new", &fields).await;
    let first = secret(&created);
    let list = ada.get("/account/clients").await;
    assert_contains(&list, "&lt;i&gt;Board");
    assert_lacks(&list, &first);
    let id = text(&list)
        .split("/account/clients/")
        .find_map(|rest| rest.split_once("/edit").map(|(id, _)| id.to_owned()))
        .expect("a link");
    assert_eq!(id.len(), 20);

    let reset = format!("/account/clients/{id}/reset");
    let confirmation = ada.get(&reset).await;
    assert_lacks(&confirmation, &first);
    let tag = version(&confirmation);
    let second = secret(&ada.submit(&confirmation, &reset, &[("version", &tag)]).await);
    assert_ne!(first, second);
    for (secret, status) in [(first, 401), (second, 400)] {
        let client = crate::browser::Client {
            id: id.clone(),
            secret,
        };
        let fields = [("grant_type", "authorization_code"), ("code", "none")];
        assert_eq!(app.token(&client, &fields).await.status.as_u16(), status);
    }

    let edit = format!("/account/clients/{id}/edit");
    let page = ada.get(&edit).await;
    let tag = version(&page);
    let changed = [
        ("version", tag.as_str()),
        ("label", "Board"),
        ("redirect_uri", crate::browser::CALLBACK),
    ];
    assert_redirects_to(
        &ada.submit(&page, &edit, &changed).await,
        "/account/clients?done=client-changed",
    );
    assert_eq!(ada.submit(&page, &edit, &changed).await.status, 412);
    let delete = format!("/account/clients/{id}/delete");
    let confirmation = ada.get(&delete).await;
    let tag = version(&confirmation);
    let fields = [("version", tag.as_str()), ("label", "Board")];
    assert_redirects_to(
        &ada.submit(&confirmation, &delete, &fields).await,
        "/account/clients?done=client-deleted",
    );
    assert_contains(&ada.get("/account/clients").await, "No OAuth clients yet");
}
