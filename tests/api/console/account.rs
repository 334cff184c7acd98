//! The account pages of the console: profile, password, error texts and quotas.

use serde_json::json;

use crate::browser::{Browser, PASSWORD, text};
use crate::console::{
    app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser, links, logged_in,
};
use crate::harness::{Reply, TestApp};

const LONGER: &str = "a rather longer passphrase";

/// The version of the resource that the page shows.
pub fn version(page: &Reply) -> String {
    crate::browser::hidden_field(page, "version")
}

#[tokio::test]
async fn a_profile_is_updated_and_errors_preserve_the_input() {
    let app = TestApp::new().await;
    let user = app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    let page = ada.get("/account").await;
    let tag = version(&page);
    let wrong = [
        ("version", tag.as_str()),
        ("email", "\"><script>"),
        ("timezone", "no where"),
    ];
    let again = ada.submit(&page, "/account", &wrong).await;
    assert_eq!(again.status, 400);
    for expected in [
        "value=\"&quot;&gt;&lt;script&gt;\"",
        "There are 2 problems",
        "id=\"f-email-wrong\"",
        "id=\"f-timezone-wrong\"",
    ] {
        assert_contains(&again, expected);
    }
    assert_lacks(&again, "<script>");
    // A well-formed name that is not in the list is refused, too.
    let unknown = [
        wrong[0],
        ("email", "ada@new.example"),
        ("timezone", "Europe/Atlantis"),
    ];
    let again = ada.submit(&page, "/account", &unknown).await;
    assert_eq!(again.status, 400);
    assert_contains(&again, "id=\"f-timezone-wrong\"");
    for zone in ["Europe/Berlin", "America/New_York", "GMT", "UTC"] {
        assert_contains(&page, &format!("<option value=\"{zone}\""));
    }

    let right = [
        ("version", tag.as_str()),
        ("email", "ada@new.example"),
        ("timezone", "Europe/Berlin"),
    ];
    assert_redirects_to(
        &ada.submit(&page, "/account", &right).await,
        "/account?done=profile-changed",
    );
    let page = ada.get("/account?done=profile-changed").await;
    for expected in ["Profile updated.", "ada@new.example", "Europe/Berlin"] {
        assert_contains(&page, expected);
    }
    // Garth sends no mail, so the form does not offer it, and does not change the setting of API clients.
    assert_lacks(&page, "email_notifications");
    assert_contains(&page, "this server does not send mails");
    assert_eq!(user.get("/profile").await.json()["email_notifications"], true);
    // The version in the form is outdated now.
    assert_eq!(ada.submit(&page, "/account", &right).await.status, 412);
}

#[tokio::test]
async fn changing_the_password_needs_the_current_one_and_ends_other_sessions() {
    let app = app_with_ada().await;
    let (mut ada, mut elsewhere) = (browser(&app, "ada").await, browser(&app, "ada").await);
    let page = ada.get("/account").await;
    let fields = |old: &'static str, new: &'static str, again: &'static str| {
        [("old_password", old), ("password", new), ("again", again)]
    };
    for (fields, id, reason) in [
        (
            fields("wrong", LONGER, LONGER),
            "f-old-password-wrong",
            "The current password is incorrect",
        ),
        (
            fields(PASSWORD, LONGER, "else"),
            "f-again-wrong",
            "The passwords do not match",
        ),
        (
            fields(PASSWORD, "short", "short"),
            "f-password-wrong",
            "at least 11 characters",
        ),
    ] {
        let refused = ada.submit(&page, "/account/password", &fields).await;
        assert_eq!(refused.status, 400, "{id}");
        assert_contains(&refused, &format!("id=\"{id}\""));
        assert_contains(&refused, reason);
        // Passwords are never rendered again.
        assert_lacks(&refused, PASSWORD);
        assert_lacks(&refused, LONGER);
    }
    let before = ada.cookies.clone();
    let changed = ada
        .submit(&page, "/account/password", &fields(PASSWORD, LONGER, LONGER))
        .await;
    assert_redirects_to(&changed, "/account?done=password-changed");
    assert_ne!(ada.cookies, before, "the user has a new session");
    assert_eq!(ada.get("/account").await.status, 200);
    assert_eq!(elsewhere.get("/account").await.status, 303);
    let mut thief = Browser::new(&app);
    thief.cookies = before;
    assert_eq!(thief.get("/account").await.status, 303);

    let page = ada.get("/account").await;
    assert_eq!(
        ada.submit(&page, "/account/password", &fields(PASSWORD, LONGER, LONGER))
            .await
            .status,
        400,
        "the old password is no longer valid"
    );
}

#[tokio::test]
async fn tenants_and_staff_open_their_profile_from_the_navigation_bar() {
    let app = app_with_ada().await;
    app.user("grace").staff().await;
    for (name, first_page, url) in [("ada", "/home", "/account"), ("grace", "/desk", "/desk/password")] {
        let mut user = logged_in(&app, name).await;
        let link = format!("<a class=\"user\" href=\"{url}\" title=\"Your profile\">{name}");
        assert_contains(&user.get(first_page).await, &link);
        let page = user.get(url).await;
        for expected in [
            "<title>Your profile – Garth</title>",
            "<h1>Your profile</h1>",
            &format!("<dt>Username</dt><dd>{name}</dd>"),
        ] {
            assert_contains(&page, expected);
        }
    }
}

#[tokio::test]
async fn staff_change_their_own_password() {
    let app = app_with_ada().await;
    app.user("grace").staff().await;
    let mut grace = logged_in(&app, "grace").await;
    assert_contains(&grace.get("/desk").await, "href=\"/desk/password\"");
    let page = grace.get("/desk/password").await;
    let url = "/desk/password";
    let wrong = [("old_password", "wrong"), ("password", LONGER), ("again", LONGER)];
    let refused = grace.submit(&page, url, &wrong).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "The current password is incorrect");
    let right = [
        ("old_password", PASSWORD),
        ("password", LONGER),
        ("again", LONGER),
    ];
    let changed = grace.submit(&page, url, &right).await;
    assert_redirects_to(&changed, "/desk/password?done=password-changed");
    assert_eq!(grace.get("/desk").await.status, 200);
    let page = grace.get(url).await;
    assert_eq!(grace.submit(&page, url, &right).await.status, 400);
    for _ in 0..4 {
        grace.submit(&page, url, &wrong).await;
    }
    assert_eq!(grace.submit(&page, url, &wrong).await.status, 429);
    let mut ada = browser(&app, "ada").await;
    assert_eq!(ada.get(url).await.status, 403);
}

#[tokio::test]
async fn guesses_of_the_current_password_are_throttled() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/account").await;
    let guess = [("old_password", "wrong"), ("password", LONGER), ("again", LONGER)];
    for _ in 0..5 {
        assert_eq!(ada.submit(&page, "/account/password", &guess).await.status, 400);
    }
    let right = [
        ("old_password", PASSWORD),
        ("password", LONGER),
        ("again", LONGER),
    ];
    let locked = ada.submit(&page, "/account/password", &right).await;
    assert_eq!(locked.status, 429);
    assert_eq!(locked.header("retry-after"), "30");
    app.advance(31);
    assert_redirects_to(
        &ada.submit(&page, "/account/password", &right).await,
        "/account?done=password-changed",
    );
}

#[tokio::test]
async fn a_login_elsewhere_does_not_conflict_with_an_open_form() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let (profile, user) = (
        ada.get("/account").await,
        ada.get("/account/users/ada/edit").await,
    );
    let (of_profile, of_user) = (version(&profile), version(&user));
    app.advance(60);
    browser(&app, "ada").await;
    let fields = [
        ("version", of_user.as_str()),
        ("username", "ada"),
        ("email", "ada@one.example"),
    ];
    assert_redirects_to(
        &ada.submit(&user, "/account/users/ada/edit", &fields).await,
        "/account/users/ada?done=user-changed",
    );
    let fields = [
        ("version", of_profile.as_str()),
        ("email", "ada@two.example"),
        ("timezone", "GMT"),
    ];
    let late = ada.submit(&profile, "/account", &fields).await;
    assert_eq!(late.status, 412, "the e-mail address was changed since");
    let profile = ada.get("/account").await;
    let of_profile = version(&profile);
    app.advance(60);
    browser(&app, "ada").await;
    let fields = [
        ("version", of_profile.as_str()),
        ("email", "ada@two.example"),
        ("timezone", "GMT"),
    ];
    assert_redirects_to(
        &ada.submit(&profile, "/account", &fields).await,
        "/account?done=profile-changed",
    );
}

#[tokio::test]
async fn errors_use_the_labels_of_the_page() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/clients/new").await;
    let wrong = [("label", "x"), ("redirect_uri", "nowhere")];
    let again = ada.submit(&form, "/account/clients/new", &wrong).await;
    assert_contains(&again, "<a href=\"#f-redirect-uri\">Redirect URI</a>");
    let form = ada.get("/account/tokens/new").await;
    let wrong = [("access", "chosen"), ("expiry", "30")];
    let again = ada.submit(&form, "/account/tokens/new", &wrong).await;
    assert_contains(&again, "<a href=\"#f-scopes\">Permissions</a>");
    assert_contains(&again, "Select at least one permission, or full access");
    let form = ada.get("/account").await;
    let wrong = [("email", "x"), ("timezone", "no where")];
    let again = ada.submit(&form, "/account", &wrong).await;
    assert_contains(&again, "<a href=\"#f-email\">E-mail</a>");
    assert_contains(&again, "<a href=\"#f-timezone\">Time zone</a>");
    let form = ada.get("/tickets/new").await;
    let wrong = [
        ("summary", ""),
        ("description", ""),
        ("about_kind", "vpc_id"),
        ("about_id", "77"),
    ];
    let again = ada.submit(&form, "/tickets/new", &wrong).await;
    assert_contains(&again, "<a href=\"#f-summary\">Subject</a>");
    assert_contains(&again, "<a href=\"#f-description\">Description</a>");
    assert_contains(&again, "<a href=\"#f-about-id\">ID</a>");
    assert_contains(&again, "No VPC has this ID");
    assert_lacks(&again, "vpc_id is");
    let twice = [
        ("summary", "x"),
        ("description", "y"),
        ("about", "vpc_id:1"),
        ("about_kind", "linode_id"),
        ("about_id", "7"),
    ];
    let again = ada.submit(&form, "/tickets/new", &twice).await;
    assert_contains(&again, "about one resource only. Choose");
    assert_lacks(&again, "you set");

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
    assert_contains(&refused, "This ticket is assigned to grace");
    assert_lacks(&refused, "take_over");
}

#[tokio::test]
async fn quotas_show_their_usage() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/account/quotas").await, "1,000 VPCs per region");
    assert_contains(&ada.get("/account/quotas").await, "0 bytes of 10 GiB");
    let maker = app.user("maker").await;
    maker.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    maker.create_vpc("edge", &[]).await;
    let page = ada.get("/account/quotas").await;
    for expected in ["2 of 1,000", "0 of 1,000", ">core<"] {
        assert_contains(&page, expected);
    }
    let core = text(&page).find(">core<");
    assert!(core < text(&page).find(">edge<"), "sorted by usage");
    let links = links(&page);
    let more = links.iter().find(|link| link.starts_with("/tickets/new?"));
    let form = ada.get(more.expect("a link to request an increase")).await;
    assert_contains(&form, "name=\"summary\" value=\"Quota increase\"");
}
