//! The account in the console: profile, password, tokens, applications, users, grants, clients, quotas.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::{Browser, PASSWORD, hidden, text};
use crate::console::{browser, has, lacks, leads_to, links, with_ada};
use crate::harness::{Reply, TestApp};

const LONGER: &str = "a rather longer passphrase";

/// The secret that a page shows once.
fn secret(page: &Reply) -> String {
    let html = text(page);
    let rest = html
        .split_once("<code id=\"secret\" tabindex=\"0\">")
        .unwrap_or_else(|| panic!("no secret on {html}"))
        .1;
    rest.split('<').next().expect("it ends").to_owned()
}

/// The state of a thing as the page shows it.
fn seen(page: &Reply) -> String {
    crate::browser::hidden(page, "seen")
}

#[tokio::test]
async fn a_profile_is_changed_and_a_mistake_keeps_what_was_typed() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/account").await;
    let seen = seen(&page);
    let wrong = [
        ("seen", seen.as_str()),
        ("email", "\"><script>"),
        ("timezone", "no where"),
        ("email_notifications", "true"),
    ];
    let again = ada.submits(&page, "/account", &wrong).await;
    assert_eq!(again.status, 400);
    for wanted in [
        "value=\"&quot;&gt;&lt;script&gt;\"",
        "value=\"no where\"",
        "2 things are not right yet",
        "id=\"f-email-wrong\"",
        "id=\"f-timezone-wrong\"",
        "name=\"email_notifications\" value=\"true\" checked",
    ] {
        has(&again, wanted);
    }
    lacks(&again, "<script>");

    let right = [
        ("seen", seen.as_str()),
        ("email", "ada@new.example"),
        ("timezone", "Europe/Berlin"),
    ];
    leads_to(
        &ada.submits(&page, "/account", &right).await,
        "/account?done=profile-changed",
    );
    let page = ada.get("/account?done=profile-changed").await;
    for wanted in ["Your profile was changed.", "ada@new.example", "Europe/Berlin"] {
        has(&page, wanted);
    }
    lacks(&page, "value=\"true\" checked");
    // The page it was first on shows what is no longer so.
    assert_eq!(ada.submits(&page, "/account", &right).await.status, 412);
}

#[tokio::test]
async fn a_password_is_changed_with_the_old_one_and_ends_all_other_sessions() {
    let app = with_ada().await;
    let (mut ada, mut elsewhere) = (browser(&app, "ada").await, browser(&app, "ada").await);
    let page = ada.get("/account").await;
    let fields = |old: &'static str, new: &'static str, again: &'static str| {
        [("old_password", old), ("password", new), ("again", again)]
    };
    for (fields, id, reason) in [
        (
            fields("wrong", LONGER, LONGER),
            "f-old-password-wrong",
            "This is not your password",
        ),
        (
            fields(PASSWORD, LONGER, "else"),
            "f-again-wrong",
            "The two passwords differ",
        ),
        (
            fields(PASSWORD, "short", "short"),
            "f-password-wrong",
            "at least 11 characters",
        ),
    ] {
        let refused = ada.submits(&page, "/account/password", &fields).await;
        assert_eq!(refused.status, 400, "{id}");
        has(&refused, &format!("id=\"{id}\""));
        has(&refused, reason);
        // What was typed there is the one thing that is not shown again.
        lacks(&refused, PASSWORD);
        lacks(&refused, LONGER);
    }
    let before = ada.cookies.clone();
    let changed = ada
        .submits(&page, "/account/password", &fields(PASSWORD, LONGER, LONGER))
        .await;
    leads_to(&changed, "/account?done=password-changed");
    assert_ne!(ada.cookies, before, "the session is a new one");
    assert_eq!(ada.get("/account").await.status, 200);
    assert_eq!(elsewhere.get("/account").await.status, 303);
    let mut thief = Browser::new(&app);
    thief.cookies = before;
    assert_eq!(thief.get("/account").await.status, 303);

    let page = ada.get("/account").await;
    assert_eq!(
        ada.submits(&page, "/account/password", &fields(PASSWORD, LONGER, LONGER))
            .await
            .status,
        400,
        "the old one is the old one no longer"
    );
}

#[tokio::test]
async fn guesses_at_the_old_password_are_counted_as_at_the_door() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/account").await;
    let guess = [("old_password", "wrong"), ("password", LONGER), ("again", LONGER)];
    for _ in 0..5 {
        assert_eq!(ada.submits(&page, "/account/password", &guess).await.status, 400);
    }
    let right = [
        ("old_password", PASSWORD),
        ("password", LONGER),
        ("again", LONGER),
    ];
    let locked = ada.submits(&page, "/account/password", &right).await;
    assert_eq!(locked.status, 429);
    assert_eq!(locked.header("retry-after"), "30");
    app.advance(31);
    leads_to(
        &ada.submits(&page, "/account/password", &right).await,
        "/account?done=password-changed",
    );
}

#[tokio::test]
async fn a_token_is_shown_once_works_and_ends_when_it_is_revoked() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/tokens/new").await;
    let none = [
        ("label", "<b>ci"),
        ("access", "chosen"),
        ("expiry", "30"),
        ("scopes.vpc", ""),
    ];
    let again = ada.submits(&form, "/account/tokens/new", &none).await;
    assert_eq!(again.status, 400);
    has(&again, "id=\"f-scopes-wrong\"");
    has(&again, "value=\"&lt;b&gt;ci\"");
    has(&again, "<option value=\"30\" selected>");
    lacks(&again, "id=\"secret\"");

    let fields = [
        ("label", "<b>ci"),
        ("access", "chosen"),
        ("expiry", "30"),
        ("scopes.vpc", "read_only"),
        ("scopes.events", "read_write"),
    ];
    let made = ada.submits(&form, "/account/tokens/new", &fields).await;
    assert_eq!(made.status, 200, "{made}");
    assert_eq!(made.header("cache-control"), "no-store");
    let token = secret(&made);
    assert_eq!(token.len(), 64);
    let program = app.with_token(&token);
    assert_eq!(program.get("/vpcs").await.status, 200);
    assert_eq!(
        program
            .post("/vpcs", json!({"label": "x", "region": "us-east"}))
            .await
            .status,
        401,
        "it may only look"
    );
    let list = ada.get("/account/tokens").await;
    for wanted in [
        "&lt;b&gt;ci",
        &token[..16],
        "vpc:read_only",
        "events:read_write",
        "2024-07-01T12:00:00Z",
    ] {
        has(&list, wanted);
    }
    for page in ["/account/tokens", "/account/tokens/new", "/account"] {
        lacks(&ada.get(page).await, &token);
    }
    let of_it = text(&list);
    let of_it = of_it.split_once("&lt;b&gt;ci").expect("it is listed").1;
    let id = of_it
        .split("/account/tokens/")
        .find_map(|rest| rest.split_once("/revoke").map(|(id, _)| id.to_owned()))
        .expect("a link");
    let revoke = format!("/account/tokens/{id}/revoke");
    let ask = ada.get(&revoke).await;
    lacks(&ask, &token);
    assert_eq!(program.get("/vpcs").await.status, 200, "looking revokes nothing");
    let seen = seen(&ask);
    leads_to(
        &ada.submits(&ask, &revoke, &[("seen", &seen)]).await,
        "/account/tokens?done=token-revoked",
    );
    assert_eq!(program.get("/vpcs").await.status, 401);
    lacks(&ada.get("/account/tokens").await, "&lt;b&gt;ci");
}

#[tokio::test]
async fn the_page_of_a_new_token_or_client_makes_no_second_one_when_it_is_loaded_again() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let to = "/account/tokens/new";
    let form = ada.get(to).await;
    let newest = hidden(&form, "newest");
    let fields = [
        ("newest", newest.as_str()),
        ("label", "ci"),
        ("access", "all"),
        ("expiry", "30"),
    ];
    let made = ada.submits(&form, to, &fields).await;
    let program = app.with_token(&secret(&made));
    let count = program.get("/profile/tokens").await.ids().len();
    app.advance(60);
    let again = ada.submits(&form, to, &fields).await;
    assert_eq!(again.status, 409, "{again}");
    has(&again, "This token was made already");
    has(&again, "href=\"/account/tokens\"");
    lacks(&again, "id=\"secret\"");
    assert_eq!(program.get("/profile/tokens").await.ids().len(), count);
    // Another label, other scopes or a form of its own make another token.
    let other = [
        ("newest", newest.as_str()),
        ("label", "ci 2"),
        ("access", "all"),
        ("expiry", "30"),
    ];
    secret(&ada.submits(&form, to, &other).await);
    let narrow = [
        ("newest", newest.as_str()),
        ("label", "ci"),
        ("access", "chosen"),
        ("scopes.vpc", "read_only"),
        ("expiry", "30"),
    ];
    secret(&ada.submits(&form, to, &narrow).await);
    let form = ada.get(to).await;
    let fresh = hidden(&form, "newest");
    let meant = [
        ("newest", fresh.as_str()),
        ("label", "ci"),
        ("access", "all"),
        ("expiry", "30"),
    ];
    secret(&ada.submits(&form, to, &meant).await);
    assert_eq!(program.get("/profile/tokens").await.ids().len(), count + 3);

    let to = "/account/clients/new";
    let form = ada.get(to).await;
    let newest = hidden(&form, "newest");
    let fields = [
        ("newest", newest.as_str()),
        ("label", "Dashboard"),
        ("redirect_uri", "https://app.example/back"),
    ];
    secret(&ada.submits(&form, to, &fields).await);
    let again = ada.submits(&form, to, &fields).await;
    assert_eq!(again.status, 409, "{again}");
    has(&again, "This client was made already");
    has(&again, "href=\"/account/clients\"");
    lacks(&again, "id=\"secret\"");
    let clients = program.get("/account/oauth-clients").await;
    assert_eq!(clients.json()["results"], 1, "{clients}");
    let fresh = hidden(&ada.get(to).await, "newest");
    let meant = [
        ("newest", fresh.as_str()),
        ("label", "Dashboard"),
        ("redirect_uri", "https://app.example/back"),
    ];
    secret(&ada.submits(&form, to, &meant).await);
}

#[tokio::test]
async fn logging_in_elsewhere_is_no_change_to_an_open_form() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let (profile, user) = (
        ada.get("/account").await,
        ada.get("/account/users/ada/edit").await,
    );
    let (of_profile, of_user) = (seen(&profile), seen(&user));
    app.advance(60);
    browser(&app, "ada").await;
    let fields = [
        ("seen", of_user.as_str()),
        ("username", "ada"),
        ("email", "ada@one.example"),
    ];
    leads_to(
        &ada.submits(&user, "/account/users/ada/edit", &fields).await,
        "/account/users/ada?done=user-changed",
    );
    let fields = [
        ("seen", of_profile.as_str()),
        ("email", "ada@two.example"),
        ("timezone", "GMT"),
    ];
    let late = ada.submits(&profile, "/account", &fields).await;
    assert_eq!(late.status, 412, "the address was changed meanwhile");
    let profile = ada.get("/account").await;
    let of_profile = seen(&profile);
    app.advance(60);
    browser(&app, "ada").await;
    let fields = [
        ("seen", of_profile.as_str()),
        ("email", "ada@two.example"),
        ("timezone", "GMT"),
    ];
    leads_to(
        &ada.submits(&profile, "/account", &fields).await,
        "/account?done=profile-changed",
    );
}

#[tokio::test]
async fn nothing_is_offered_that_is_refused_for_oneself() {
    let app = with_ada().await;
    app.user("bob").await;
    let mut ada = browser(&app, "ada").await;
    lacks(&ada.get("/account/users/ada").await, "/account/users/ada/delete");
    let edit = ada.get("/account/users/ada/edit").await;
    lacks(&edit, "name=\"restricted\"");
    has(&edit, "You cannot restrict yourself");
    has(&ada.get("/account/users/bob/edit").await, "name=\"restricted\"");
    let delete = ada.get("/account/users/ada/delete").await;
    assert_eq!(delete.status, 400);
    has(&delete, "You cannot delete yourself");
    lacks(&delete, "<form class=\"card");

    // A new token may look at networks unless something else is chosen.
    let form = ada.get("/account/tokens/new").await;
    has(&form, "name=\"scopes.vpc\" value=\"read_only\" checked");
    let fields = [
        ("newest", hidden(&form, "newest")),
        ("label", String::new()),
        ("access", "chosen".to_owned()),
        ("expiry", "90".to_owned()),
        ("scopes.vpc", "read_only".to_owned()),
    ];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    secret(&ada.submits(&form, "/account/tokens/new", &fields).await);
}

#[tokio::test]
async fn complaints_name_fields_as_the_page_does() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/clients/new").await;
    let wrong = [("label", "x"), ("redirect_uri", "nowhere")];
    let again = ada.submits(&form, "/account/clients/new", &wrong).await;
    has(
        &again,
        "<a href=\"#f-redirect-uri\">Address to send browsers back to</a>",
    );
    let form = ada.get("/account/tokens/new").await;
    let wrong = [("access", "chosen"), ("expiry", "30")];
    let again = ada.submits(&form, "/account/tokens/new", &wrong).await;
    has(&again, "<a href=\"#f-scopes\">May be used for</a>");
    has(&again, "Choose at least one family, or everything");
    let form = ada.get("/account").await;
    let wrong = [("email", "x"), ("timezone", "no where")];
    let again = ada.submits(&form, "/account", &wrong).await;
    has(&again, "<a href=\"#f-email\">E-mail</a>");
    has(&again, "<a href=\"#f-timezone\">Time zone</a>");
    let form = ada.get("/tickets/new").await;
    let wrong = [
        ("summary", ""),
        ("description", ""),
        ("about_kind", "vpc_id"),
        ("about_id", "77"),
    ];
    let again = ada.submits(&form, "/tickets/new", &wrong).await;
    has(&again, "<a href=\"#f-summary\">Subject</a>");
    has(&again, "<a href=\"#f-description\">What is going on?</a>");
    has(&again, "<a href=\"#f-about-id\">Id</a>");
    has(&again, "There is no VPC with this id");
    lacks(&again, "vpc_id is");
    let twice = [
        ("summary", "x"),
        ("description", "y"),
        ("about", "vpc_id:1"),
        ("about_kind", "linode_id"),
        ("about_id", "7"),
    ];
    let again = ada.submits(&form, "/tickets/new", &twice).await;
    has(&again, "about one thing only: choose");
    lacks(&again, "you set");

    let ticket = json!({"summary": "Help", "description": "It is down."});
    assert_eq!(
        app.user("bob")
            .await
            .post("/support/tickets", ticket)
            .await
            .status,
        200
    );
    let (grace, sam) = (app.user("grace").staff().await, app.user("sam").staff().await);
    let claim = "/desk/tickets/1/claim";
    assert_eq!(grace.post(claim, json!({})).await.status, 200);
    let refused = sam.post(claim, json!({})).await;
    has(&refused, "grace has taken this ticket");
    lacks(&refused, "take_over");
}

#[tokio::test]
async fn a_token_gets_another_label() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/tokens/new").await;
    let fields = [("label", "ci"), ("access", "all"), ("expiry", "30")];
    let program = app.with_token(&secret(&ada.submits(&form, "/account/tokens/new", &fields).await));
    let tokens = program.get("/profile/tokens").await;
    let id = *tokens.ids().last().expect("the newest");
    let here = format!("/account/tokens/{id}/edit");
    has(&ada.get("/account/tokens").await, &format!("href=\"{here}\""));
    let form = ada.get(&here).await;
    has(&form, "value=\"ci\"");
    let tag = seen(&form);
    let long = "x".repeat(101);
    let refused = ada
        .submits(&form, &here, &[("seen", &tag), ("label", &long)])
        .await;
    assert_eq!(refused.status, 400);
    has(&refused, &format!("value=\"{long}\""));
    has(&refused, "id=\"f-label-wrong\"");
    let fields = [("seen", tag.as_str()), ("label", "<b>build 3")];
    leads_to(
        &ada.submits(&form, &here, &fields).await,
        "/account/tokens?done=token-changed",
    );
    has(&ada.get("/account/tokens").await, "&lt;b&gt;build 3");
    let token = program.get(&format!("/profile/tokens/{id}")).await;
    assert_eq!(token.json()["label"], "<b>build 3");
    let late = ada.submits(&form, &here, &fields).await;
    assert_eq!(late.status, 412);
    has(&late, "Somebody has changed it");

    app.user("eve").await;
    app.set_password("eve").await;
    let mut eve = browser(&app, "eve").await;
    assert_eq!(eve.get(&here).await.status, 404, "tokens are one's own");
}

#[tokio::test]
async fn a_token_for_everything_and_for_ever_is_one_that_was_asked_for() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/tokens/new").await;
    let all = [("label", ""), ("access", "all"), ("expiry", "never")];
    let made = ada.submits(&form, "/account/tokens/new", &all).await;
    let program = app.with_token(&secret(&made));
    assert_eq!(program.get("/profile/tokens").await.data()[0]["scopes"], "*");
    has(&ada.get("/account/tokens").await, "Without a label");
    let odd = [("access", "all"), ("expiry", "yesterday")];
    let refused = ada.submits(&form, "/account/tokens/new", &odd).await;
    assert_eq!(refused.status, 400);
    has(&refused, "id=\"f-expiry-wrong\"");
    // Nobody gets at another's tokens.
    app.user("bob").await;
    app.set_password("bob").await;
    let mut bob = browser(&app, "bob").await;
    for id in 1..5 {
        assert_eq!(
            bob.get(&format!("/account/tokens/{id}/revoke"))
                .await
                .status
                .as_u16(),
            if app_owns(&app, "bob", id).await { 200 } else { 404 }
        );
    }
}

async fn app_owns(app: &TestApp, username: &str, id: i64) -> bool {
    let name = username.to_owned();
    let tokens = app
        .store
        .read(move |tx| garth::rules::tokens::list(tx, &name))
        .await;
    tokens
        .expect("the user is there")
        .iter()
        .any(|token| token.id.0 == id)
}

#[tokio::test]
async fn an_application_is_listed_and_loses_its_access() {
    let app = with_ada().await;
    let maker = app.user("maker").await;
    let client = app.client(&maker, false).await;
    let mut ada = browser(&app, "ada").await;
    has(&ada.get("/account/apps").await, "No applications");
    let mut other = Browser::new(&app);
    let code = other.gets_code(&client.query("vpc:read_only"), "ada").await;
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str())];
    let token = app.token(&client, &fields).await.json()["access_token"]
        .as_str()
        .expect("a token")
        .to_owned();
    assert_eq!(app.with_token(&token).get("/vpcs").await.status, 200);

    let list = ada.get("/account/apps").await;
    has(&list, "Dashboard");
    has(&list, "vpc:read_only");
    let revoke = "/account/apps/1/revoke";
    let ask = ada.get(revoke).await;
    let seen = seen(&ask);
    leads_to(
        &ada.submits(&ask, revoke, &[("seen", &seen)]).await,
        "/account/apps?done=app-revoked",
    );
    assert_eq!(app.with_token(&token).get("/vpcs").await.status, 401);
}

#[tokio::test]
async fn a_user_is_made_invited_granted_something_renamed_and_deleted() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/new-user").await;
    let taken = [
        ("username", "ada"),
        ("email", "no address"),
        ("restricted", "true"),
    ];
    let again = ada.submits(&form, "/account/new-user", &taken).await;
    assert_eq!(again.status, 400);
    for wanted in [
        "id=\"f-username-wrong\"",
        "id=\"f-email-wrong\"",
        "value=\"no address\"",
    ] {
        has(&again, wanted);
    }
    // Somebody may be called like one of our pages.
    let fields = [
        ("username", "new"),
        ("email", "new@example.com"),
        ("restricted", "true"),
    ];
    leads_to(
        &ada.submits(&form, "/account/new-user", &fields).await,
        "/account/users/new?done=user-created",
    );
    let page = ada.get("/account/users/new").await;
    has(&page, "Cannot log in yet");
    let link = secret(&ada.submits(&page, "/account/users/new/link", &[]).await);
    let path = &link[link.find("/oauth/").expect("a path")..];
    let chosen = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(Browser::new(&app).post(path, &chosen).await.status, 200);
    let mut new = browser(&app, "new").await;
    lacks(&ada.get("/account/users/new").await, "Cannot log in yet");
    // Whoever has a password is not to be let in by others.
    let refused = ada.submits(&page, "/account/users/new/link", &[]).await;
    assert_eq!(refused.status, 400);
    lacks(&refused, "/oauth/password/");

    let vpc = app.user("maker").await.creates_vpc("core", &[]).await;
    assert_eq!(new.get(&format!("/vpcs/{vpc}")).await.status, 404);
    let grants = ada.get("/account/users/new/grants").await;
    let tag = seen(&grants);
    let wanted = [
        ("seen", tag.as_str()),
        ("global.account_access", "read_only"),
        ("global.add_vpcs", "true"),
        ("vpc[0].id", "1"),
        ("vpc[0].permissions", "read_write"),
    ];
    leads_to(
        &ada.submits(&grants, "/account/users/new/grants", &wanted).await,
        "/account/users/new?done=grants-changed",
    );
    assert_eq!(new.get(&format!("/vpcs/{vpc}/edit")).await.status, 200);
    assert_eq!(new.get("/vpcs/new").await.status, 200);
    let grants = ada.get("/account/users/new/grants").await;
    has(
        &grants,
        "name=\"vpc[0].permissions\" value=\"read_write\" checked",
    );
    has(&grants, "name=\"global.add_vpcs\" value=\"true\" checked");
    // What the form showed before is not so any more.
    assert_eq!(
        ada.submits(&grants, "/account/users/new/grants", &wanted)
            .await
            .status,
        412
    );
    let tag = seen(&grants);
    let fewer = [
        ("seen", tag.as_str()),
        ("vpc[0].id", "1"),
        ("vpc[0].permissions", ""),
    ];
    leads_to(
        &ada.submits(&grants, "/account/users/new/grants", &fewer).await,
        "/account/users/new?done=grants-changed",
    );
    assert_eq!(new.get(&format!("/vpcs/{vpc}")).await.status, 404);
    assert_eq!(new.get("/vpcs/new").await.status, 403);

    let edit = ada.get("/account/users/new/edit").await;
    let tag = seen(&edit);
    let renamed = [
        ("seen", tag.as_str()),
        ("username", "newer"),
        ("email", "new@example.com"),
    ];
    leads_to(
        &ada.submits(&edit, "/account/users/new/edit", &renamed).await,
        "/account/users/newer?done=user-changed",
    );
    has(&ada.get("/account/users/newer").await, "needs no grants");
    assert_eq!(ada.get("/account/users/newer/grants").await.status, 404);
    let ask = ada.get("/account/users/newer/delete").await;
    let tag = seen(&ask);
    let not_meant = [("seen", tag.as_str()), ("label", "new")];
    let refused = ada.submits(&ask, "/account/users/newer/delete", &not_meant).await;
    assert_eq!(refused.status, 400);
    has(&refused, "value=\"new\"");
    let meant = [("seen", tag.as_str()), ("label", "newer")];
    leads_to(
        &ada.submits(&ask, "/account/users/newer/delete", &meant).await,
        "/account/users?done=user-deleted",
    );
    assert_eq!(new.get("/account").await.status, 303, "their session is over");
}

#[tokio::test]
async fn nobody_restricts_or_deletes_themselves() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let edit = ada.get("/account/users/ada/edit").await;
    let tag = seen(&edit);
    let fields = [
        ("seen", tag.as_str()),
        ("username", "ada"),
        ("email", "kept@typed.example"),
        ("restricted", "true"),
    ];
    let refused = ada.submits(&edit, "/account/users/ada/edit", &fields).await;
    assert_eq!(refused.status, 400);
    has(
        &refused,
        "<a href=\"#f-restricted\">Restricted</a>: You cannot restrict yourself",
    );
    has(&refused, "value=\"kept@typed.example\"");
    let delete = [("label", "ada")];
    let refused = ada.submits(&edit, "/account/users/ada/delete", &delete).await;
    assert_eq!(refused.status, 400);
    has(&refused, "You cannot delete yourself");
}

#[tokio::test]
async fn restricted_users_see_only_what_is_theirs() {
    let app = with_ada().await;
    app.user("rex").restricted().await;
    app.set_password("rex").await;
    let maker = app.user("maker").await;
    let client = app.client(&maker, false).await;
    let mut rex = browser(&app, "rex").await;
    for page in ["/account", "/account/tokens", "/account/apps", "/account/quotas"] {
        let page = rex.get(page).await;
        assert_eq!(page.status, 200);
        lacks(&page, "/account/users");
        lacks(&page, "/account/clients");
    }
    let proof = rex.get("/account").await;
    let of_client = format!("/account/clients/{}", client.id);
    for (page, status) in [
        ("/account/users", 403),
        ("/account/new-user", 403),
        ("/account/users/ada", 403),
        ("/account/users/ada/edit", 403),
        ("/account/users/ada/delete", 403),
        ("/account/users/rex/grants", 403),
        ("/account/clients", 403),
        ("/account/clients/new", 403),
        (&format!("{of_client}/edit"), 403),
        (&format!("{of_client}/reset"), 403),
        (&format!("{of_client}/delete"), 403),
    ] {
        let reply = rex.get(page).await;
        assert_eq!(reply.status.as_u16(), status, "{page}: {reply}");
    }
    let grants = [("global.add_vpcs", "true")];
    for (page, fields) in [
        ("/account/users/rex/grants", &grants[..]),
        ("/account/users/ada/link", &[]),
        ("/account/users/ada/delete", &[("label", "ada")]),
        (
            "/account/new-user",
            &[("username", "evil"), ("email", "e@x.example")],
        ),
        (&format!("{of_client}/reset"), &[]),
        (&format!("{of_client}/delete"), &[("label", "Dashboard")]),
        (
            "/account/clients/new",
            &[("label", "x"), ("redirect_uri", "https://x.example")],
        ),
    ] {
        let reply = rex.submits(&proof, page, fields).await;
        assert_eq!(reply.status, 403, "{page}: {reply}");
    }
    assert_eq!(maker.get("/account/users/ada").await.status, 200);
    assert_eq!(rex.get("/vpcs/new").await.status, 403);
}

#[tokio::test]
async fn whoever_may_only_look_at_the_account_sees_its_clients_and_changes_none() {
    let app = with_ada().await;
    app.user("rex")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    app.set_password("rex").await;
    let maker = app.user("maker").await;
    let client = app.client(&maker, false).await;
    let mut rex = browser(&app, "rex").await;
    let list = rex.get("/account/clients").await;
    has(&list, "Dashboard");
    lacks(&list, "/account/clients/new");
    lacks(&list, "New secret");
    let edit = format!("/account/clients/{}/edit", client.id);
    assert_eq!(rex.get(&edit).await.status, 403);
    assert_eq!(rex.get("/account/users").await.status, 403);
}

#[tokio::test]
async fn a_client_is_made_with_a_secret_shown_once_gets_another_and_is_deleted() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    has(&ada.get("/account/clients").await, "No clients yet");
    let form = ada.get("/account/clients/new").await;
    let wrong = [
        ("label", "<i>Board"),
        ("redirect_uri", "javascript:alert(1)"),
        ("public", "true"),
    ];
    let again = ada.submits(&form, "/account/clients/new", &wrong).await;
    assert_eq!(again.status, 400);
    for wanted in [
        "id=\"f-redirect-uri-wrong\"",
        "value=\"&lt;i&gt;Board\"",
        "value=\"javascript:alert(1)\"",
        "name=\"public\" value=\"true\" checked",
    ] {
        has(&again, wanted);
    }
    let fields = [("label", "<i>Board"), ("redirect_uri", crate::browser::CALLBACK)];
    let made = ada.submits(&form, "/account/clients/new", &fields).await;
    let first = secret(&made);
    let list = ada.get("/account/clients").await;
    has(&list, "&lt;i&gt;Board");
    lacks(&list, &first);
    let id = text(&list)
        .split("/account/clients/")
        .find_map(|rest| rest.split_once("/edit").map(|(id, _)| id.to_owned()))
        .expect("a link");
    assert_eq!(id.len(), 20);

    let reset = format!("/account/clients/{id}/reset");
    let ask = ada.get(&reset).await;
    lacks(&ask, &first);
    let tag = seen(&ask);
    let second = secret(&ada.submits(&ask, &reset, &[("seen", &tag)]).await);
    assert_ne!(first, second);
    for (secret, status) in [(first, 401), (second, 400)] {
        let client = crate::browser::Client {
            id: id.clone(),
            secret,
        };
        let asked = [("grant_type", "authorization_code"), ("code", "none")];
        assert_eq!(app.token(&client, &asked).await.status.as_u16(), status);
    }

    let edit = format!("/account/clients/{id}/edit");
    let page = ada.get(&edit).await;
    let tag = seen(&page);
    let changed = [
        ("seen", tag.as_str()),
        ("label", "Board"),
        ("redirect_uri", crate::browser::CALLBACK),
    ];
    leads_to(
        &ada.submits(&page, &edit, &changed).await,
        "/account/clients?done=client-changed",
    );
    assert_eq!(ada.submits(&page, &edit, &changed).await.status, 412);
    let delete = format!("/account/clients/{id}/delete");
    let ask = ada.get(&delete).await;
    let tag = seen(&ask);
    let fields = [("seen", tag.as_str()), ("label", "Board")];
    leads_to(
        &ada.submits(&ask, &delete, &fields).await,
        "/account/clients?done=client-deleted",
    );
    has(&ada.get("/account/clients").await, "No clients yet");
}

#[tokio::test]
async fn quotas_tell_what_is_used_of_them() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    has(&ada.get("/account/quotas").await, "1,000 VPCs in each region");
    let maker = app.user("maker").await;
    maker.creates_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    maker.creates_vpc("edge", &[]).await;
    let page = ada.get("/account/quotas").await;
    for wanted in ["2 of 1,000", "0 of 1,000", ">core<"] {
        has(&page, wanted);
    }
    let core = text(&page).find(">core<");
    assert!(core < text(&page).find(">edge<"), "the fullest is first");
    let links = links(&page);
    let more = links.iter().find(|link| link.starts_with("/tickets/new?"));
    let form = ada.get(more.expect("a way to ask for more")).await;
    has(&form, "name=\"summary\" value=\"A larger quota\"");
}
