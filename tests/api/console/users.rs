//! Users and their grants in the console.

use crate::browser::{Browser, PASSWORD, hidden_field};
use crate::console::account::version;
use crate::console::grants::global_version;
use crate::console::tokens::secret;
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser};

#[tokio::test]
async fn actions_that_users_cannot_apply_to_themselves_are_not_offered() {
    let app = app_with_ada().await;
    app.user("bob").await;
    let mut ada = browser(&app, "ada").await;
    assert_lacks(&ada.get("/account/users/ada").await, "/account/users/ada/delete");
    let edit = ada.get("/account/users/ada/edit").await;
    assert_lacks(&edit, "name=\"restricted\"");
    assert_contains(&edit, "You cannot restrict yourself");
    assert_contains(&ada.get("/account/users/bob/edit").await, "name=\"restricted\"");
    let delete = ada.get("/account/users/ada/delete").await;
    assert_eq!(delete.status, 400);
    assert_contains(&delete, "You cannot delete yourself");
    assert_lacks(&delete, "<form class=\"card");

    // By default, a new token can read VPCs.
    let form = ada.get("/account/tokens/new").await;
    assert_contains(&form, "name=\"scopes.vpc\" value=\"read_only\" checked");
    let fields = [
        ("newest", hidden_field(&form, "newest")),
        ("label", String::new()),
        ("access", "chosen".to_owned()),
        ("expiry", "90".to_owned()),
        ("scopes.vpc", "read_only".to_owned()),
    ];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    secret(&ada.submit(&form, "/account/tokens/new", &fields).await);
}

#[tokio::test]
async fn a_user_is_created_invited_granted_access_renamed_and_deleted() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/account/new-user").await;
    let taken = [
        ("username", "ada"),
        ("email", "no address"),
        ("restricted", "true"),
    ];
    let again = ada.submit(&form, "/account/new-user", &taken).await;
    assert_eq!(again.status, 400);
    for expected in [
        "id=\"f-username-wrong\"",
        "id=\"f-email-wrong\"",
        "value=\"no address\"",
    ] {
        assert_contains(&again, expected);
    }
    // A username may be the same as a path segment.
    let fields = [
        ("username", "new"),
        ("email", "new@example.com"),
        ("restricted", "true"),
    ];
    assert_redirects_to(
        &ada.submit(&form, "/account/new-user", &fields).await,
        "/account/users/new?done=user-created",
    );
    let page = ada.get("/account/users/new").await;
    assert_contains(&page, "cannot log in yet");
    let link = secret(&ada.submit(&page, "/account/users/new/link", &[]).await);
    assert_contains(
        &ada.get("/events").await,
        "Password link: <span class=\"quiet\">empty</span> → <ins>created</ins>",
    );
    let path = &link[link.find("/oauth/").expect("a path")..];
    let chosen = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(Browser::new(&app).post(path, &chosen).await.status, 200);
    let mut new = browser(&app, "new").await;
    assert_lacks(&ada.get("/account/users/new").await, "cannot log in yet");
    // A user with a password gets no link.
    let refused = ada.submit(&page, "/account/users/new/link", &[]).await;
    assert_eq!(refused.status, 400);
    assert_lacks(&refused, "/oauth/password/");

    let vpc = app.user("maker").await.create_vpc("core", &[]).await;
    assert_eq!(new.get(&format!("/vpcs/{vpc}")).await.status, 404);
    let grants = ada.get("/account/users/new/grants").await;
    let global_tag = global_version(&grants);
    let globals = [
        ("global_version", global_tag.as_str()),
        ("global.account_access", "read_only"),
        ("global.add_vpcs", "true"),
    ];
    assert_redirects_to(
        &ada.submit(&grants, "/account/users/new/grants", &globals).await,
        "/account/users/new/grants?done=grants-changed",
    );
    let tag = version(&grants);
    let expected = [("version", tag.as_str()), ("vpc.1", "read_write")];
    assert_redirects_to(
        &ada.submit(&grants, "/account/users/new/grants", &expected).await,
        "/account/users/new/grants?done=grants-changed",
    );
    assert_eq!(new.get(&format!("/vpcs/{vpc}/edit")).await.status, 200);
    assert_eq!(new.get("/vpcs/new").await.status, 200);
    let grants = ada.get("/account/users/new/grants").await;
    assert_contains(&grants, "name=\"vpc.1\" value=\"read_write\" checked");
    assert_contains(&grants, "name=\"global.add_vpcs\" value=\"true\" checked");
    // The version in the form is outdated now.
    for fields in [&expected[..], &globals[..]] {
        let reply = ada.submit(&grants, "/account/users/new/grants", fields).await;
        assert_eq!(reply.status, 412, "{fields:?}");
    }
    let tag = version(&grants);
    let fewer = [("version", tag.as_str()), ("vpc.1", "")];
    assert_redirects_to(
        &ada.submit(&grants, "/account/users/new/grants", &fewer).await,
        "/account/users/new/grants?done=grants-changed",
    );
    let grants = ada.get("/account/users/new/grants").await;
    let tag = global_version(&grants);
    let fewer = [("global_version", tag.as_str())];
    assert_redirects_to(
        &ada.submit(&grants, "/account/users/new/grants", &fewer).await,
        "/account/users/new/grants?done=grants-changed",
    );
    assert_eq!(new.get(&format!("/vpcs/{vpc}")).await.status, 404);
    assert_eq!(new.get("/vpcs/new").await.status, 403);

    let edit = ada.get("/account/users/new/edit").await;
    let tag = version(&edit);
    let renamed = [
        ("version", tag.as_str()),
        ("username", "newer"),
        ("email", "new@example.com"),
    ];
    assert_redirects_to(
        &ada.submit(&edit, "/account/users/new/edit", &renamed).await,
        "/account/users/newer?done=user-changed",
    );
    assert_contains(&ada.get("/account/users/newer").await, "do not need grants");
    assert_eq!(ada.get("/account/users/newer/grants").await.status, 404);
    let confirmation = ada.get("/account/users/newer/delete").await;
    let tag = version(&confirmation);
    let wrong_label = [("version", tag.as_str()), ("label", "new")];
    let refused = ada
        .submit(&confirmation, "/account/users/newer/delete", &wrong_label)
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "value=\"new\"");
    let meant = [("version", tag.as_str()), ("label", "newer")];
    assert_redirects_to(
        &ada.submit(&confirmation, "/account/users/newer/delete", &meant)
            .await,
        "/account/users?done=user-deleted",
    );
    assert_eq!(new.get("/account").await.status, 303, "the session has ended");
}

#[tokio::test]
async fn users_cannot_restrict_or_delete_themselves() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let edit = ada.get("/account/users/ada/edit").await;
    let tag = version(&edit);
    let fields = [
        ("version", tag.as_str()),
        ("username", "ada"),
        ("email", "valid@typed.example"),
        ("restricted", "true"),
    ];
    let refused = ada.submit(&edit, "/account/users/ada/edit", &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(
        &refused,
        "<a href=\"#f-restricted\">Restricted</a>: You cannot restrict yourself",
    );
    assert_contains(&refused, "value=\"valid@typed.example\"");
    let delete = [("label", "ada")];
    let refused = ada.submit(&edit, "/account/users/ada/delete", &delete).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "You cannot delete yourself");
}

#[tokio::test]
async fn restricted_users_see_only_their_own_account_pages() {
    let app = app_with_ada().await;
    app.user("rex").restricted().await;
    app.set_password("rex").await;
    let maker = app.user("maker").await;
    let client = app.client(&maker, false).await;
    let mut rex = browser(&app, "rex").await;
    for page in ["/account", "/account/tokens", "/account/apps", "/account/quotas"] {
        let page = rex.get(page).await;
        assert_eq!(page.status, 200);
        assert_lacks(&page, "/account/users");
        assert_lacks(&page, "/account/clients");
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
        ("/account/users/rex/grants/set?to=read_write&apply=all", 403),
        ("/account/clients", 403),
        ("/account/clients/new", 403),
        (&format!("{of_client}/edit"), 403),
        (&format!("{of_client}/reset"), 403),
        (&format!("{of_client}/delete"), 403),
    ] {
        let reply = rex.get(page).await;
        assert_eq!(reply.status.as_u16(), status, "{page}: {reply}");
    }
    let grants = [("global_version", ""), ("global.add_vpcs", "true")];
    for (page, fields) in [
        ("/account/users/rex/grants", &grants[..]),
        ("/account/users/rex/grants", &[("vpc.1", "read_write")]),
        (
            "/account/users/rex/grants/set",
            &[("to", "read_write"), ("apply", "all")],
        ),
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
        let reply = rex.submit(&proof, page, fields).await;
        assert_eq!(reply.status, 403, "{page}: {reply}");
    }
    assert_eq!(maker.get("/account/users/ada").await.status, 200);
    assert_eq!(rex.get("/vpcs/new").await.status, 403);
}
