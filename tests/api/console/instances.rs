//! Instances in the console: lists, forms, power, configs and permissions.

use garth::model::grant::{Global, Permission};
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::hidden_field;
use crate::console::vpcs::api_user;
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser};
use crate::harness::TestApp;

/// A valid form for a new instance without an image.
const PLAIN: [(&str, &str); 3] = [("region", "us-east"), ("type", "g6-nanode-1"), ("label", "web-1")];

#[tokio::test]
async fn the_list_of_instances_has_an_empty_state_a_search_and_filters() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/instances").await, "No instances yet");
    let maker = api_user(&app).await;
    for (label, tag) in [("web-1", "front"), ("db-1", "back")] {
        let body = json!({"label": label, "type": "g6-nanode-1", "region": "us-east", "tags": [tag]});
        assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    }
    let address = maker.get("/linode/instances/2").await.json()["ipv4"][0].clone();

    let all = ada.get("/instances").await;
    for expected in [
        "2 instances",
        ">web-1<",
        ">db-1<",
        "offline",
        "Nanode 1GB",
        "us-east",
    ] {
        assert_contains(&all, expected);
    }
    for (query, found, other) in [
        ("q=WEB", "web-1", "db-1"),
        ("q=back", "db-1", "web-1"),
        ("q=2", "db-1", "web-1"),
        (&format!("q={}", address.as_str().unwrap()), "db-1", "web-1"),
    ] {
        let page = ada.get(&format!("/instances?{query}")).await;
        assert_contains(&page, &format!(">{found}<"));
        assert_lacks(&page, &format!(">{other}<"));
    }
    for query in ["status=running", "region=us-west", "q=nothing"] {
        assert_contains(&ada.get(&format!("/instances?{query}")).await, "No results");
    }
    assert_contains(
        &all,
        "id=\"list\" hx-get=\"/instances\" hx-trigger=\"garth:linode from:body\"",
    );
}

#[tokio::test]
async fn an_instance_is_created_on_a_subnet_at_a_chosen_address() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut ada = browser(&app, "ada").await;

    // The page of a subnet links to the form with its region, VPC and subnet.
    let form = ada.get("/instances/new?subnet_id=1&address=10.0.0.77").await;
    for expected in [
        "value=\"us-east\" selected",
        "<option value=\"1\" selected>core (us-east)<",
        "<option value=\"1\" selected>a (10.0.0.0/24)<",
        "value=\"10.0.0.77\"",
        // The units are those of the list of plans.
        "Nanode 1GB: 1 vCPU, 1 GB memory, 25 GB disk, $5.00 a month",
    ] {
        assert_contains(&form, expected);
    }
    let mut fields = PLAIN.to_vec();
    fields.extend([
        ("interfaces[0].subnet_id", "1"),
        ("interfaces[0].ipv4.vpc", "10.0.0.77"),
        ("nat", "true"),
        ("image", "linode/debian12"),
        ("root_pass", "Correct-horse-9"),
        ("booted", "true"),
    ]);
    let done = ada.submit(&form, "/instances/new", &fields).await;
    assert_redirects_to(&done, "/instances/1?done=instance-created");

    let page = ada.get("/instances/1?done=instance-created").await;
    for expected in [
        "Instance created.",
        "running",
        "href=\"/vpcs/1\">core<",
        "href=\"/vpcs/1/subnets/1#interface-1\">a<",
        "10.0.0.77",
        "1:1 NAT",
        "Debian 12",
    ] {
        assert_contains(&page, expected);
    }
    let config = &maker.get("/linode/instances/1/configs").await.data()[0];
    assert_eq!(config["interfaces"][0]["ipv4"]["vpc"], "10.0.0.77");
    // The password is not in any page.
    assert_lacks(&page, "Correct-horse-9");
}

#[tokio::test]
async fn errors_of_a_new_instance_are_at_their_fields() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/instances/new").await;
    let fields = [
        ("region", "us-east"),
        ("type", "g6-nanode-1"),
        ("label", "x"),
        ("image", "linode/debian12"),
        ("authorized_keys", "\r\nnot a key\r\n"),
        ("interfaces[0].subnet_id", "1"),
        ("interfaces[0].ipv4.vpc", "10.0.0.1"),
    ];
    let page = ada.submit(&form, "/instances/new", &fields).await;
    assert_eq!(page.status, 400);
    for expected in [
        "id=\"f-label-wrong\">Label must be between 3 and 64 characters",
        "href=\"#f-authorized-keys\">SSH keys</a>: 1: ",
        "id=\"f-interfaces-0--ipv4-vpc-wrong\"",
        "href=\"#f-interfaces-0--ipv4-vpc\">Private address<",
        "value=\"10.0.0.1\"",
    ] {
        assert_contains(&page, expected);
    }
    assert_eq!(maker.count("/linode/instances").await, 0);
    // A page never has the password, so the field says that it must be entered again.
    let mut with_password = fields.to_vec();
    with_password.push(("root_pass", "Correct-horse-9"));
    let page = ada.submit(&form, "/instances/new", &with_password).await;
    assert_contains(&page, "id=\"f-root-pass-wrong\">Enter the password again<");
    assert_lacks(&page, "Correct-horse-9");
    assert_lacks(&form, "Enter the password again");
    // The reasons have the labels of the form, not the names of the API.
    let mut without_credentials = PLAIN.to_vec();
    without_credentials.push(("image", "linode/debian12"));
    let page = ada.submit(&form, "/instances/new", &without_credentials).await;
    assert_contains(
        &page,
        "id=\"f-root-pass-wrong\">Enter a root password or an SSH key",
    );
    assert_lacks(&page, "Must provide valid root_pass");
    // A VPC without a subnet is an error, not an instance without a network.
    let mut fields = PLAIN.to_vec();
    fields.push(("vpc_id", "1"));
    let page = ada.submit(&form, "/instances/new", &fields).await;
    assert_eq!(page.status, 400);
    assert_contains(&page, "href=\"#f-interfaces-0--subnet-id\">Subnet<");
    // A VPC of another region is not selected.
    let other = ada.get("/instances/new?region=us-west&vpc_id=1").await;
    assert_lacks(&other, "core (us-east)");
    assert_lacks(&other, "10.0.0.0/24");
    // Without JavaScript, a button loads the subnets of the VPC.
    fields.push(("load", "1"));
    let page = ada.submit(&form, "/instances/new", &fields).await;
    assert_eq!(page.status, 200);
    assert_contains(&page, "<option value=\"1\">a (10.0.0.0/24)<");
    assert_eq!(maker.count("/linode/instances").await, 0);
}

#[tokio::test]
async fn an_instance_boots_reboots_and_shuts_down() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    maker.create_instance_on(1).await;
    let body = json!({"label": "second"});
    assert_eq!(maker.post("/linode/instances/1/configs", body).await.status, 200);
    let mut ada = browser(&app, "ada").await;
    let page = ada.get("/instances/1").await;
    assert_contains(&page, "value=\"boot\"");
    assert_lacks(&page, "value=\"shutdown\"");

    let several = ada
        .submit(&page, "/instances/1/power", &[("action", "boot")])
        .await;
    assert_eq!(several.status, 400);
    assert_contains(&several, "several configs");
    for (action, config, status) in [
        ("boot", "1", "running"),
        ("reboot", "2", "running"),
        ("shutdown", "", "offline"),
    ] {
        let fields = [("action", action), ("config_id", config)];
        let done = ada.submit(&page, "/instances/1/power", &fields).await;
        assert_redirects_to(&done, &format!("/instances/1?done=instance-{action}"));
        assert_eq!(
            maker.get("/linode/instances/1").await.json()["status"],
            status,
            "{action}"
        );
    }
    let unknown = ada
        .submit(&page, "/instances/1/power", &[("action", "explode")])
        .await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn an_instance_is_edited_and_deleted_with_its_label() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let body = json!({"label": "web-1", "type": "g6-nanode-1", "region": "us-east", "tags": ["old"]});
    maker.post("/linode/instances", body).await;
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/instances/1/edit").await;
    assert_contains(&form, "value=\"old\"");
    let version = hidden_field(&form, "version");
    let fields = [
        ("version", version.as_str()),
        ("label", "web-2"),
        ("tags", "front, eu-1 , "),
    ];
    let done = ada.submit(&form, "/instances/1/edit", &fields).await;
    assert_redirects_to(&done, "/instances/1?done=instance-changed");
    let instance = maker.get("/linode/instances/1").await.json();
    assert_eq!(
        (&instance["label"], &instance["tags"]),
        (&json!("web-2"), &json!(["front", "eu-1"]))
    );
    let stale = ada.submit(&form, "/instances/1/edit", &fields).await;
    assert_eq!(stale.status, 412);
    let bad = ada
        .submit(
            &form,
            "/instances/1/edit",
            &[("label", "web-2"), ("tags", "ok, x")],
        )
        .await;
    assert_eq!(bad.status, 400);
    assert_contains(&bad, "href=\"#f-tags\">Tags</a>: 2: ");

    let form = ada.get("/instances/1/delete").await;
    let refused = ada
        .submit(&form, "/instances/1/delete", &[("label", "web-1")])
        .await;
    assert_eq!(refused.status, 400);
    let done = ada
        .submit(&form, "/instances/1/delete", &[("label", "web-2")])
        .await;
    assert_redirects_to(&done, "/instances?done=instance-deleted");
    assert_eq!(ada.get("/instances/1").await.status, 404);
}

#[tokio::test]
async fn configs_are_added_edited_and_deleted() {
    let app = app_with_ada().await;
    let maker = api_user(&app).await;
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "Correct-horse-9"});
    assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    let mut ada = browser(&app, "ada").await;
    let form = ada.get("/instances/1/configs/new").await;
    assert_contains(&form, "Boot disk");
    let fields = [("label", "rescue"), ("devices.sda.disk_id", "1")];
    let done = ada.submit(&form, "/instances/1/configs/new", &fields).await;
    assert_redirects_to(&done, "/instances/1?done=config-created");
    let config = maker.get("/linode/instances/1/configs/2").await.json();
    assert_eq!(
        (&config["label"], &config["devices"]["sda"]["disk_id"]),
        (&json!("rescue"), &json!(1))
    );
    let form = ada.get("/instances/1/configs/2/edit").await;
    let fields = [("label", "renamed"), ("comments", "for later")];
    let done = ada.submit(&form, "/instances/1/configs/2/edit", &fields).await;
    assert_redirects_to(&done, "/instances/1?done=config-changed");
    assert_contains(&ada.get("/instances/1").await, "renamed");

    // The config in use cannot be deleted.
    let form = ada.get("/instances/1/configs/1/delete").await;
    let refused = ada.submit(&form, "/instances/1/configs/1/delete", &[]).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "is running or booting with this config");
    let form = ada.get("/instances/1/configs/2/delete").await;
    let done = ada.submit(&form, "/instances/1/configs/2/delete", &[]).await;
    assert_redirects_to(&done, "/instances/1?done=config-deleted");
    assert_eq!(maker.count("/linode/instances/1/configs").await, 1);
}

#[tokio::test]
async fn restricted_users_have_only_their_granted_access_to_instances() {
    let app = TestApp::new().await;
    let maker = api_user(&app).await;
    maker.create_vpc("secret-vpc", &["10.0.0.0/24"]).await;
    for _ in 0..3 {
        maker.create_instance_on(1).await;
    }
    app.user("rita")
        .may(Grant::Linode(InstanceId(1), Permission::ReadOnly))
        .may(Grant::Linode(InstanceId(2), Permission::ReadWrite))
        .await;
    app.set_password("rita").await;
    let mut rita = browser(&app, "rita").await;
    let list = rita.get("/instances").await;
    assert_contains(&list, "2 instances");
    assert_lacks(&list, "linode3");
    assert_lacks(&list, "/instances/new");

    let shown = rita.get("/instances/1").await;
    for unwanted in ["/instances/1/edit", "value=\"boot\"", "/detach", "secret-vpc"] {
        assert_lacks(&shown, unwanted);
    }
    // The address of an instance is visible with the instance, and the name of its VPC is not.
    assert_contains(&shown, "Subnet 1");
    assert_contains(&shown, "10.0.0.2");
    assert_contains(&rita.get("/instances/2").await, "/instances/2/edit");
    assert_lacks(&rita.get("/instances/2/attach").await, "secret-vpc");
    for (path, status) in [
        ("/instances/3", 404),
        ("/instances/3/attach", 404),
        ("/instances/3/configs/3/interfaces/3/detach", 404),
        ("/instances/1/edit", 403),
        ("/instances/1/delete", 403),
        ("/instances/1/attach", 403),
        ("/instances/1/configs/new", 403),
        ("/instances/1/configs/1/edit", 403),
        ("/instances/1/configs/1/delete", 403),
        ("/instances/1/configs/1/interfaces/1/detach", 403),
        ("/instances/2/configs/1/interfaces/1/detach", 404),
        ("/vpcs/1/subnets/1/attach", 404),
        ("/instances/new", 403),
    ] {
        assert_eq!(rita.get(path).await.status.as_u16(), status, "{path}");
    }
    let form = rita.get("/instances/2/edit").await;
    let power = rita
        .submit(&form, "/instances/1/power", &[("action", "boot")])
        .await;
    assert_eq!(power.status, 403);
    // The subnet of a new instance must be visible, too.
    app.grant("rita", Grant::Global(Global::AddLinodes)).await;
    let form = rita.get("/instances/new?subnet_id=1").await;
    assert_lacks(&form, "secret-vpc");
    let mut fields = PLAIN.to_vec();
    fields.push(("interfaces[0].subnet_id", "1"));
    let refused = rita.submit(&form, "/instances/new", &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "subnet_id is not valid");
    let done = rita.submit(&form, "/instances/new", &PLAIN).await;
    assert_redirects_to(&done, "/instances/4?done=instance-created");
}

#[tokio::test]
async fn instances_of_another_account_are_not_found() {
    let app = app_with_ada().await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    eve.create_vpc("theirs", &["10.0.0.0/24"]).await;
    eve.create_instance_on(1).await;
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/instances").await, "No instances yet");
    assert_lacks(
        &ada.get("/instances/new?subnet_id=1&vpc_id=1").await,
        "10.0.0.0/24",
    );
    for path in [
        "/instances/1",
        "/instances/1/edit",
        "/instances/1/delete",
        "/instances/1/attach",
        "/instances/1/configs/new",
        "/instances/1/configs/1/edit",
        "/instances/1/configs/1/delete",
        "/instances/1/configs/1/interfaces/1/detach",
    ] {
        assert_eq!(ada.get(path).await.status, 404, "{path}");
    }
}
