//! The search over everything in the console.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::text;
use crate::console::vpcs::api_user;
use crate::console::{app_with_ada, assert_contains, assert_lacks, browser, links, logged_in};
use crate::harness::{Reply, TestApp, User};

/// A VPC `core` with the subnet `a` (10.0.0.0/24), and the instance `web-1` at 10.0.0.2.
async fn set_up(app: &TestApp) -> User<'_> {
    let maker = api_user(app).await;
    maker.create_vpc("core", &["10.0.0.0/24", "10.8.0.0/16"]).await;
    let body = json!({"label": "web-1", "type": "g6-nanode-1", "region": "us-east", "tags": ["front"],
        "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    maker
}

/// The links to objects among the results.
fn found(page: &Reply) -> Vec<String> {
    let html = text(page);
    let results = html.split("id=\"results\"").nth(1).expect("results");
    let results = results.split("<footer").next().expect("an end");
    let urls = results.split("href=\"").skip(1);
    urls.filter_map(|rest| rest.split('"').next().map(|url| url.replace("&amp;", "&")))
        .collect()
}

#[tokio::test]
async fn every_page_has_the_search_box() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    for path in [
        "/vpcs",
        "/instances",
        "/tickets/new",
        "/account",
        "/search",
        "/vpcs/99",
    ] {
        let page = ada.get(path).await;
        assert_contains(&page, "action=\"/search\"");
        assert_contains(&page, "id=\"find\"");
    }
    assert_contains(&ada.get("/search").await, "Enter a text");
    assert_contains(&ada.get("/search?q=%3Cb%3E").await, "No results for “&lt;b&gt;”");
}

#[tokio::test]
async fn labels_ids_tags_and_users_are_found() {
    let app = app_with_ada().await;
    set_up(&app).await;
    let mut ada = browser(&app, "ada").await;
    for (query, expected) in [
        ("CORE", &["/vpcs/1"][..]),
        ("web", &["/instances/1"]),
        ("front", &["/instances/1"]),
        ("ada", &["/account/users/ada"]),
        ("maker@", &["/account/users/maker"]),
        ("%25", &[]),
        ("_", &[]),
    ] {
        let page = ada.get(&format!("/search?q={query}")).await;
        assert_eq!(found(&page), expected, "{query}");
    }
    let both = found(&ada.get("/search?q=b").await);
    assert!(both.contains(&"/vpcs/1/subnets/2".to_owned()), "{both:?}");
}

#[tokio::test]
async fn an_address_leads_to_its_subnet_and_its_holder() {
    let app = app_with_ada().await;
    let maker = set_up(&app).await;
    let public = maker.get("/linode/instances/1").await.json()["ipv4"][0].clone();
    let mut ada = browser(&app, "ada").await;
    for (query, url, detail) in [
        ("10.0.0.2", "/vpcs/1/subnets/1#interface-1", "used by web-1"),
        ("10.0.0.7", "/vpcs/1/subnets/1", "free"),
        ("10.0.0.1", "/vpcs/1/subnets/1", "reserved"),
        ("10.8.3.4", "/vpcs/1/subnets/2?in=10.8.3.0/24", "free"),
        ("10.8.0.0/15", "/vpcs/1/subnets/2", "subnet"),
        (public.as_str().unwrap(), "/instances/1", "offline"),
    ] {
        let page = ada.get(&format!("/search?q={query}")).await;
        assert_eq!(found(&page), [url], "{query}: {page}");
        assert_contains(&page, detail);
    }
    // A range leads to its subnets and to the instances in it.
    let page = ada.get("/search?q=10.0.0.0/28").await;
    assert_eq!(
        found(&page),
        ["/vpcs/1/subnets/1", "/vpcs/1/subnets/1#interface-1"]
    );
    assert_contains(&page, "used by web-1");
    assert_eq!(
        found(&ada.get("/search?q=172.16.0.1").await),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn an_ipv6_address_leads_to_its_holder() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let body = json!({"label": "dual", "region": "us-east", "ipv6": [{"range": "/52"}],
        "subnets": [{"label": "six", "ipv4": "10.0.0.0/24", "ipv6": [{"range": "/56"}]}]});
    let vpc = maker.post("/vpcs", body).await.json();
    let created = maker.create_instance_on(1).await;
    assert_eq!(created.status, 200, "{created}");
    let range = maker.get("/vpcs/1/ipv6s").await.data()[0]["ipv6_range"].clone();
    let address = range.as_str().unwrap().replace("/64", "5");
    let mut ada = browser(&app, "ada").await;
    let page = ada.get(&format!("/search?q={address}")).await;
    assert_eq!(found(&page), ["/vpcs/1/subnets/1#interface-1"], "{page}");
    assert_contains(&page, "used by linode1");
    let whole = vpc["ipv6"][0]["range"].as_str().unwrap();
    assert_eq!(
        found(&ada.get(&format!("/search?q={whole}")).await),
        ["/vpcs/1/subnets/1"]
    );
}

#[tokio::test]
async fn tickets_are_found_by_their_replies_and_never_by_notes() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let ticket = maker.open_ticket("No route").await;
    maker
        .post(
            &format!("/support/tickets/{ticket}/replies"),
            json!({"description": "The zebra crossing."}),
        )
        .await;
    let grace = app.user("grace").staff().await;
    grace
        .post(
            &format!("/desk/tickets/{ticket}/notes"),
            json!({"description": "a walrus in the rack"}),
        )
        .await;
    let mut ada = browser(&app, "ada").await;
    for query in ["zebra", "ROUTE", "%231"] {
        let page = ada.get(&format!("/search?q={query}")).await;
        assert_eq!(found(&page), ["/tickets/1"], "{query}");
    }
    assert!(
        links(&ada.get("/tickets?q=zebra").await)
            .iter()
            .any(|link| link == "/tickets/1")
    );
    assert_eq!(found(&ada.get("/search?q=walrus").await), Vec::<String>::new());

    let mut grace = logged_in(&app, "grace").await;
    assert_contains(&grace.get("/desk").await, "action=\"/desk/search\"");
    for query in ["zebra", "walrus", "%231"] {
        let page = grace.get(&format!("/desk/search?q={query}")).await;
        assert_eq!(found(&page), ["/desk/tickets/1"], "{query}");
    }
    // The queue and the search lead to the account.
    assert_contains(&grace.get("/desk").await, "href=\"/provider/accounts/1\"");
    assert_contains(
        &grace.get("/desk/tickets/1").await,
        "href=\"/provider/accounts/1\"",
    );
    // Staff find users and accounts.
    let page = grace.get("/desk/search?q=maker").await;
    assert_eq!(found(&page), ["/provider/accounts/1"], "{page}");
    assert_eq!(
        found(&grace.get("/desk/search?q=%21%21").await),
        Vec::<String>::new()
    );
    assert_eq!(grace.get("/search?q=x").await.status, 403);
    assert_eq!(ada.get("/desk/search?q=x").await.status, 403);
}

#[tokio::test]
async fn staff_find_accounts_before_their_tickets() {
    let app = app_with_ada().await;
    let eve = app.user("eve").await;
    app.user("grace").staff().await;
    eve.open_ticket("An example of a broken rack").await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/search?q=example").await;
    assert_eq!(
        found(&page)[..2],
        ["/provider/accounts/1", "/desk/tickets/1"],
        "{page}"
    );
    assert_contains(&page, "· owner@example.com · 1 open ticket<");
    eve.open_ticket("Another one").await;
    assert_contains(&grace.get("/desk/search?q=example").await, "· 2 open tickets<");
}

#[tokio::test]
async fn the_search_obeys_accounts_and_grants() {
    let app = TestApp::new().await;
    let maker = set_up(&app).await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    eve.create_vpc("core", &["10.0.0.0/24"]).await;
    maker.open_ticket("About the core").await;
    app.user("rita").restricted().await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    for query in ["core", "web-1", "10.0.0.2", "maker", "front"] {
        let page = rita.get(&format!("/search?q={query}")).await;
        assert_eq!(found(&page), Vec::<String>::new(), "{query}");
    }
    // With the VPC only, the name of the instance remains hidden.
    app.grant(
        "rita",
        Grant::Vpc(garth::model::id::VpcId(1), Permission::ReadOnly),
    )
    .await;
    let page = rita.get("/search?q=10.0.0.2").await;
    assert_contains(&page, "used by instance 1");
    assert_lacks(&page, "web-1");
    assert_eq!(found(&rita.get("/search?q=core").await), ["/vpcs/1"]);
    app.grant("rita", Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .await;
    assert_contains(&rita.get("/search?q=10.0.0.2").await, "used by web-1");

    let mut eve = logged_in(&app, "eve").await;
    assert_eq!(found(&eve.get("/search?q=core").await), ["/vpcs/2"]);
    assert_eq!(found(&eve.get("/search?q=10.0.0.2").await), ["/vpcs/2/subnets/3"]);
}

#[tokio::test]
async fn the_results_of_each_kind_are_limited() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    for number in 0..9 {
        maker.create_vpc(&format!("net-{number}"), &["10.0.0.0/24"]).await;
    }
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/search?q=net").await;
    assert_eq!(found(&page).len(), 8);
    assert_contains(&page, "Only the first 8 are shown.");
    assert_eq!(found(&ada.get("/search?q=10.0.0.9").await).len(), 8);
}
