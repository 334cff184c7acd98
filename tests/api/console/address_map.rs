//! The address map, and the search for an address.

use serde_json::json;

use super::vpcs::api_user;
use crate::console::{app_with_ada, assert_contains, browser, links};

#[tokio::test]
async fn a_vpc_is_found_by_address_or_range() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24", "10.0.4.0/22"]).await;
    maker.create_vpc("edge", &["10.0.5.0/24", "172.16.0.0/16"]).await;
    maker.create_vpc("bare", &[]).await;
    let mut ada = browser(&app, "ada").await;
    for (typed, found) in [
        ("10.0.0.7", vec!["/vpcs/1"]),
        ("10.0.1.7", vec![]),
        ("10.0.5.255", vec!["/vpcs/1", "/vpcs/2"]),
        ("10.0.0.0/8", vec!["/vpcs/1", "/vpcs/2"]),
        ("+172.16.3.0/30+", vec!["/vpcs/2"]),
        ("192.168.0.0/16", vec![]),
        ("172.16.3.9/24", vec!["/vpcs/2"]),
    ] {
        let page = ada.get(&format!("/vpcs?q={typed}")).await;
        let mut listed = links(&page);
        listed.retain(|link| link.starts_with("/vpcs/") && link != "/vpcs/new" && !link.contains(".csv"));
        assert_eq!(listed, found, "{typed}");
    }
    assert_contains(
        &ada.get("/vpcs?q=10.0.5.1&region=eu-central").await,
        "No VPCs match your search.",
    );
    app.user("rita").restricted().await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    assert_contains(&rita.get("/vpcs?q=10.0.0.7").await, "No VPCs match your search.");
}

#[tokio::test]
async fn the_squares_of_a_large_subnet_show_their_ranges() {
    let app = app_with_ada().await;
    api_user(&app).await.create_vpc("wide", &["10.0.0.0/8"]).await;
    let mut ada = browser(&app, "ada").await;
    let page = crate::browser::text(&ada.get("/vpcs/1/subnets/1").await);
    let wide = page
        .split("class=\"narrow")
        .next()
        .expect("the wide map")
        .to_owned();
    assert!(!wide.contains(">.0<"), "{wide}");
    for range in [">10.0/16<", ">10.255/16<"] {
        assert!(wide.contains(range), "{range} is not in {wide}");
    }
}

#[tokio::test]
async fn the_address_map_zooms_from_a_vpc_to_single_addresses() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("wide", &["10.0.0.0/8", "172.16.0.0/29"]).await;
    for (label, interface) in [
        ("low", json!({"purpose": "vpc", "subnet_id": 1})),
        (
            "far",
            json!({"purpose": "vpc", "subnet_id": 1, "ipv4": {"vpc": "10.200.3.77"}, "ip_ranges": ["10.201.0.0/16"]}),
        ),
        ("small", json!({"purpose": "vpc", "subnet_id": 2})),
    ] {
        let body =
            json!({"label": label, "type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
        assert_eq!(maker.post("/compute/instances", body).await.status, 200);
    }
    let mut ada = browser(&app, "ada").await;
    let vpc = ada.get("/vpcs/1").await;
    assert_contains(
        &vpc,
        "<title>a 10.0.0.0/8: 65,538 of 16,777,212 in use (&lt;1%)</title>",
    );
    assert_contains(&vpc, "<title>b 172.16.0.0/29: 1 of 4 in use (25%)</title>");
    assert_contains(&vpc, "No subnets in <code>192.168.0.0/16</code>");

    let whole = ada.get("/vpcs/1/subnets/1").await;
    assert_contains(
        &whole,
        "<title>10.200.0.0/16: 1 of 65,536 in use (&lt;1%)</title>",
    );
    assert_contains(
        &whole,
        "<title>10.201.0.0/16: 65,536 of 65,536 in use (100%)</title>",
    );
    assert_contains(&whole, "<title>10.0.0.0/16: 1 of 65,534 in use (&lt;1%)</title>");
    assert_contains(&whole, "href=\"/vpcs/1/subnets/1?in=10.200.0.0/16\"");
    let closer = ada.get("/vpcs/1/subnets/1?in=10.200.0.0/16").await;
    assert_contains(&closer, "<title>10.200.3.0/24: 1 of 256 in use (&lt;1%)</title>");
    let closest = ada.get("/vpcs/1/subnets/1?in=10.200.3.0/24").await;
    assert_contains(&closest, "<title>10.200.3.77: far</title>");
    assert_contains(&closest, "<title>10.200.3.78: free</title>");
    assert_contains(
        &ada.get("/vpcs/1/subnets/1?in=10.201.7.0/24").await,
        "<title>10.201.7.9: far</title>",
    );

    let small = ada.get("/vpcs/1/subnets/2").await;
    for expected in [
        "172.16.0.1: gateway",
        "172.16.0.2: small",
        "172.16.0.3: free",
        "172.16.0.7: broadcast",
    ] {
        assert_contains(&small, &format!("<title>{expected}</title>"));
    }
    for outside in ["11.0.0.0/16", "10.0.0.0/7", "x", "10.0.0.1/16"] {
        let page = ada.get(&format!("/vpcs/1/subnets/1?in={outside}")).await;
        assert_eq!(page.status, 404, "{outside}");
    }
}
