//! Staff add users to accounts. `staff.rs` and `account_mails.rs` test the other actions on users of accounts.

use garth::model::staff_role::StaffRole;
use serde_json::{Value, json};

use crate::browser::text;
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, links, logged_in};
use crate::harness::{TestApp, User};
use crate::support::outgoing_mails::enable_mail;

const USERS: &str = "/provider/accounts/1/users";
const NEW_USER: &str = "/provider/accounts/2/new-user";

fn new_user(username: &str) -> Value {
    json!({"username": username, "email": format!("{username}@example.com")})
}

/// Creates the account 2, which has no users.
async fn create_empty_account(sam: &User<'_>) {
    let body = json!({"email": "it@harbor.example", "company": "Harbor"});
    let created = sam.post("/provider/accounts", body).await;
    assert_eq!(created.status, 200, "{created}");
}

#[tokio::test]
async fn an_admin_adds_a_user_with_the_validation_and_the_event_of_a_tenant() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);

    let created = sam.post(USERS, new_user("mara")).await;

    assert_eq!(created.status, 200, "{created}");
    let expected = json!({"username": "mara", "email": "mara@example.com", "restricted": true, "disabled": false,
        "created": "2024-06-01T12:00:00", "last_login": null});
    assert_eq!(created.json(), expected);
    assert_eq!(
        ada.get("/account/users/mara").await.json()["restricted"],
        json!(true)
    );
    let event = &ada.get("/account/events").await.data()[0];
    assert_eq!(
        (&event["action"], &event["username"], &event["entity"]["label"]),
        (&json!("user_create"), &json!("Support"), &json!("mara"))
    );

    let unrestricted = json!({"username": "olga", "email": "olga@example.com", "restricted": false});
    let created = sam.post(USERS, unrestricted).await;
    assert_eq!(created.json()["restricted"], json!(false));
    for body in [
        new_user("ada"),
        new_user("sam"),
        new_user("Support"),
        json!({"username": "x", "email": "x", "restricted": "yes"}),
        json!({}),
    ] {
        let (by_staff, by_tenant) = (
            sam.post(USERS, body.clone()).await,
            ada.post("/account/users", body).await,
        );
        assert_eq!(by_staff.status, 400, "{by_staff}");
        assert_eq!(by_staff.json(), by_tenant.json());
    }
    assert_eq!(sam.count(USERS).await, 3);
}

#[tokio::test]
async fn only_an_admin_adds_users_and_only_to_an_account_that_is_not_closed() {
    let app = TestApp::new().await;
    let (sam, olaf) = (
        app.user("sam").staff().await,
        app.user("olaf").role(StaffRole::Operator).await,
    );
    create_empty_account(&sam).await;
    let users = "/provider/accounts/2/users";
    assert_eq!(
        olaf.post(users, new_user("mara")).await.errors(),
        ["- role_missing"]
    );
    let missing = sam.post("/provider/accounts/9/users", new_user("mara")).await;
    assert_eq!(missing.status, 404);
    sam.post("/provider/accounts/2/suspend", json!({})).await;
    assert_eq!(sam.post(users, new_user("mara")).await.status, 200);
    sam.post("/provider/accounts/2/reactivate", json!({})).await;
    sam.post("/provider/accounts/2/close", json!({})).await;
    let closed = sam.post(users, new_user("nils")).await;
    assert_eq!(closed.errors(), ["- account_state"]);

    let mut sam = logged_in(&app, "sam").await;
    assert_lacks(&sam.get("/provider/accounts/2").await, NEW_USER);
    assert_contains(&sam.get(NEW_USER).await, "The account is closed");
}

#[tokio::test]
async fn the_page_of_an_account_without_users_leads_to_the_form_for_its_first_user() {
    let app = TestApp::new().await;
    app.user("sam").staff().await;
    app.user("olaf").role(StaffRole::Operator).await;
    let mut sam = logged_in(&app, "sam").await;
    let form = sam.get("/provider/accounts/new").await;
    let fields = [("email", "it@harbor.example"), ("company", "Harbor")];
    let created = sam.submit(&form, "/provider/accounts/new", &fields).await;
    assert_redirects_to(&created, "/provider/accounts/2?done=account-created-empty");
    let page = sam.get("/provider/accounts/2?done=account-created-empty").await;
    assert_contains(&page, "No users yet");
    assert!(links(&page).contains(&NEW_USER.to_owned()), "{page}");
    let html = text(&page);
    assert!(html.find("id=\"users\"") < html.find("id=\"usage\""), "{html}");
    let mut olaf = logged_in(&app, "olaf").await;
    let for_operator = olaf.get("/provider/accounts/2").await;
    assert_lacks(&for_operator, NEW_USER);
    assert_contains(&for_operator, "An admin can add one.");

    // The first user is unrestricted, with the address of the owner, unless the form says otherwise.
    let form = sam.get(NEW_USER).await;
    assert_contains(&form, "value=\"it@harbor.example\"");
    assert_lacks(&form, " checked");
    let refused = sam
        .submit(&form, NEW_USER, &[("username", "sam"), ("email", "x")])
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "Username is taken");
    let fields = [("username", "mara"), ("email", "mara@example.com")];
    let created = sam.submit(&form, NEW_USER, &fields).await;
    assert_redirects_to(&created, "/provider/accounts/2?done=user-created");

    let page = sam.get("/provider/accounts/2").await;
    assert_contains(&page, "Add a user");
    assert_contains(&page, "/provider/accounts/2/users/mara/link");
    assert_lacks(&page, "Restricted");
    assert_contains(&sam.get(NEW_USER).await, " checked");
}

#[tokio::test]
async fn a_user_that_staff_add_gets_an_invitation() {
    let app = TestApp::with(enable_mail).await;
    let sam = app.user("sam").staff().await;
    create_empty_account(&sam).await;
    let mut browser = logged_in(&app, "sam").await;
    let form = browser.get(NEW_USER).await;
    let fields = [("username", "mara"), ("email", "mara@example.com")];
    let created = browser.submit(&form, NEW_USER, &fields).await;
    assert_redirects_to(&created, "/provider/accounts/2?done=user-created-invited");
    let mails = sam.get("/provider/accounts/2/users/mara/mails").await.data();
    assert_eq!(
        (&mails[0]["kind"], &mails[0]["address"]),
        (&json!("invitation"), &json!("mara@example.com"))
    );
}
