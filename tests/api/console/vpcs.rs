//! VPCs in the console: lists, forms, deletion and permissions.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::text;
use crate::console::{
    app_with_ada, assert_contains, assert_has_anchor, assert_lacks, assert_redirects_to, browser, links,
};
use crate::harness::{TestApp, User, add_vpcs};

/// A user of the same account who uses the API.
pub async fn api_user(app: &TestApp) -> User<'_> {
    app.user("maker").await
}

#[tokio::test]
async fn the_list_of_vpcs_has_an_empty_state_and_a_search() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/vpcs").await, "No VPCs yet");
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    maker.create_vpc("edge", &["10.0.0.0/29", "10.1.0.0/29"]).await;
    maker.create_instance_on(1).await;

    let all = ada.get("/vpcs").await;
    for expected in [
        ">core<",
        ">edge<",
        "2 VPCs",
        "1 of 252",
        "0 of 8",
        "us-east",
        "Newark, NJ",
    ] {
        assert_contains(&all, expected);
    }
    let found = ada.get("/vpcs?q=ED").await;
    assert_contains(&found, ">edge<");
    assert_lacks(&found, ">core<");
    assert_contains(&ada.get("/vpcs?q=b").await, ">edge<");
    assert_contains(&ada.get("/vpcs?region=us-west").await, "No results");
    let hostile = ada.get("/vpcs?q=%22%3E%3Cscript%3E").await;
    assert_contains(&hostile, "value=\"&quot;&gt;&lt;script&gt;\"");
    assert_lacks(&hostile, "<script>");
}

#[tokio::test]
async fn a_vpc_is_created_with_its_subnets() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    assert_contains(&form, "value=\"10.0.0.0/24\"");
    // The page shows all errors, so the browser does not show its own.
    assert_contains(&form, "method=\"post\" novalidate");
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
    assert_redirects_to(
        &ada.submit(&form, "/vpcs/new", &fields).await,
        "/vpcs/1?done=vpc-created",
    );
    let page = ada.get("/vpcs/1?done=vpc-created").await;
    for expected in [
        "VPC created.",
        "first line\nsecond &lt;b&gt;line",
        "10.0.0.0/24",
        "192.168.0.0/29",
        "datetime=\"2024-06-01T12:00:00Z\" title=\"2024-06-01 12:00:00 UTC\"",
    ] {
        assert_contains(&page, expected);
    }
    let maker = api_user(&app).await;
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
    let app = app_with_ada().await;
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
    let page = ada.submit(&form, "/vpcs/new", &fields).await;
    assert_eq!(page.status, 400);
    for expected in [
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
        assert_contains(&page, expected);
    }
    assert_lacks(&page, "f-subnets-0--ipv4-wrong");
    assert_eq!(api_user(&app).await.count("/vpcs").await, 0);
    // A missing choice has one short error.
    let page = ada
        .submit(&form, "/vpcs/new", &[("label", "core"), ("region", "")])
        .await;
    assert_contains(&page, "href=\"#f-region\">Region</a> is required<");
    assert_contains(&page, "id=\"f-region-wrong\">region is required<");
    let long = "x".repeat(65);
    let fields = [("label", long.as_str()), ("region", "us-east")];
    let page = ada.submit(&form, "/vpcs/new", &fields).await;
    assert_contains(
        &page,
        "href=\"#f-label\">Label</a> must be between 1 and 64 characters<",
    );
}

#[tokio::test]
async fn a_vpc_is_edited_and_conflicts_are_detected() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &[]).await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/1/edit").await;
    let version = crate::browser::hidden_field(&form, "version");
    let fields = [
        ("version", version.as_str()),
        ("label", "heart"),
        ("description", "mine"),
    ];
    maker.put("/vpcs/1", json!({"description": "theirs"})).await;
    let stale = ada.submit(&form, "/vpcs/1/edit", &fields).await;
    assert_eq!(stale.status, 412);
    assert_contains(&stale, "This was changed after you opened the page");
    assert_contains(&stale, "value=\"heart\"");
    assert_contains(&stale, "Current value: <strong>theirs</strong>");
    assert_contains(
        &ada.get("/vpcs?page=9").await,
        "The list no longer has this many pages.",
    );
    assert_eq!(maker.get("/vpcs/1").await.json()["description"], "theirs");
    // The second submission has the current version.
    let version = crate::browser::hidden_field(&stale, "version");
    let fields = [
        ("version", version.as_str()),
        ("label", "heart"),
        ("description", "mine"),
    ];
    assert_redirects_to(
        &ada.submit(&stale, "/vpcs/1/edit", &fields).await,
        "/vpcs/1?done=vpc-changed",
    );
    assert_eq!(maker.get("/vpcs/1").await.json()["label"], "heart");
    let fields = [("label", ""), ("description", "")];
    let refused = ada.submit(&form, "/vpcs/1/edit", &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "Label must be between 1 and 64 characters");
    let fields = [("label", "heart"), ("description", "")];
    assert_redirects_to(
        &ada.submit(&form, "/vpcs/1/edit", &fields).await,
        "/vpcs/1?done=vpc-changed",
    );
    assert_eq!(
        maker.get("/vpcs/1").await.json()["description"],
        "",
        "the description can be empty"
    );
}

#[tokio::test]
async fn deletion_lists_blockers_and_needs_the_label() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    maker.create_instance_on(2).await;
    let mut ada = browser(&app, "ada").await;
    for page in ["/vpcs/1/delete", "/vpcs/1/subnets/2/delete"] {
        let blocked = ada.get(page).await;
        assert_contains(&blocked, "Remove 1 interface first");
        assert_contains(&blocked, "href=\"/vpcs/1/subnets/2#interface-1\"");
        assert_lacks(&blocked, "method=\"post\"");
        // Submitting the form anyway has the same result.
        let form = ada.get("/vpcs/1/edit").await;
        let label = if page.contains("subnets") { "b" } else { "core" };
        let refused = ada.submit(&form, page, &[("label", label)]).await;
        assert_eq!(refused.status, 400);
        assert_contains(&refused, "Remove 1 interface first");
    }
    assert_contains(&ada.get("/vpcs/1/subnets/2").await, "id=\"interface-1\"");

    let form = ada.get("/vpcs/1/subnets/1/delete").await;
    for wrong in ["", "A", "core"] {
        let refused = ada
            .submit(&form, "/vpcs/1/subnets/1/delete", &[("label", wrong)])
            .await;
        assert_eq!(refused.status, 400, "{wrong}");
        assert_contains(&refused, "Does not match “a”");
    }
    let done = ada
        .submit(&form, "/vpcs/1/subnets/1/delete", &[("label", "a")])
        .await;
    assert_redirects_to(&done, "/vpcs/1?done=subnet-deleted");
    maker.delete("/compute/instances/1").await;
    let form = ada.get("/vpcs/1/delete").await;
    assert_contains(&form, "1 subnet");
    let refused = ada.submit(&form, "/vpcs/1/delete", &[("label", "nope")]).await;
    assert_eq!(refused.status, 400);
    let done = ada.submit(&form, "/vpcs/1/delete", &[("label", "core")]).await;
    assert_redirects_to(&done, "/vpcs?done=vpc-deleted");
    assert_eq!(ada.get("/vpcs/1").await.status, 404);
}

#[tokio::test]
async fn blockers_of_a_deletion_link_to_their_interface_in_subnets_of_any_size() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("wide", &["10.0.0.0/8", "172.16.0.0/23"]).await;
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
            assert_has_anchor(&ada.get(place).await, &anchor[1..]);
        }
    }
    // Each link of a map has a target in the table below the map. This includes routed ranges.
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
            assert_has_anchor(&page, &format!("interface-{name}"));
        }
    }
    // An unknown interface shows the whole subnet.
    assert_contains(
        &ada.get("/vpcs/1/subnets/1?interface=99").await,
        "href=\"/vpcs/1/subnets/1?in=10.0.0.0/16\"",
    );
}

#[tokio::test]
async fn restricted_users_have_only_their_granted_access() {
    let app = TestApp::new().await;
    let maker = api_user(&app).await;
    maker.create_vpc("hidden-one", &["10.0.0.0/29"]).await;
    let shown = maker.create_vpc("shown-one", &["10.0.0.0/29"]).await;
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
    assert_contains(&list, ">shown-one<");
    assert_lacks(&list, "hidden-one");
    assert_lacks(&list, "/vpcs/new");
    let page = rita.get("/vpcs/2").await;
    assert_lacks(&page, "/vpcs/2/edit");
    assert_lacks(&page, "secret-name");
    assert_lacks(&rita.get("/vpcs/2/subnets/2").await, "secret-name");
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
    assert_eq!(rita.submit(&form, "/vpcs/2/edit", &fields).await.status, 403);
    assert_eq!(rita.submit(&form, "/vpcs/1/edit", &fields).await.status, 404);
    let fields = [("label", "own"), ("region", "us-east")];
    assert_redirects_to(
        &rita.submit(&form, "/vpcs/new", &fields).await,
        "/vpcs/3?done=vpc-created",
    );
    assert_contains(&rita.get("/vpcs/3").await, "/vpcs/3/edit");
}

#[tokio::test]
async fn the_list_has_pages_and_updates_itself() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    for number in 0..101 {
        maker.create_vpc(&format!("net-{number:03}"), &[]).await;
    }
    let mut ada = browser(&app, "ada").await;
    let list = ada.get("/vpcs").await;
    assert_contains(&list, "101 VPCs");
    assert_contains(&list, ">net-039<");
    assert_lacks(&list, ">net-040<");
    for (page, again) in [
        ("/vpcs", "/vpcs"),
        ("/vpcs?q=net-05", "/vpcs?q=net-05"),
        ("/vpcs?page=2", "/vpcs?page=2"),
    ] {
        let list = ada.get(page).await;
        assert_contains(&list, &format!("id=\"list\" hx-get=\"{again}\""));
        for kind in ["vpc", "subnet", "linode"] {
            assert_contains(&list, &format!("garth:{kind} from:body"));
        }
    }
    assert_contains(&ada.get("/vpcs?page=2").await, ">net-040<");
}

#[tokio::test]
async fn resources_of_another_account_are_not_found() {
    let app = app_with_ada().await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    eve.create_vpc("theirs", &["10.0.0.0/29"]).await;
    let mut ada = browser(&app, "ada").await;
    assert_lacks(&ada.get("/vpcs").await, "theirs");
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
        assert_contains(&page, "Back to home");
    }
}

#[tokio::test]
async fn the_list_of_vpcs_shows_the_usage_of_many_subnets() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    // More subnets than a statement of SQLite can have parameters, if their number is rounded to a power of two.
    for vpc in 0..17 {
        let subnet = |at: usize| json!({"label": format!("s{at}"), "ipv4": format!("10.{}.{}.0/29", at / 250, at % 250)});
        let subnets: Vec<_> = (0..1000).map(subnet).collect();
        let body = json!({"label": format!("vpc-{vpc}"), "region": "us-east", "subnets": subnets});
        let created = maker.post("/vpcs", body).await;
        assert_eq!(created.status, 200, "{created}");
    }
    let mut ada = browser(&app, "ada").await;

    let list = ada.get("/vpcs").await;

    assert_eq!(list.status, 200);
    assert_contains(&list, "0 of 4,000");
}

#[tokio::test]
async fn the_export_link_follows_the_search_of_the_page() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let body = json!({"label": "core-1", "type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    let mut ada = browser(&app, "ada").await;
    for (list, filter, export) in [
        (
            "/vpcs",
            "q=core&region=us-east",
            "/vpcs/export.csv?q=core&amp;region=us-east",
        ),
        ("/vpcs/1/subnets", "q=a", "/vpcs/1/subnets/export.csv?q=a"),
        (
            "/instances",
            "q=core&status=offline",
            "/instances/export.csv?q=core&amp;status=offline",
        ),
    ] {
        let page = ada.get(&format!("{list}?{filter}")).await;
        // The search and the reload of the list replace this element.
        assert_eq!(
            text(&page).matches("hx-select-oob=\"#export").count(),
            2,
            "{page}"
        );
        let link = format!("<span id=\"export\"><a class=\"button\" href=\"{export}\" download>Export CSV<");
        assert_contains(&page, &link);
        let page = ada.get(&format!("{list}?q=nothing-matches")).await;
        assert_contains(&page, "<span id=\"export\"></span>");
    }
}
