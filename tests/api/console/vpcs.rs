//! VPCs in the console: lists, forms, deletion and permissions.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::console::{browser, has, has_anchor, lacks, links, redirects_to, with_ada};
use crate::harness::{TestApp, User, add_vpcs};

/// A user of the same account who uses the API.
pub async fn maker(app: &TestApp) -> User<'_> {
    app.user("maker").await
}

#[tokio::test]
async fn the_list_of_vpcs_has_an_empty_state_and_a_search() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    has(&ada.get("/vpcs").await, "No VPCs yet");
    let maker = maker(&app).await;
    maker.creates_vpc("core", &["10.0.0.0/24"]).await;
    maker.creates_vpc("edge", &["10.0.0.0/29", "10.1.0.0/29"]).await;
    maker.creates_instance_on(1).await;

    let all = ada.get("/vpcs").await;
    for wanted in [">core<", ">edge<", "2 VPCs", "1 of 252", "0 of 8", "us-east"] {
        has(&all, wanted);
    }
    let found = ada.get("/vpcs?q=ED").await;
    has(&found, ">edge<");
    lacks(&found, ">core<");
    has(&ada.get("/vpcs?q=b").await, ">edge<");
    has(&ada.get("/vpcs?region=us-west").await, "No results");
    let hostile = ada.get("/vpcs?q=%22%3E%3Cscript%3E").await;
    has(&hostile, "value=\"&quot;&gt;&lt;script&gt;\"");
    lacks(&hostile, "<script>");
}

#[tokio::test]
async fn a_vpc_is_created_with_its_subnets() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    has(&form, "value=\"10.0.0.0/24\"");
    let fields = [
        ("region", "us-east"),
        ("label", "core"),
        ("description", "first line\r\nsecond <b>line"),
        ("subnets[0].label", "a"),
        ("subnets[0].ipv4", "10.0.0.0/24"),
        ("subnets[1].label", ""),
        ("subnets[1].ipv4", ""),
        ("subnets[2].label", "c"),
        ("subnets[2].ipv4", "192.168.0.0/29"),
    ];
    redirects_to(
        &ada.submits(&form, "/vpcs/new", &fields).await,
        "/vpcs/1?done=vpc-created",
    );
    let page = ada.get("/vpcs/1?done=vpc-created").await;
    for wanted in [
        "VPC created.",
        "first line\nsecond &lt;b&gt;line",
        "10.0.0.0/24",
        "192.168.0.0/29",
        "datetime=\"2024-06-01T12:00:00Z\" title=\"2024-06-01 12:00:00 UTC\"",
    ] {
        has(&page, wanted);
    }
    let maker = maker(&app).await;
    assert_eq!(
        maker.events().await,
        ["vpc_create 1", "subnet_create 1", "subnet_create 2"]
    );
    assert_eq!(maker.get("/vpcs/1").await.json()["subnets"][1]["label"], "c");
    assert!(
        maker
            .filter("/account/events", r#"{"username": "ada"}"#)
            .await
            .data()
            .len()
            == 3
    );
}

#[tokio::test]
async fn vpc_errors_are_at_their_field_and_preserve_the_input() {
    let app = with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    let fields = [
        ("region", "us-east"),
        ("label", "bad--<label>"),
        ("description", "a & b"),
        ("subnets[0].label", "a"),
        ("subnets[0].ipv4", "10.0.0.0/24"),
        ("subnets[1].label", "b"),
        ("subnets[1].ipv4", "10.0.0.128/25"),
    ];
    let page = ada.submits(&form, "/vpcs/new", &fields).await;
    assert_eq!(page.status, 400);
    for wanted in [
        "There are 3 problems.",
        "class=\"reason\" id=\"f-label-wrong\">Must only use ASCII letters, numbers, and dashes. Label must not contain two dashes in a row<",
        "aria-describedby=\"f-label-wrong f-label-hint\"",
        "class=\"reason\" id=\"f-subnets-1--ipv4-wrong\">overlaps 10.0.0.0/24 (a)<",
        "href=\"#f-subnets-1--ipv4\">Subnet 2, IPv4 range<",
        "value=\"bad--&lt;label&gt;\"",
        "\na &amp; b</textarea>",
        "value=\"10.0.0.128/25\"",
        "value=\"us-east\" selected",
    ] {
        has(&page, wanted);
    }
    lacks(&page, "f-subnets-0--ipv4-wrong");
    assert_eq!(maker(&app).await.count("/vpcs").await, 0);
    // A missing choice has one short error.
    let page = ada
        .submits(&form, "/vpcs/new", &[("label", "core"), ("region", "")])
        .await;
    has(&page, "region is required");
}

#[tokio::test]
async fn a_vpc_is_edited_and_conflicts_are_detected() {
    let app = with_ada().await;
    let maker = maker(&app).await;
    maker.creates_vpc("core", &[]).await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/1/edit").await;
    let seen = crate::browser::hidden(&form, "version");
    let fields = [
        ("version", seen.as_str()),
        ("label", "heart"),
        ("description", "mine"),
    ];
    maker.put("/vpcs/1", json!({"description": "theirs"})).await;
    let stale = ada.submits(&form, "/vpcs/1/edit", &fields).await;
    assert_eq!(stale.status, 412);
    has(&stale, "This was changed after you opened the page");
    has(&stale, "value=\"heart\"");
    has(&stale, "Current value: <strong>theirs</strong>");
    has(
        &ada.get("/vpcs?page=9").await,
        "The list no longer has this many pages.",
    );
    assert_eq!(maker.get("/vpcs/1").await.json()["description"], "theirs");
    // The second submission has the current version.
    let seen = crate::browser::hidden(&stale, "version");
    let fields = [
        ("version", seen.as_str()),
        ("label", "heart"),
        ("description", "mine"),
    ];
    redirects_to(
        &ada.submits(&stale, "/vpcs/1/edit", &fields).await,
        "/vpcs/1?done=vpc-changed",
    );
    assert_eq!(maker.get("/vpcs/1").await.json()["label"], "heart");
    let fields = [("label", ""), ("description", "")];
    let refused = ada.submits(&form, "/vpcs/1/edit", &fields).await;
    assert_eq!(refused.status, 400);
    has(&refused, "Label must be between 1 and 64 characters");
    let fields = [("label", "heart"), ("description", "")];
    redirects_to(
        &ada.submits(&form, "/vpcs/1/edit", &fields).await,
        "/vpcs/1?done=vpc-changed",
    );
    assert_eq!(
        maker.get("/vpcs/1").await.json()["description"],
        "",
        "it can be emptied"
    );
}

#[tokio::test]
async fn deletion_lists_blockers_and_needs_the_label() {
    let app = with_ada().await;
    let maker = maker(&app).await;
    maker.creates_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    maker.creates_instance_on(2).await;
    let mut ada = browser(&app, "ada").await;
    for page in ["/vpcs/1/delete", "/vpcs/1/subnets/2/delete"] {
        let blocked = ada.get(page).await;
        has(&blocked, "Remove 1 interface first");
        has(&blocked, "href=\"/vpcs/1/subnets/2#interface-1\"");
        lacks(&blocked, "<form");
        // Submitting the form anyway has the same result.
        let form = ada.get("/vpcs/1/edit").await;
        let label = if page.contains("subnets") { "b" } else { "core" };
        let refused = ada.submits(&form, page, &[("label", label)]).await;
        assert_eq!(refused.status, 400);
        has(&refused, "Remove 1 interface first");
    }
    has(&ada.get("/vpcs/1/subnets/2").await, "id=\"interface-1\"");

    let form = ada.get("/vpcs/1/subnets/1/delete").await;
    for wrong in ["", "A", "core"] {
        let refused = ada
            .submits(&form, "/vpcs/1/subnets/1/delete", &[("label", wrong)])
            .await;
        assert_eq!(refused.status, 400, "{wrong}");
        has(&refused, "Must be a to confirm");
    }
    let done = ada
        .submits(&form, "/vpcs/1/subnets/1/delete", &[("label", "a")])
        .await;
    redirects_to(&done, "/vpcs/1?done=subnet-deleted");
    maker.delete("/compute/instances/1").await;
    let form = ada.get("/vpcs/1/delete").await;
    has(&form, "1 subnet");
    let refused = ada.submits(&form, "/vpcs/1/delete", &[("label", "nope")]).await;
    assert_eq!(refused.status, 400);
    let done = ada.submits(&form, "/vpcs/1/delete", &[("label", "core")]).await;
    redirects_to(&done, "/vpcs?done=vpc-deleted");
    assert_eq!(ada.get("/vpcs/1").await.status, 404);
}

#[tokio::test]
async fn blockers_of_a_deletion_link_to_their_interface_in_subnets_of_any_size() {
    let app = with_ada().await;
    let maker = maker(&app).await;
    maker.creates_vpc("wide", &["10.0.0.0/8", "172.16.0.0/23"]).await;
    let far = json!({"purpose": "vpc", "subnet_id": 1, "ipv4": {"vpc": "10.200.3.77"},
        "ip_ranges": ["10.201.0.0/28", "10.201.0.32/28"]});
    for (label, interface) in [("far", far), ("near", json!({"purpose": "vpc", "subnet_id": 2}))] {
        let body =
            json!({"label": label, "type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]});
        assert_eq!(maker.post("/compute/instances", body).await.status, 200);
    }
    let mut ada = browser(&app, "ada").await;
    for (page, interfaces) in [
        ("/vpcs/1/delete", &[1, 2][..]),
        ("/vpcs/1/subnets/1/delete", &[1]),
        ("/vpcs/1", &[1, 2]),
    ] {
        let links = links(&ada.get(page).await);
        for interface in interfaces {
            let anchor = format!("#interface-{interface}");
            let mut there = links.iter().filter_map(|link| link.strip_suffix(&anchor));
            let place = there
                .next()
                .unwrap_or_else(|| panic!("no {anchor} on {page}: {links:?}"));
            has_anchor(&ada.get(place).await, &anchor[1..]);
        }
    }
    // Each link of a map has a target in the table below it, also a routed range.
    for part in ["10.201.0.0/24", "10.200.3.0/24"] {
        let page = ada.get(&format!("/vpcs/1/subnets/1?in={part}")).await;
        let links = links(&page);
        let mut inside: Vec<_> = links
            .iter()
            .filter_map(|link| link.strip_prefix("#interface-"))
            .collect();
        inside.sort_unstable();
        inside.dedup();
        assert_eq!(inside.len(), if part.starts_with("10.201") { 2 } else { 1 });
        for name in inside {
            has_anchor(&page, &format!("interface-{name}"));
        }
    }
    // An unknown interface shows the whole subnet.
    has(
        &ada.get("/vpcs/1/subnets/1?interface=99").await,
        "href=\"/vpcs/1/subnets/1?in=10.0.0.0/16\"",
    );
}

#[tokio::test]
async fn restricted_users_have_only_their_granted_access() {
    let app = TestApp::new().await;
    let maker = maker(&app).await;
    maker.creates_vpc("hidden-one", &["10.0.0.0/29"]).await;
    let shown = maker.creates_vpc("shown-one", &["10.0.0.0/29"]).await;
    maker
        .post(
            "/compute/instances",
            json!({"label": "secret-name", "type": "g6-nanode-1", "region": "us-east",
        "interfaces": [{"purpose": "vpc", "subnet_id": 2}]}),
        )
        .await;
    app.user("rita")
        .may(Grant::Vpc(shown, Permission::ReadOnly))
        .await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;

    let list = rita.get("/vpcs").await;
    has(&list, ">shown-one<");
    lacks(&list, "hidden-one");
    lacks(&list, "/vpcs/new");
    let page = rita.get("/vpcs/2").await;
    lacks(&page, "/vpcs/2/edit");
    lacks(&page, "secret-name");
    lacks(&rita.get("/vpcs/2/subnets/2").await, "secret-name");
    for (path, status) in [
        ("/vpcs/1", 404),
        ("/vpcs/1/edit", 404),
        ("/vpcs/1/subnets/1", 404),
        ("/vpcs/2/edit", 403),
        ("/vpcs/2/delete", 403),
        ("/vpcs/2/subnets/new", 403),
        ("/vpcs/2/subnets/check", 403),
        ("/vpcs/2/subnets/2/edit", 403),
        ("/vpcs/2/subnets/2/delete", 403),
        ("/vpcs/2/subnets/1", 404),
        ("/vpcs/new", 403),
        ("/vpcs/new/check", 403),
    ] {
        assert_eq!(rita.get(path).await.status.as_u16(), status, "{path}");
    }
    // A form with a valid token is subject to the same rules.
    app.grant("rita", add_vpcs()).await;
    let form = rita.get("/vpcs/new").await;
    assert_eq!(form.status, 200);
    let fields = [("label", "x"), ("description", "")];
    assert_eq!(rita.submits(&form, "/vpcs/2/edit", &fields).await.status, 403);
    assert_eq!(rita.submits(&form, "/vpcs/1/edit", &fields).await.status, 404);
    let fields = [("label", "own"), ("region", "us-east")];
    redirects_to(
        &rita.submits(&form, "/vpcs/new", &fields).await,
        "/vpcs/3?done=vpc-created",
    );
    has(&rita.get("/vpcs/3").await, "/vpcs/3/edit");
}

#[tokio::test]
async fn the_list_has_the_page_size_of_the_api_and_updates_itself() {
    let app = with_ada().await;
    let maker = maker(&app).await;
    for at in 0..101 {
        maker.creates_vpc(&format!("net-{at:03}"), &[]).await;
    }
    let mut ada = browser(&app, "ada").await;
    let list = ada.get("/vpcs").await;
    has(&list, "101 VPCs");
    has(&list, ">net-099<");
    lacks(&list, ">net-100<");
    for (page, again) in [
        ("/vpcs", "/vpcs"),
        ("/vpcs?q=net-05", "/vpcs?q=net-05"),
        ("/vpcs?page=2", "/vpcs?page=2"),
    ] {
        let list = ada.get(page).await;
        has(&list, &format!("id=\"list\" hx-get=\"{again}\""));
        for kind in ["vpc", "subnet", "linode"] {
            has(&list, &format!("garth:{kind} from:body"));
        }
    }
    has(&ada.get("/vpcs?page=2").await, ">net-100<");
}

#[tokio::test]
async fn resources_of_another_account_are_not_found() {
    let app = with_ada().await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    eve.creates_vpc("theirs", &["10.0.0.0/29"]).await;
    let mut ada = browser(&app, "ada").await;
    lacks(&ada.get("/vpcs").await, "theirs");
    for path in [
        "/vpcs/1",
        "/vpcs/1/edit",
        "/vpcs/1/delete",
        "/vpcs/1/subnets/new",
        "/vpcs/1/subnets/check",
        "/vpcs/1/subnets/1",
        "/vpcs/1/subnets/1/edit",
        "/vpcs/1/subnets/1/delete",
    ] {
        let page = ada.get(path).await;
        assert_eq!(page.status, 404, "{path}");
        has(&page, "Back to home");
    }
}
