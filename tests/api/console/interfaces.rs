//! Attaching instances to subnets and detaching them in the console, also to delete a subnet or a VPC.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::console::vpcs::api_user;
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser, links};
use crate::harness::TestApp;

#[tokio::test]
async fn an_instance_is_attached_at_an_automatic_or_a_chosen_address() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let body = json!({"label": "web-1", "type": "g6-nanode-1", "region": "us-east"});
    maker.post("/linode/instances", body).await;
    let mut ada = browser(&app, "ada").await;

    // From the subnet to the instance, and to the form with the subnet and the address.
    let choice = ada.get("/vpcs/1/subnets/1/attach?address=10.0.0.77").await;
    let form_url = "/instances/1/attach?subnet_id=1&address=10.0.0.77";
    assert!(links(&choice).iter().any(|link| link == form_url), "{choice}");
    assert_contains(&ada.get(form_url).await, "Add a config first");
    maker
        .post("/linode/instances/1/configs", json!({"label": "main"}))
        .await;
    let form = ada.get(form_url).await;
    for expected in [
        "<option value=\"1\" selected>core (us-east)<",
        "<option value=\"1\" selected>a (10.0.0.0/24)<",
        "value=\"10.0.0.77\"",
    ] {
        assert_contains(&form, expected);
    }
    maker
        .post("/linode/instances/1/configs", json!({"label": "second"}))
        .await;
    let attach = async |ada: &mut crate::browser::Browser<'_>, config: &str, subnet: &str, address: &str| {
        let fields = [
            ("config_id", config),
            ("vpc_id", "1"),
            ("subnet_id", subnet),
            ("ipv4.vpc", address),
        ];
        ada.submit(&form, "/instances/1/attach", &fields).await
    };
    let refused = attach(&mut ada, "2", "1", "10.0.9.9").await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "id=\"f-ipv4-vpc-wrong\"");
    assert_contains(&refused, "value=\"10.0.9.9\"");
    let refused = ada.submit(&form, "/instances/1/attach", &[("vpc_id", "1")]).await;
    assert_contains(&refused, "Choose a config");

    let done = attach(&mut ada, "1", "1", "10.0.0.77").await;
    assert_redirects_to(&done, "/instances/1?done=interface-attached");
    let page = ada.get("/instances/1/attach?subnet_id=2&address=10.0.1.9").await;
    assert_contains(
        &page,
        "The config <strong>main</strong> is attached to the subnet <strong>a</strong>",
    );
    assert_contains(
        &page,
        "interfaces/1/detach?return_to=%2Finstances%2F1%2Fattach%3Fsubnet_id%3D2%26address%3D10.0.1.9\"",
    );
    let done = attach(&mut ada, "2", "2", "").await;
    assert_redirects_to(&done, "/instances/1?done=interface-attached");
    for (config, address) in [(1, "10.0.0.77"), (2, "10.0.1.2")] {
        let config = maker
            .get(&format!("/linode/instances/1/configs/{config}"))
            .await
            .json();
        assert_eq!(config["interfaces"][0]["ipv4"]["vpc"], address);
    }
    let twice = attach(&mut ada, "1", "2", "").await;
    assert_eq!(twice.status, 400);
    assert_contains(&twice, "is attached to the subnet");
    assert_lacks(&twice, "name=\"subnet_id\"");
}

#[tokio::test]
async fn only_vpcs_and_instances_of_the_region_can_be_chosen() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    for region in ["us-east", "us-west"] {
        let body = json!({"label": format!("in-{region}"), "type": "g6-nanode-1", "region": region, "interfaces": []});
        assert_eq!(maker.post("/linode/instances", body).await.status, 200);
        maker
            .post(
                "/vpcs",
                json!({"label": format!("vpc-{region}"), "region": region}),
            )
            .await;
    }
    maker
        .post("/linode/instances/2/configs", json!({"label": "main"}))
        .await;
    let mut ada = browser(&app, "ada").await;
    let choice = ada.get("/vpcs/1/subnets/1/attach").await;
    assert_contains(&choice, ">in-us-east<");
    assert_lacks(&choice, ">in-us-west<");
    assert_contains(&ada.get("/vpcs/1/subnets/1/attach?q=none").await, "No instances");
    let form = ada.get("/instances/2/attach").await;
    assert_contains(&form, "vpc-us-west");
    assert_lacks(&form, "vpc-us-east");
}

#[tokio::test]
async fn the_blockers_of_a_deletion_are_cleared_from_its_page() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    for label in ["idle", "busy"] {
        let body = json!({"label": label, "type": "g6-nanode-1", "region": "us-east",
            "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
        assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    }
    maker.post("/linode/instances/2/boot", json!({})).await;
    let mut ada = browser(&app, "ada").await;
    let blocked = ada.get("/vpcs/1/delete").await;
    assert_contains(&blocked, "Remove 2 interfaces first");
    let action = |page: &crate::harness::Reply, number: i64| {
        let start = format!("/instances/{number}/configs/{number}/interfaces/{number}/detach");
        let found = links(page).into_iter().find(|link| link.starts_with(&start));
        found.unwrap_or_else(|| panic!("no {start} on {page}"))
    };
    assert_contains(&blocked, ">Detach idle<");
    assert_contains(&blocked, ">Shut down and detach busy<");

    // The idle instance is detached, and the page of the deletion is shown again.
    let url = action(&blocked, 1);
    let form = ada.get(&url).await;
    assert_contains(&form, "releases the address <code>10.0.0.2</code>");
    let back = [("return_to", "/vpcs/1/delete")];
    let done = ada.submit(&form, &url, &back).await;
    assert_redirects_to(&done, "/vpcs/1/delete?done=interface-detached");
    let blocked = ada.get("/vpcs/1/delete?done=interface-detached").await;
    assert_contains(&blocked, "Interface detached.");
    assert_contains(&blocked, "Remove 1 interface first");

    // The running instance is shut down first.
    let url = action(&blocked, 2);
    let form = ada.get(&url).await;
    assert_contains(&form, "value=\"shutdown\"");
    let refused = ada.submit(&form, &url, &back).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "The interface is active");
    let fields = [("return_to", "/vpcs/1/delete"), ("action", "shutdown")];
    let off = ada.submit(&form, &url, &fields).await;
    assert_eq!(off.status, 303);
    assert_eq!(maker.get("/linode/instances/2").await.json()["status"], "offline");
    let form = ada.get(off.header("location")).await;
    assert_contains(&form, "Shutdown started.");
    let done = ada.submit(&form, &url, &back).await;
    assert_redirects_to(&done, "/vpcs/1/delete?done=interface-detached");

    let form = ada.get("/vpcs/1/delete").await;
    let done = ada.submit(&form, "/vpcs/1/delete", &[("label", "core")]).await;
    assert_redirects_to(&done, "/vpcs?done=vpc-deleted");
}

#[tokio::test]
async fn detaching_returns_only_to_pages_of_the_console() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    maker.create_instance_on(1).await;
    let mut ada = browser(&app, "ada").await;
    let url = "/instances/1/configs/1/interfaces/1/detach";
    let form = ada.get(&format!("{url}?return_to=//evil.example/")).await;
    assert_lacks(&form, "evil.example");
    let done = ada
        .submit(&form, url, &[("return_to", "https://evil.example/vpcs")])
        .await;
    assert_redirects_to(&done, "/instances/1?done=interface-detached");
}

#[tokio::test]
async fn a_blocker_that_the_user_cannot_see_has_no_action() {
    let app = TestApp::new().await;
    let maker = api_user(&app).await;
    let vpc = maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let body = json!({"label": "secret-name", "type": "g6-nanode-1", "region": "us-east",
        "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    maker.post("/linode/instances", body).await;
    app.user("rita").may(Grant::Vpc(vpc, Permission::ReadWrite)).await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    let blocked = rita.get("/vpcs/1/delete").await;
    assert_contains(&blocked, "ask an account administrator");
    for unwanted in ["/detach", "secret-name"] {
        assert_lacks(&blocked, unwanted);
    }
}
