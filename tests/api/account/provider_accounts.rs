//! The provider manages accounts: list, create, change, quotas, suspend, export and close.

use garth::model::id::AccountId;
use garth::model::staff_role::StaffRole;
use serde_json::{Value, json};

use crate::browser::{Browser, text};
use crate::console::{assert_contains, assert_lacks, links, logged_in};
use crate::harness::TestApp;

const ACCOUNT: &str = "/provider/accounts/1";

#[tokio::test]
async fn an_account_shows_its_usage_and_its_quotas() {
    let app = TestApp::new().await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Support).await,
    );
    ada.create_vpc("one", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    ada.create_vpc("two", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    let ticket = ada.open_ticket("Help").await;
    ada.open_ticket("More help").await;
    ada.attach_file(ticket, "notes.txt", "12345").await;
    app.user("oscar")
        .staff()
        .await
        .post("/desk/tickets/2/close", json!({}))
        .await;

    let account = sam.get(ACCOUNT).await.json();

    assert_eq!(
        account["usage"],
        json!({
            "users": 1, "vpcs": 2, "vpcs_per_region": {"us-east": 2}, "subnets": 3, "most_subnets_per_vpc": 2,
            "instances": 1, "tickets": 2, "tickets_open": 1, "attachment_bytes": 5,
        })
    );
    assert_eq!(
        account["quotas"]["vpcs_per_region"],
        json!({"limit": 1000, "default": 1000, "override": null})
    );
    assert_eq!(
        (&account["status"], &account["company"]),
        (&json!("active"), &json!("Example"))
    );
    assert_eq!(sam.get("/provider/accounts/999").await.status, 404);
}

#[tokio::test]
async fn accounts_are_listed_filtered_and_sorted() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    for (company, email) in [("Harbor", "it@harbor.example"), ("Tide", "it@tide.example")] {
        let body = json!({"company": company, "email": email});
        assert_eq!(sam.post("/provider/accounts", body).await.status, 200);
    }
    sam.post("/provider/accounts/2/suspend", json!({})).await;

    let listed = sam.get("/provider/accounts").await;
    assert_eq!(listed.ids(), [1, 2, 3]);
    assert!(listed.data()[0].get("usage").is_none());
    let filtered = sam
        .filter("/provider/accounts", r#"{"status": "suspended"}"#)
        .await;
    assert_eq!(filtered.ids(), [2]);
    let sorted = r#"{"+order_by": "company", "+order": "desc"}"#;
    assert_eq!(sam.filter("/provider/accounts", sorted).await.ids(), [3, 2, 1]);
    assert_eq!(sam.get("/provider/accounts?page=2&page_size=2").await.ids(), [3]);
}

#[tokio::test]
async fn accounts_are_sorted_by_the_number_of_their_objects() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    for (account, username, vpcs, instances) in [(2, "ben", 2, 0), (3, "cleo", 1, 2), (4, "dora", 1, 0)] {
        let body =
            json!({"company": format!("Company {account}"), "email": "it@example.com", "username": username});
        assert_eq!(sam.post("/provider/accounts", body).await.status, 200);
        let colleague = format!("{username}-2");
        let user = app.user(&colleague).of(AccountId(account)).await;
        for number in 0..vpcs {
            user.create_vpc(&format!("net-{number}"), &[]).await;
        }
        for _ in 0..instances {
            let body = json!({"type": "g6-nanode-1", "region": "us-east"});
            assert_eq!(user.post("/linode/instances", body).await.status, 200);
        }
    }
    let path = "/provider/accounts";
    let by_vpcs = r#"{"+order_by": "usage.vpcs", "+order": "desc"}"#;
    assert_eq!(sam.filter(path, by_vpcs).await.ids(), [2, 4, 3, 1]);
    let by_instances = r#"{"+order_by": "usage.instances"}"#;
    assert_eq!(sam.filter(path, by_instances).await.ids(), [1, 2, 4, 3]);
    let many = sam.filter(path, r#"{"usage.vpcs": {"+gte": 1}, "usage.instances": 0}"#);
    assert_eq!(many.await.ids(), [2, 4]);

    let mut browser = logged_in(&app, "sam").await;
    let listed = async |browser: &mut Browser, url: &str| -> Vec<i64> {
        let accounts = links(&browser.get(url).await).into_iter();
        let ids = accounts.filter_map(|link| link.strip_prefix("/provider/accounts/")?.parse().ok());
        ids.collect()
    };
    for (url, expected) in [
        ("/provider", [1, 2, 3, 4]),
        ("/provider?sort=-usage.vpcs", [2, 4, 3, 1]),
        ("/provider?sort=usage.instances", [1, 2, 4, 3]),
        ("/provider?sort=-company", [1, 4, 3, 2]),
        ("/provider?sort=-created", [4, 3, 2, 1]),
        ("/provider?sort=unknown", [1, 2, 3, 4]),
    ] {
        assert_eq!(listed(&mut browser, url).await, expected, "{url}");
    }
    let searched = "/provider?q=company&sort=-usage.vpcs";
    assert_eq!(listed(&mut browser, searched).await, [2, 4, 3]);
    let page = browser.get(searched).await;
    assert_contains(
        &page,
        "<th class=\"number\" scope=\"col\" aria-sort=\"descending\">",
    );
    assert_contains(&page, "href=\"/provider?q=company&amp;sort=usage.vpcs\"");
    assert_contains(&page, "name=\"sort\" value=\"-usage.vpcs\"");
}

#[tokio::test]
async fn an_account_is_created_with_its_first_user_or_not_at_all() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let body = json!({"email": "it@harbor.example", "company": "Harbor", "username": "mara"});

    let created = sam.post("/provider/accounts", body.clone()).await;

    assert_eq!(created.status, 200, "{created}");
    let created = created.json();
    assert_eq!(
        (&created["id"], &created["usage"]["users"]),
        (&json!(2), &json!(1))
    );
    let users = sam.get("/provider/accounts/2/users").await.data();
    assert_eq!(
        (&users[0]["username"], &users[0]["restricted"]),
        (&json!("mara"), &json!(false))
    );
    let again = sam.post("/provider/accounts", body).await;
    assert_eq!(again.errors(), ["username username_taken"]);
    let invalid = sam.post("/provider/accounts", json!({"username": "x"})).await;
    assert_eq!(invalid.errors(), ["email required", "username username_invalid"]);
    assert_eq!(sam.count("/provider/accounts").await, 2);
}

#[tokio::test]
async fn contact_details_and_quotas_change_and_the_tenant_sees_an_event_of_the_provider() {
    let app = TestApp::new().await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Operator).await,
    );
    let changed = sam.put(ACCOUNT, json!({"company": "Renamed"})).await;
    assert_eq!(changed.json()["company"], "Renamed");
    assert_eq!(changed.json()["email"], "owner@example.com");
    assert_eq!(ada.get("/account").await.json()["company"], "Renamed");
    let event = &ada.get("/account/events").await.data()[0];
    assert_eq!(
        (&event["action"], &event["username"]),
        (&json!("account_update"), &json!("Support"))
    );

    let quotas = "/provider/accounts/1/quotas";
    let body = json!({"vpcs_per_region": 1, "subnets_per_vpc": 2});
    let changed = sam.put(quotas, body).await.json();
    assert_eq!(
        changed["quotas"]["vpcs_per_region"],
        json!({"limit": 1, "default": 1000, "override": 1})
    );
    ada.create_vpc("one", &[]).await;
    let refused = ada
        .post("/vpcs", json!({"label": "two", "region": "us-east"}))
        .await;
    assert!(
        refused.errors()[0].ends_with("quota_exceeded"),
        "{:?}",
        refused.errors()
    );
    let changed = sam.put(quotas, json!({"vpcs_per_region": null})).await.json();
    let overrides = |name: &str| changed["quotas"][name]["override"].clone();
    assert_eq!(
        [overrides("vpcs_per_region"), overrides("subnets_per_vpc")],
        [Value::Null, json!(2)]
    );
    ada.create_vpc("two", &[]).await;
    let negative = sam
        .put(quotas, json!({"vpcs_per_region": -1, "attachment_bytes": "x"}))
        .await;
    assert_eq!(
        negative.errors(),
        ["vpcs_per_region out_of_range", "attachment_bytes wrong_type"]
    );
    let too_large = json!({"vpcs_per_region": 1_000_001, "attachment_bytes": (1_i64 << 50) + 1});
    let too_large = sam.put(quotas, too_large).await;
    assert_eq!(
        too_large.errors(),
        ["vpcs_per_region out_of_range", "attachment_bytes out_of_range"]
    );
    assert_eq!(too_large.reason(), "Must be from 0 to 1000000");
    let largest = json!({"subnets_per_vpc": 1_000_000, "attachment_bytes": 1_i64 << 50});
    assert_eq!(sam.put(quotas, largest).await.status, 200);
}

#[tokio::test]
async fn a_suspended_account_has_no_access_and_keeps_its_network() {
    let app = TestApp::new().await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Operator).await,
    );
    let other = app.user("grace").of(app.another_account().await).await;
    let vpc = ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    ada.post("/compute/instances/1/boot", json!({})).await;
    let mut browser = logged_in(&app, "ada").await;
    let form = browser.get("/vpcs/new").await;

    let suspended = sam.post("/provider/accounts/1/suspend", json!({})).await;

    assert_eq!(suspended.json()["status"], "suspended");
    for refused in [
        ada.get("/vpcs").await,
        ada.get("/profile").await,
        ada.delete(&format!("/vpcs/{vpc}")).await,
    ] {
        assert_eq!(refused.status, 403, "{refused}");
        assert_eq!(refused.errors(), ["- account_suspended"]);
    }
    let page = browser.get("/vpcs").await;
    assert_eq!(page.status, 403, "{page}");
    assert_contains(&page, "Account suspended");
    let sent = browser
        .submit(&form, "/vpcs/new", &[("label", "new"), ("region", "us-east")])
        .await;
    assert_eq!(sent.status, 403);
    assert_eq!(other.get("/vpcs").await.status, 200);
    let usage = sam.get(ACCOUNT).await.json()["usage"].clone();
    assert_eq!((&usage["vpcs"], &usage["instances"]), (&json!(1), &json!(1)));
    let again = sam.post("/provider/accounts/1/suspend", json!({})).await;
    assert_eq!(again.errors(), ["- account_state"]);

    let active = sam.post("/provider/accounts/1/reactivate", json!({})).await;

    assert_eq!(active.json()["status"], "active");
    assert_eq!(ada.get("/linode/instances/1").await.json()["status"], "running");
    assert_contains(&browser.get("/vpcs").await, "core");
}

#[tokio::test]
async fn a_log_in_to_a_suspended_account_shows_why_there_is_no_access() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    app.user("ada").await;
    sam.post("/provider/accounts/1/suspend", json!({})).await;
    let mut browser = logged_in(&app, "ada").await;
    let page = browser.get("/vpcs").await;
    assert!(text(&page).contains("Account suspended"), "{page}");
    assert!(!text(&page).contains("Create VPC"), "{page}");
}

#[tokio::test]
async fn only_an_account_without_instances_and_vpcs_is_closed_and_this_is_permanent() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let vpc = ada.create_vpc("core", &[]).await;
    let ticket = ada.open_ticket("Bye").await;
    let close = "/provider/accounts/1/close";
    assert_eq!(sam.post(close, json!({})).await.errors(), ["- account_in_use"]);
    assert_eq!(ada.delete(&format!("/vpcs/{vpc}")).await.status, 200);

    let closed = sam.post(close, json!({})).await;

    assert_eq!(closed.json()["status"], "closed");
    assert_eq!(ada.get("/vpcs").await.errors(), ["- account_closed"]);
    assert_eq!(
        sam.get(&format!("/desk/tickets/{ticket}")).await.json()["summary"],
        "Bye"
    );
    for action in ["reactivate", "suspend", "close"] {
        let path = format!("/provider/accounts/1/{action}");
        assert_eq!(sam.post(&path, json!({})).await.errors(), ["- account_state"]);
    }
    let changed = sam.put(ACCOUNT, json!({"company": "x"})).await;
    assert_eq!(changed.errors(), ["- account_state"]);
}

#[tokio::test]
async fn a_change_with_an_outdated_etag_is_refused() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let tag = sam.get(ACCOUNT).await.header("etag").to_owned();
    sam.put(ACCOUNT, json!({"company": "First"})).await;
    let stale = sam
        .call(hyper::Method::PUT, ACCOUNT)
        .header("if-match", &tag)
        .json(&json!({"company": "Second"}))
        .await;
    assert_eq!(stale.status, 412);
    assert_eq!(sam.get(ACCOUNT).await.json()["company"], "First");
}

#[tokio::test]
async fn an_admin_exports_an_account_without_secrets_and_notes_even_after_it_is_closed() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let olaf = app.user("olaf").role(StaffRole::Operator).await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.open_ticket("Invoice").await;
    for (path, text) in [
        ("replies", "We have sent it."),
        ("notes", "A difficult customer."),
    ] {
        let path = format!("/desk/tickets/1/{path}");
        assert_eq!(sam.post(&path, json!({"description": text})).await.status, 200);
    }
    assert_eq!(
        ada.post("/support/tickets/1/replies", json!({"description": "Thanks."}))
            .await
            .status,
        200
    );
    let path = "/provider/accounts/1/export";

    let exported = sam.get(path).await;

    assert_eq!(exported.status, 200, "{exported}");
    let disposition = exported.header("content-disposition");
    assert!(disposition.starts_with("attachment; filename=\"account-1.json\""));
    let json = exported.json();
    assert_eq!(json["document"]["vpcs"][0]["subnets"][0]["ipv4"], "10.0.0.0/24");
    assert_eq!(json["document"]["users"][0]["username"], "ada");
    let ticket = &json["tickets"][0];
    assert_eq!(ticket["summary"], "Invoice");
    let replies = ticket["replies"].as_array().unwrap().iter();
    let replies: Vec<_> = replies
        .map(|reply| (&reply["created_by"], &reply["from_staff"], &reply["description"]))
        .collect();
    assert_eq!(
        replies,
        [
            (&json!("Support"), &json!(true), &json!("We have sent it.")),
            (&json!("ada"), &json!(false), &json!("Thanks.")),
        ]
    );
    let text = json.to_string();
    for secret in ["difficult", "sam", "password", "token"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_eq!(olaf.get(path).await.status, 403);
    assert_eq!(sam.get("/provider/accounts/99/export").await.status, 404);

    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    let closed = sam.post("/provider/accounts/1/close", json!({})).await;
    assert_eq!(closed.status, 200, "{closed}");
    let json = sam.get(path).await.json();
    assert_eq!(
        (&json["account"]["status"], &json["document"]["vpcs"]),
        (&json!("closed"), &json!([]))
    );
    assert_eq!(json["tickets"][0]["replies"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_page_of_an_account_links_to_its_export() {
    let app = TestApp::new().await;
    app.user("ada").await.open_ticket("Invoice").await;
    app.user("sam").staff().await;
    app.user("olaf").role(StaffRole::Operator).await;
    let mut sam = logged_in(&app, "sam").await;
    let link = "href=\"/provider/accounts/1/export\"";
    let page = sam.get("/provider/accounts/1").await;
    assert_contains(&page, &format!("<a class=\"button\" {link} download>Export</a>"));
    let file = sam.get("/provider/accounts/1/export").await;
    assert_eq!(file.header("content-type"), "application/json");
    assert_eq!(file.json()["tickets"][0]["summary"], "Invoice");
    // The name of the account must be typed.
    let refused = sam.submit(&page, "/provider/accounts/1/close", &[]).await;
    assert_eq!(refused.header("location"), "/provider/accounts/1");
    assert_contains(
        &sam.get("/provider/accounts/1").await,
        "To close the account, type “",
    );
    let html = text(&page);
    let name = html
        .split(">Type ")
        .nth(1)
        .and_then(|rest| rest.split(" to confirm").next());
    let typed = [("label", name.expect("a label"))];
    let closed = sam.submit(&page, "/provider/accounts/1/close", &typed).await;
    assert_eq!(
        closed.header("location"),
        "/provider/accounts/1?done=account-closed"
    );
    // The users of a closed account have no access, so they have no actions.
    let closed = sam.get("/provider/accounts/1").await;
    assert_contains(&closed, "Account closed");
    assert_lacks(&closed, "Password link");
    assert_lacks(&closed, "/users/ada/disable");
    assert_contains(&sam.get("/provider/accounts/1").await, link);
    let mut olaf = logged_in(&app, "olaf").await;
    assert_lacks(&olaf.get("/provider/accounts/1").await, link);
}

#[tokio::test]
async fn a_change_that_changes_nothing_has_no_event() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let account = sam.get("/provider/accounts/1").await.json();
    for (path, body) in [
        ("/provider/accounts/1", json!({})),
        ("/provider/accounts/1", json!({"email": account["email"]})),
        ("/provider/accounts/1/quotas", json!({"vpcs_per_region": null})),
    ] {
        assert_eq!(sam.put(path, body).await.status, 200, "{path}");
    }
    assert_eq!(ada.events().await, [""; 0]);
    let limit = json!({"vpcs_per_region": 7});
    assert_eq!(sam.put("/provider/accounts/1/quotas", limit).await.status, 200);
    assert_eq!(ada.events().await.len(), 1);
}

#[tokio::test]
async fn staff_open_no_ticket_for_a_closed_account() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let account = sam
        .post("/provider/accounts", json!({"email": "owner@example.com"}))
        .await
        .json()["id"]
        .clone();
    let closed = sam
        .post(&format!("/provider/accounts/{account}/close"), json!({}))
        .await;
    assert_eq!(closed.status, 200, "{closed}");
    let ticket = json!({"account_id": account, "summary": "Bill", "description": "The last one."});
    let refused = sam.post("/desk/tickets", ticket).await;
    assert_eq!(refused.errors(), ["account_id account_state"]);
}
