//! Long lists in the console: sort order, pages, export, and VPCs with many subnets.

use garth::model::grant::Permission;
use garth::model::id::VpcId;
use garth::rules::grants::Grant;
use serde_json::json;

use super::vpcs::api_user;
use crate::browser::text;
use crate::console::{app_with_ada, assert_contains, assert_lacks, browser};
use crate::harness::{Reply, User};

/// Creates a VPC with subnets 10.0.0.0/29, 10.0.1.0/29, …, labeled `s0`, `s1`, ….
async fn create_large_vpc(maker: &User<'_>, label: &str, count: usize) {
    let subnet =
        |at: usize| json!({"label": format!("s{at}"), "ipv4": format!("10.{}.{}.0/29", at / 250, at % 250)});
    let subnets: Vec<_> = (0..count).map(subnet).collect();
    let body = json!({"label": label, "region": "us-east", "subnets": subnets});
    let created = maker.post("/vpcs", body).await;
    assert_eq!(created.status, 200, "{created}");
}

/// The positions of texts on a page are in this order.
fn assert_order(page: &Reply, texts: &[&str]) {
    let html = text(page);
    let positions: Vec<_> = texts
        .iter()
        .map(|text| html.find(text).unwrap_or_else(|| panic!("no {text}: {html}")))
        .collect();
    assert!(positions.is_sorted(), "{texts:?}: {html}");
}

#[tokio::test]
async fn lists_are_sorted_by_their_columns() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    for (label, region) in [("beta", "us-west"), ("alpha", "us-east"), ("gamma", "eu-west")] {
        maker
            .post("/vpcs", json!({"label": label, "region": region}))
            .await;
        let body = json!({"label": label, "type": "g6-nanode-1", "region": region});
        maker.post("/linode/instances", body).await;
        app.advance(60);
    }
    let mut ada = browser(&app, "ada").await;
    for list in ["/vpcs", "/instances"] {
        for (sort, order) in [
            ("", [">alpha<", ">beta<", ">gamma<"]),
            ("?sort=-label", [">gamma<", ">beta<", ">alpha<"]),
            ("?sort=region", [">gamma<", ">alpha<", ">beta<"]),
            ("?sort=-updated", [">gamma<", ">alpha<", ">beta<"]),
            ("?sort=password", [">alpha<", ">beta<", ">gamma<"]),
        ] {
            assert_order(&ada.get(&format!("{list}{sort}")).await, &order);
        }
        let page = ada.get(list).await;
        assert_contains(
            &page,
            &format!("aria-sort=\"ascending\"><a class=\"sort\" href=\"{list}?sort=-label\""),
        );
        // The order and the search are combined.
        let page = ada.get(&format!("{list}?q=a&sort=-label")).await;
        assert_contains(&page, &format!("href=\"{list}?q=a&amp;sort=updated\""));
        assert_contains(&page, "aria-sort=\"descending\"");
    }
}

#[tokio::test]
async fn subnets_are_sorted_by_range_and_by_utilization() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let subnet = |label, ipv4| json!({"label": label, "ipv4": ipv4});
    let subnets = [
        subnet("large", "10.9.0.0/16"),
        subnet("small", "10.0.0.0/29"),
        subnet("empty", "10.1.0.0/24"),
    ];
    let body = json!({"label": "core", "region": "us-east", "subnets": subnets});
    assert_eq!(maker.post("/vpcs", body).await.status, 200);
    for subnet in [1, 1, 2] {
        let interface = json!({"purpose": "vpc", "subnet_id": subnet});
        let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
        assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    }
    let mut ada = browser(&app, "ada").await;
    for (sort, order) in [
        ("range", [">small<", ">empty<", ">large<"]),
        ("-range", [">large<", ">empty<", ">small<"]),
        // 0 of 252, 2 of 65,532, and 1 of 4 addresses.
        ("usage", [">empty<", ">large<", ">small<"]),
        ("-usage", [">small<", ">large<", ">empty<"]),
    ] {
        let url = format!("/vpcs/1/subnets?sort={sort}");
        assert_order(&ada.get(&url).await, &order);
        let file = ada.get(&format!("/vpcs/1/subnets/export.csv?sort={sort}")).await;
        let labels = order.map(|label| label.replace(['>', '<'], "\""));
        assert_order(&file, &labels.each_ref().map(String::as_str));
    }
    assert_contains(&ada.get("/vpcs/1").await, "3 of 65,788 (less than 1%)");
    assert_contains(&ada.get("/vpcs/1/subnets/2").await, "1 of 4 (25%)");
}

#[tokio::test]
async fn lists_are_exported_as_csv() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    maker.create_vpc("edge", &[]).await;
    let body = json!({"label": "web-1", "type": "g6-nanode-1", "region": "us-east", "tags": ["=evil", "front"],
        "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    let address = maker.get("/linode/instances/1").await.json()["ipv4"][0].clone();
    let mut ada = browser(&app, "ada").await;
    let at = "2024-06-01T12:00:00";
    for (path, expected) in [
        (
            "/vpcs/export.csv?q=cor",
            format!(
                "\"id\",\"label\",\"region\",\"ipv6\",\"subnets\",\"created\",\"updated\"\r\n\"1\",\"core\",\"us-east\",\"\",\"1\",\"{at}\",\"{at}\"\r\n"
            ),
        ),
        (
            "/vpcs/1/subnets/export.csv",
            format!(
                "\"id\",\"label\",\"ipv4\",\"ipv6\",\"instances\",\"in_use\",\"usable\",\"percent\",\"created\",\"updated\"\r\n\"1\",\"a\",\"10.0.0.0/24\",\"\",\"1\",\"1\",\"252\",\"0.4\",\"{at}\",\"{at}\"\r\n"
            ),
        ),
        (
            "/instances/export.csv",
            format!(
                "\"id\",\"label\",\"status\",\"region\",\"type\",\"ipv4\",\"tags\",\"created\",\"updated\"\r\n\"1\",\"web-1\",\"offline\",\"us-east\",\"g6-nanode-1\",{address},\"'=evil front\",\"{at}\",\"{at}\"\r\n"
            ),
        ),
    ] {
        let file = ada.get(path).await;
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8", "{path}");
        assert!(
            file.header("content-disposition").starts_with("attachment"),
            "{path}"
        );
        assert_eq!(text(&file), expected, "{path}");
    }
    // A restricted user exports nothing.
    app.user("rita").restricted().await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    assert_eq!(text(&rita.get("/vpcs/export.csv").await).lines().count(), 1);
    assert_eq!(text(&rita.get("/instances/export.csv").await).lines().count(), 1);
    assert_eq!(rita.get("/vpcs/1/subnets/export.csv").await.status, 404);
    assert_eq!(rita.get("/vpcs/1/subnets").await.status, 404);
}

#[tokio::test]
async fn a_vpc_with_a_thousand_subnets_has_small_pages() {
    const MAX_PAGE_BYTES: usize = 300_000;
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_large_vpc(&maker, "large", 1000).await;
    let mut ada = browser(&app, "ada").await;
    for path in [
        "/vpcs/1",
        "/vpcs/1/map",
        "/vpcs/1/subnets",
        "/vpcs/1/subnets?page=25",
        "/vpcs/1/subnets?q=10.1.0.0/16",
        "/vpcs/1/subnets/new",
        "/vpcs",
    ] {
        let page = ada.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.body.len() < MAX_PAGE_BYTES,
            "{path}: {} bytes",
            page.body.len()
        );
    }
    let overview = ada.get("/vpcs/1").await;
    assert_contains(&overview, "Subnets (1,000)");
    assert_contains(&overview, "Show all 1,000 subnets");
    assert_lacks(&overview, ">s500<");
    // The page loads the map later, and has a link to it without script.
    assert_contains(&overview, "hx-get=\"/vpcs/1/map\" hx-trigger=\"load\"");
    assert_contains(&overview, "<a class=\"button\" href=\"/vpcs/1/map\">");
    let map = ada.get("/vpcs/1/map").await;
    assert_contains(&map, "0 of 4,000 (0%)");
    // A square of the map leads to the subnets of its range.
    assert_contains(&map, "href=\"/vpcs/1/subnets?q=10.0.0.0/14\"");
    let listed = ada.get("/vpcs/1/subnets?q=10.0.0.0/14").await;
    assert_contains(&listed, "1,000 subnets");
    assert_contains(&listed, ">s39<");
    assert_lacks(&listed, ">s40<");
    assert_contains(&ada.get("/vpcs/1/subnets?page=2").await, ">s40<");
    let found = ada.get("/vpcs/1/subnets?q=s77").await;
    assert_contains(&found, "11 subnets");
    assert_contains(&ada.get("/vpcs/1/subnets?q=10.3.7.1").await, ">s757<");
    assert_contains(&ada.get("/vpcs/1/subnets?q=192.168.0.0/16").await, "No results");
    let past_the_end = ada.get("/vpcs/1/subnets?page=99").await;
    assert_contains(&past_the_end, "This page is empty");
    assert_contains(&past_the_end, "href=\"/vpcs/1/subnets\">Go to the first page");
    let file = ada.get("/vpcs/1/subnets/export.csv").await;
    assert_eq!(text(&file).lines().count(), 1001);
}

#[tokio::test]
async fn the_map_of_a_large_vpc_shows_allocated_reserved_and_free_ranges() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_large_vpc(&maker, "large", 70).await;
    let body = json!({"label": "office", "ipv4": "192.168.0.0/24"});
    assert_eq!(maker.post("/vpcs/1/subnets", body).await.status, 200);
    let mut ada = browser(&app, "ada").await;
    let map = ada.get("/vpcs/1/map").await;
    assert_contains(&map, "192.168.0.0/22: 256 of 1,024 allocated (25%)");
    assert_contains(&map, "192.168.128.0/22: reserved by the provider");
    assert_lacks(&map, "q=192.168.128.0/22");
    assert_contains(&map, "No subnets in <code>172.16.0.0/12</code>.");
    // A free square leads to the form for a subnet there.
    let free = ada.get("/vpcs/1/subnets?q=10.8.0.0/14").await;
    assert_contains(&free, "No subnets in 10.8.0.0/14.");
    let form_url = "/vpcs/1/subnets/new?free=10.8.0.0-10.11.255.255";
    assert_contains(&free, &format!("href=\"{form_url}\">Add a subnet there"));
    assert_contains(&ada.get(form_url).await, "value=\"10.8.0.0/24\"");
    // Public ranges have no subnets.
    let public = ada.get("/vpcs/1/subnets?q=8.8.0.0/16").await;
    assert_contains(&public, "Show all subnets");
    assert_lacks(&public, "Add a subnet there");
}

#[tokio::test]
async fn subnets_are_found_by_ranges_of_both_families_with_their_instances() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let subnets = [("a", "10.0.0.0/24"), ("b", "10.0.1.0/24")];
    let subnets =
        subnets.map(|(label, ipv4)| json!({"label": label, "ipv4": ipv4, "ipv6": [{"range": "/56"}]}));
    let body = json!({"label": "core", "region": "us-east", "ipv6": [{"range": "/52"}], "subnets": subnets});
    assert_eq!(maker.post("/vpcs", body).await.status, 200);
    let interface = json!({"purpose": "vpc", "subnet_id": 2});
    let body =
        json!({"label": "web-1", "type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
    assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    let mut ada = browser(&app, "ada").await;
    for (search, found) in [
        ("10.0.1.0/24", &["b"][..]),
        ("10.0.1.2", &["b"]),
        ("10.0.0.0/8", &["a", "b"]),
        ("fd67:6172:0:100::/56", &["b"]),
        ("fd67:6172::7", &["a"]),
        ("fd67:6172:0:100::1", &["b"]),
        ("fd67:6172::/52", &["a", "b"]),
        ("::/0", &["a", "b"]),
        ("fd67:6172:0:200::/56", &[]),
    ] {
        let page = ada.get(&format!("/vpcs/1/subnets?q={search}")).await;
        let file = ada.get(&format!("/vpcs/1/subnets/export.csv?q={search}")).await;
        let rows = text(&file);
        for (label, instances) in [("a", 0), ("b", 1)] {
            let is_found = found.contains(&label);
            assert_eq!(
                text(&page).contains(&format!(">{label}</a>")),
                is_found,
                "{search}: {page}"
            );
            // The list and the file count the instances.
            let cell = format!("data-label=\"Instances\">{instances}<");
            assert_eq!(text(&page).contains(&cell), is_found, "{search}: {page}");
            let row = rows.lines().find(|row| row.contains(&format!("\"{label}\"")));
            let count = row.map(|row| row.split(',').nth(4).expect("a count").to_owned());
            assert_eq!(count, is_found.then(|| format!("\"{instances}\"")), "{search}");
        }
    }
}

#[tokio::test]
async fn a_vpc_with_many_subnets_shows_its_instances_and_usage() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_large_vpc(&maker, "large", 100).await;
    for (label, subnet) in [("web", 1), ("data", 100)] {
        let interface = json!({"purpose": "vpc", "subnet_id": subnet});
        let body =
            json!({"label": label, "type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
        assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    }
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/vpcs/1").await;
    assert_contains(&page, "<dt>Instances</dt><dd>2</dd>");
    assert_contains(&page, ">web</a>");
    assert_contains(&page, "<code>10.0.99.2</code>");
    assert_contains(&page, ">s99</a>");
    assert_lacks(&page, ">s50</a>");
    // 4 of the 8 addresses of a /29 are usable.
    assert_contains(&ada.get("/vpcs/1/map").await, "2 of 400");
    // A restricted user with access to the VPC sees no label of an instance.
    app.user("rita")
        .may(Grant::Vpc(VpcId(1), Permission::ReadOnly))
        .await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    let page = rita.get("/vpcs/1").await;
    assert_contains(&page, "<code>10.0.99.2</code>");
    assert_lacks(&page, ">web</a>");
    assert_contains(&rita.get("/vpcs/1/map").await, "2 of 400");
}

#[tokio::test]
async fn a_ticket_about_a_vpc_with_a_thousand_subnets_has_a_small_page() {
    const MAX_PAGE_BYTES: usize = 300_000;
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_large_vpc(&maker, "large", 1000).await;
    let ticket = json!({"summary": "Lost packets", "description": "Since noon.", "vpc_id": 1});
    assert_eq!(maker.post("/support/tickets", ticket).await.status, 200);
    app.user("grace").staff().await;
    app.set_password("grace").await;
    let mut grace = browser(&app, "grace").await;
    for path in [
        "/desk/tickets/1",
        "/desk/tickets/1/vpc",
        "/desk/tickets/1/vpc?page=25",
        "/provider/accounts/1/vpcs/1",
        "/provider/accounts/1/vpcs/1?subnets=25",
    ] {
        let page = grace.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.body.len() < MAX_PAGE_BYTES,
            "{path}: {} bytes",
            page.body.len()
        );
    }
}

#[tokio::test]
async fn a_vpc_with_few_subnets_shows_them_on_its_page() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    create_large_vpc(&maker, "small", 25).await;
    create_large_vpc(&maker, "medium", 26).await;
    let mut ada = browser(&app, "ada").await;
    let small = ada.get("/vpcs/1").await;
    assert_contains(&small, ">s24</a>");
    assert_lacks(&small, "Show all 25 subnets");
    let medium = ada.get("/vpcs/2").await;
    assert_contains(&medium, "Show all 26 subnets");
    // The map still has a block for each subnet.
    assert_contains(&medium, "<title>s25 10.0.25.0/29");
    // The map of the ranges does not depend on the number of subnets.
    assert_contains(&ada.get("/vpcs/2/map").await, "0 of 104 (0%)");
    maker.create_vpc("empty", &[]).await;
    assert_contains(&ada.get("/vpcs/3/map").await, "No subnets yet");
    app.user("rita").restricted().await;
    app.set_password("rita").await;
    assert_eq!(browser(&app, "rita").await.get("/vpcs/1/map").await.status, 404);
}
