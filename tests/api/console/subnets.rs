//! Subnets in the console: rows of a form, ranges, and changes.

use garth::model::grant::{Global, Permission};
use garth::model::id::VpcId;
use garth::rules::grants::Grant;

use super::vpcs::api_user;
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser, links};

#[tokio::test]
async fn rows_are_added_with_the_next_free_range_and_removed_without_javascript() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    let row = [
        ("label", "valid"),
        ("subnets[0].label", "a"),
        ("subnets[0].ipv4", "10.9.0.0/24"),
    ];
    let mut fields = row.to_vec();
    fields.push(("add", "1"));
    let more = ada.submit(&form, "/vpcs/new", &fields).await;
    assert_eq!(more.status, 200);
    for expected in [
        "value=\"valid\"",
        "value=\"10.9.0.0/24\"",
        "value=\"10.9.1.0/24\"",
        "value=\"subnet-2\"",
    ] {
        assert_contains(&more, expected);
    }
    let mut fields = row.to_vec();
    fields.extend([
        ("subnets[1].label", "b"),
        ("subnets[1].ipv4", "10.0.7.0/24"),
        ("remove", "0"),
    ]);
    let less = ada.submit(&form, "/vpcs/new", &fields).await;
    assert_contains(&less, "name=\"subnets[0].ipv4\" value=\"10.0.7.0/24\"");
    assert_lacks(&less, "10.9.0.0/24");
    assert_eq!(api_user(&app).await.count("/vpcs").await, 0, "no VPC is created");
}

#[tokio::test]
async fn a_range_is_validated_while_typing_as_on_submission() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut ada = browser(&app, "ada").await;
    for (range, says) in [
        ("10.0.1.0/24", "252 usable addresses"),
        ("10.0.2.0/29", "4 usable addresses"),
        ("10.0.0.128/25", "overlaps 10.0.0.0/24 (a)"),
        ("10.0.1.5/24", "without host bits set, such as 10.0.1.0/24"),
        ("8.8.8.0/24", "Must be inside 10.0.0.0/8"),
        ("192.168.130.0/24", "Must not overlap 192.168.128.0/17"),
        ("10.0.0.0/30", "prefix length from 8 to 29"),
        ("<b>", "Must be an IPv4 network"),
    ] {
        let query = crate::browser::form(&[("ipv4", range), ("label", "")]);
        let fragment = ada.get(&format!("/vpcs/1/subnets/check?{query}")).await;
        assert_eq!(fragment.status, 200);
        assert_contains(&fragment, says);
        assert_lacks(&fragment, "<html");
        // The form has the same error, and an invalid range has a suggestion.
        let created = ada.get("/vpcs/1/subnets/new").await;
        let fields = [("label", "x"), ("ipv4", range)];
        let sent = ada.submit(&created, "/vpcs/1/subnets/new", &fields).await;
        match says.contains("addresses") {
            true => assert_eq!(sent.status, 303, "{range}"),
            false => {
                assert_contains(&sent, says);
                assert_contains(&fragment, "data-value=\"10.0.");
            }
        }
        if says.contains("addresses") {
            let subnets = maker.get("/vpcs/1/subnets").await.ids();
            maker.delete(&format!("/vpcs/1/subnets/{}", subnets[1])).await;
        }
    }
    let query = crate::browser::form(&[
        ("at", "1"),
        ("subnets[0].label", "a"),
        ("subnets[0].ipv4", "10.0.0.0/8"),
        ("subnets[1].label", ""),
        ("subnets[1].ipv4", "10.0.0.0/24"),
    ]);
    let fragment = ada.get(&format!("/vpcs/new/check?{query}")).await;
    assert_contains(&fragment, "overlaps 10.0.0.0/8 (a)");
    assert_contains(&fragment, "data-value=\"172.16.0.0/24\"");
}

#[tokio::test]
async fn a_range_with_host_bits_suggests_its_network() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut ada = browser(&app, "ada").await;
    for (typed, offered) in [
        ("10.7.8.9/20", Some("10.7.0.0/20")),
        ("10.7.8.9", None),
        ("10.7.8.9/33", None),
        ("8.8.8.8/24", None),
    ] {
        let response = ada.get(&format!("/vpcs/1/subnets/check?ipv4={typed}")).await;
        assert_eq!(response.status, 200);
        let button = |range: &str| format!("data-fill=\"f-ipv4\" data-value=\"{range}\"");
        match offered {
            Some(range) => assert_contains(&response, &button(range)),
            None => assert_contains(&response, &button("10.0.1.0/24")),
        }
    }
}

#[tokio::test]
async fn a_proposal_has_the_size_that_the_user_typed() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut ada = browser(&app, "ada").await;
    for (typed, proposed) in [
        ("10.0.0.0/20", "10.0.16.0/20"),
        ("10.0.0.0/25", "10.0.1.0/25"),
        ("/28", "10.0.1.0/28"),
        ("8.8.0.0/16", "10.1.0.0/16"),
        ("10.0.0.0/12", "10.16.0.0/12"),
        // The size is not valid, so the proposal is as large as the last subnet.
        ("10.0.0.0/31", "10.0.1.0/24"),
    ] {
        let response = ada.get(&format!("/vpcs/1/subnets/check?ipv4={typed}")).await;
        assert_contains(&response, &format!("data-value=\"{proposed}\""));
    }
    let query = crate::browser::form(&[
        ("at", "1"),
        ("subnets[0].ipv4", "10.0.0.0/24"),
        ("subnets[1].ipv4", "10.0.0.0/22"),
    ]);
    let response = ada.get(&format!("/vpcs/new/check?{query}")).await;
    assert_contains(&response, "data-value=\"10.0.4.0/22\"");
}

#[tokio::test]
async fn a_size_is_replaced_by_the_next_free_range() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/new").await;
    let subnets = [
        ("label", "core"),
        ("region", "us-east"),
        ("subnets[0].label", "web"),
        ("subnets[0].ipv4", "/26"),
        ("subnets[1].label", "data"),
        ("subnets[1].ipv4", "10.0.0.64/27"),
        ("subnets[2].label", "cache"),
        ("subnets[2].ipv4", " /28 "),
    ];
    // After an error, a size is still a size, because the corrected ranges can overlap the proposed one.
    let mut wrong = subnets;
    wrong[5].1 = "10.0.0.65/27";
    let refused = ada.submit(&form, "/vpcs/new", &wrong).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "name=\"subnets[0].ipv4\" value=\"/26\"");
    assert_contains(&refused, "delay:250ms, garth:check");
    assert_eq!(ada.submit(&form, "/vpcs/new", &subnets).await.status, 303);
    let form = ada.get("/vpcs/1/subnets/new").await;
    let refused = ada
        .submit(
            &form,
            "/vpcs/1/subnets/new",
            &[("label", "more"), ("ipv4", "/31")],
        )
        .await;
    assert_eq!(refused.status, 400);
    let more = [("label", "more"), ("ipv4", "/26")];
    assert_eq!(ada.submit(&form, "/vpcs/1/subnets/new", &more).await.status, 303);
    let found = maker.get("/vpcs/1/subnets").await.data();
    let ranges: Vec<_> = found.iter().map(|subnet| subnet["ipv4"].clone()).collect();
    assert_eq!(
        ranges,
        ["10.0.0.128/26", "10.0.0.64/27", "10.0.0.96/28", "10.0.0.192/26"]
    );
    let shown = ada.get("/vpcs/1/subnets/check?ipv4=/26").await;
    assert_contains(&shown, "Next free: ");
    assert_lacks(&shown, "class=\"bad\"");
}

#[tokio::test]
async fn a_free_block_of_the_map_opens_the_form_with_a_range_in_it() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker
        .create_vpc("core", &["10.0.0.0/26", "10.0.0.128/25", "10.4.0.0/16"])
        .await;
    let mut ada = browser(&app, "ada").await;
    let links = links(&ada.get("/vpcs/1").await);
    let forms: Vec<_> = links.iter().filter(|link| link.contains("?free=")).collect();
    for (block, proposed) in [
        // The gap is smaller than the last subnet.
        ("10.0.0.64-10.0.0.127", "10.0.0.64/26"),
        ("10.0.1.0-10.3.255.255", "10.1.0.0/16"),
        ("10.5.0.0-10.255.255.255", "10.5.0.0/16"),
    ] {
        let url = format!("/vpcs/1/subnets/new?free={block}");
        // The wide map, the narrow map and the table.
        assert_eq!(
            forms.iter().filter(|link| **link == &url).count(),
            3,
            "{block}: {forms:?}"
        );
        assert_contains(
            &ada.get(&url).await,
            &format!("name=\"ipv4\" value=\"{proposed}\""),
        );
    }
    for invalid in ["x", "10.0.0.9-10.0.0.1", "10.0.0.1", "1.2.3.4-"] {
        let form = ada.get(&format!("/vpcs/1/subnets/new?free={invalid}")).await;
        assert_contains(&form, "value=\"10.5.0.0/16\"");
    }
    // A free address of a subnet leads to the choice of an instance.
    let subnet = ada.get("/vpcs/1/subnets/1").await;
    assert_contains(
        &subnet,
        "href=\"/vpcs/1/subnets/1/attach?address=10.0.0.9\" tabindex=\"-1\"",
    );
}

#[tokio::test]
async fn a_subnet_is_added_and_renamed() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.3.0.0/25"]).await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/vpcs/1/subnets/new").await;
    assert_contains(&form, "value=\"10.3.0.128/25\"");
    let fields = [("label", "a"), ("ipv4", "10.3.0.128/25")];
    let refused = ada.submit(&form, "/vpcs/1/subnets/new", &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "Label must be unique among your VPC's subnets");
    assert_contains(&refused, "value=\"10.3.0.128/25\"");
    let fields = [("label", "b"), ("ipv4", "10.3.0.128/25")];
    assert_redirects_to(
        &ada.submit(&form, "/vpcs/1/subnets/new", &fields).await,
        "/vpcs/1/subnets/2?done=subnet-created",
    );
    let form = ada.get("/vpcs/1/subnets/2/edit").await;
    let version = crate::browser::hidden_field(&form, "version");
    let fields = [("version", version.as_str()), ("label", "renamed")];
    assert_redirects_to(
        &ada.submit(&form, "/vpcs/1/subnets/2/edit", &fields).await,
        "/vpcs/1/subnets/2?done=subnet-changed",
    );
    assert_contains(&ada.get("/vpcs/1").await, ">renamed<");
    let again = ada.submit(&form, "/vpcs/1/subnets/2/edit", &fields).await;
    assert_eq!(again.status, 412, "the form is outdated");
}

#[tokio::test]
async fn the_page_of_a_subnet_has_only_the_actions_that_the_user_may_take() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let grant = Grant::Vpc(VpcId(1), Permission::ReadOnly);
    app.user("rita").may(grant).await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    let page = rita.get("/vpcs/1/subnets/1").await;
    for hidden in [
        "Attach an instance",
        "Create an instance",
        "Select a free address",
        "/attach",
        ">Edit<",
    ] {
        assert_lacks(&page, hidden);
    }
    app.grant("rita", Grant::Global(Global::AddLinodes)).await;
    let page = rita.get("/vpcs/1/subnets/1").await;
    assert_contains(&page, "Create an instance");
    assert_contains(&page, "Select a free address");
    assert_lacks(&page, "Attach an instance");
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/vpcs/1/subnets/1").await;
    for shown in [
        "Attach an instance",
        "Create an instance",
        "Select a free address",
        ">Edit<",
    ] {
        assert_contains(&page, shown);
    }
}
