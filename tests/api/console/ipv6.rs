//! IPv6 in the console: forms, ranges, networks of interfaces, the map of a subnet, and the search.

use garth::model::grant::Permission;
use garth::model::id::VpcId;
use garth::rules::grants::Grant;
use serde_json::json;

use super::vpcs::api_user;
use crate::console::{
    app_with_ada, assert_contains, assert_has_anchor, assert_lacks, assert_redirects_to, browser, logged_in,
};
use crate::harness::{TestApp, User};
use crate::network::ipv6::create_vpc;

async fn attach(user: &User<'_>, label: &str, subnet: i64, ipv6: serde_json::Value) {
    let interface = json!({"purpose": "vpc", "subnet_id": subnet, "ipv6": ipv6});
    let body = json!({"label": label, "type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
    let reply = user.post("/linode/instances", body).await;
    assert_eq!(reply.status, 200, "{reply}");
}

#[tokio::test]
async fn a_vpc_and_a_subnet_get_the_chosen_ranges() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    for expected in [
        "<option value=\"\" selected>No IPv6</option>",
        "<option value=\"/52\">/52 (4,096 networks)</option>",
        "<option value=\"/44\">/44 (1,048,576 networks)</option>",
        "name=\"subnets[0].ipv6\"",
        "<option value=\"/62\">/62 (3 networks)</option>",
    ] {
        assert_contains(&form, expected);
    }
    let fields = [
        ("region", "us-east"),
        ("label", "core"),
        ("ipv6", "/52"),
        ("subnets[0].label", "a"),
        ("subnets[0].ipv4", "10.0.0.0/24"),
        ("subnets[0].ipv6", "/62"),
        ("subnets[1].label", "b"),
        ("subnets[1].ipv4", "10.0.1.0/24"),
        ("subnets[1].ipv6", ""),
    ];
    assert_redirects_to(
        &ada.submit(&form, "/vpcs/new", &fields).await,
        "/vpcs/1?done=vpc-created",
    );
    let page = ada.get("/vpcs/1").await;
    for expected in ["<code>fd67:6172::/52</code>", "<code>fd67:6172::/62</code>"] {
        assert_contains(&page, expected);
    }
    assert_contains(&ada.get("/vpcs/1/edit").await, "fd67:6172::/52");

    let form = ada.get("/vpcs/1/subnets/new").await;
    assert_contains(
        &form,
        "<option value=\"/56\" selected>/56 (255 networks)</option>",
    );
    assert_contains(&form, "The lowest free part of fd67:6172::/52.");
    let fields = [("label", "c"), ("ipv4", "10.0.2.0/24"), ("ipv6", "/52")];
    let refused = ada.submit(&form, "/vpcs/1/subnets/new", &fields).await;
    assert_eq!(refused.status, 400);
    for expected in [
        "id=\"f-ipv6-wrong\">No /52 in fd67:6172::/52 is free<",
        "href=\"#f-ipv6\">IPv6 range<",
        "<option value=\"/52\" selected>",
    ] {
        assert_contains(&refused, expected);
    }
    let fields = [("label", "c"), ("ipv4", "10.0.2.0/24"), ("ipv6", "/56")];
    assert_redirects_to(
        &ada.submit(&form, "/vpcs/1/subnets/new", &fields).await,
        "/vpcs/1/subnets/3?done=subnet-created",
    );
    for page in ["", "/edit", "/delete"] {
        let page = ada.get(&format!("/vpcs/1/subnets/3{page}")).await;
        assert_contains(&page, "fd67:6172:0:100::/56");
    }
}

#[tokio::test]
async fn errors_about_ranges_are_at_their_field() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    let fields = [
        ("region", "us-east"),
        ("label", "core"),
        ("ipv6", ""),
        ("subnets[0].label", "a"),
        ("subnets[0].ipv4", "10.0.0.0/24"),
        ("subnets[0].ipv6", "/56"),
    ];
    let refused = ada.submit(&form, "/vpcs/new", &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(
        &refused,
        "id=\"f-subnets-0--ipv6-wrong\">The VPC has no IPv6 range",
    );
    assert_contains(&refused, "href=\"#f-subnets-0--ipv6\">Subnet 1, IPv6 range<");
    // Another button preserves the choices.
    let mut more = fields.to_vec();
    more.push(("add", "1"));
    let more = ada.submit(&form, "/vpcs/new", &more).await;
    assert_contains(&more, "<option value=\"/56\" selected>");
}

#[tokio::test]
async fn forms_offer_ipv6_only_where_it_is_available() {
    let app = TestApp::with(|policy, _| policy.ipv6.pool = None).await;
    app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    assert_lacks(&ada.get("/vpcs/new").await, "IPv6");
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    for page in ["/vpcs/1", "/vpcs/1/subnets/new", "/vpcs/1/subnets/1"] {
        assert_lacks(&ada.get(page).await, "IPv6");
    }
}

#[tokio::test]
async fn the_networks_of_a_subnet_are_a_map_and_a_table() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_vpc(&maker, "core", "/48", &["/62", "/52"]).await;
    let ranges = json!({"ranges": [{"range": "auto"}], "is_public": true});
    attach(&maker, "web-1", 1, ranges).await;
    attach(
        &maker,
        "db-1",
        2,
        json!({"slaac": [{"range": "fd67:6172:0:1fff::/64"}]}),
    )
    .await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/vpcs/1/subnets/1").await;
    for expected in [
        "<title>fd67:6172::/64: reserved</title>",
        "<title>fd67:6172:0:1::/64: web-1</title>",
        "<title>fd67:6172:0:3::/64: free</title>",
        "<code>fd67:6172:0:1:2000:ff:fe00:1</code>",
        "2 of 3",
        ">public<",
    ] {
        assert_contains(&page, expected);
    }
    assert_has_anchor(&page, "network-1-1");
    assert_has_anchor(&page, "network-1-2");

    // A large subnet is shown in blocks, and a block by network.
    let page = ada.get("/vpcs/1/subnets/2").await;
    let block = "/vpcs/1/subnets/2?in6=fd67:6172:0:1ff0::/60";
    assert_contains(&page, &format!("href=\"{block}\""));
    assert_contains(&page, "<title>fd67:6172:0:1ff0::/60: 1 of 16 in use (6%)</title>");
    assert_contains(&page, "<title>fd67:6172:0:1000::/60: 0 of 15 in use</title>");
    let zoomed = ada.get(block).await;
    assert_contains(&zoomed, "<title>fd67:6172:0:1fff::/64: db-1</title>");
    assert_contains(&zoomed, "Show the whole subnet");
    for missing in ["fd99::/60", "fd67:6172:0:1ff0::/96", "x"] {
        let missing = ada.get(&format!("/vpcs/1/subnets/2?in6={missing}")).await;
        assert_eq!(missing.status, 404);
    }

    // The page of the VPC has the networks of each interface.
    let page = ada.get("/vpcs/1").await;
    for expected in [
        "<code>fd67:6172:0:1:2000:ff:fe00:1</code> <span class=\"tag\">SLAAC</span>",
        "<code>fd67:6172:0:2::/64</code> <span class=\"tag\">range</span>",
    ] {
        assert_contains(&page, expected);
    }

    // A user who cannot see an instance sees only its ID.
    app.user("rita")
        .may(Grant::Vpc(VpcId(1), Permission::ReadOnly))
        .await;
    let page = logged_in(&app, "rita").await.get("/vpcs/1/subnets/1").await;
    assert_contains(&page, "<title>fd67:6172:0:1::/64: instance 1</title>");
    assert_lacks(&page, "web-1");
}

#[tokio::test]
async fn a_search_finds_ipv6_addresses_and_ranges_in_any_form() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_vpc(&maker, "first", "/52", &[]).await;
    create_vpc(&maker, "second", "/52", &["auto"]).await;
    maker.create_vpc("plain", &["10.9.0.0/24"]).await;
    let other = app.another_account().await;
    create_vpc(&app.user("eve").of(other).await, "foreign", "/52", &[]).await;
    let mut ada = browser(&app, "ada").await;
    for (query, found) in [
        ("fd67:6172::", vec!["first"]),
        ("fd67:6172:0:1000::1", vec!["second"]),
        ("FD67:6172:0000:1000:0000:0000:0000:0001", vec!["second"]),
        ("fd67:6172:0:1000::/56", vec!["second"]),
        ("fd67:6172::/48", vec!["first", "second"]),
        ("fd67:6172:0:2000::", vec![]),
        ("fd99::/16", vec![]),
        ("10.9.0.5", vec!["plain"]),
    ] {
        let page = ada.get(&format!("/vpcs?q={query}")).await;
        for label in ["first", "second", "plain", "foreign"] {
            match found.contains(&label) {
                true => assert_contains(&page, &format!(">{label}<")),
                false => assert_lacks(&page, &format!(">{label}<")),
            }
        }
    }
}
