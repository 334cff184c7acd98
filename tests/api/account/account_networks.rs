//! Staff see the VPCs, instances and addresses of an account, read-only.

use garth::model::staff_role::StaffRole;
use serde_json::json;

use crate::browser::text;
use crate::console::{assert_contains, assert_lacks, links, logged_in};
use crate::harness::{Reply, TestApp};

/// Account 1 has the VPC `core` and the instance `web-1` at 10.0.0.2, which has a routed range. Account 2 has the VPC
/// `other-net` with the same range, and the instance `db-1`. `noor` has the role support.
async fn set_up() -> TestApp {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let body = json!({"label": "web-1", "type": "g6-nanode-1", "region": "us-east",
        "interfaces": [{"purpose": "vpc", "subnet_id": 1, "ip_ranges": ["10.0.0.16/28"]}]});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    let eve = app.user("eve").of(app.another_account().await).await;
    eve.create_vpc("other-net", &["10.0.0.0/24"]).await;
    let body = json!({"label": "db-1", "type": "g6-nanode-1", "region": "us-east",
        "interfaces": [{"purpose": "vpc", "subnet_id": 3, "ipv4": {"vpc": "10.0.0.9"}}]});
    assert_eq!(eve.post("/linode/instances", body).await.status, 200);
    app.user("noor").role(StaffRole::Support).await;
    app
}

#[tokio::test]
async fn staff_list_the_objects_of_one_account_as_its_users_see_them() {
    let app = set_up().await;
    let ada = app.user("adam").await;
    let noor = app.user("nora").role(StaffRole::Support).await;
    for (staff_path, tenant_path) in [
        ("/provider/accounts/1/vpcs", "/vpcs"),
        ("/provider/accounts/1/vpcs/ips", "/vpcs/ips"),
        ("/provider/accounts/1/vpcs/ipv6s", "/vpcs/ipv6s"),
        ("/provider/accounts/1/instances", "/linode/instances"),
    ] {
        let listed = noor.get(staff_path).await;
        assert_eq!(listed.status, 200, "{staff_path}: {listed}");
        assert_eq!(listed.json(), ada.get(tenant_path).await.json(), "{staff_path}");
    }
    let label = |reply: &Reply| reply.data()[0]["label"].clone();
    assert_eq!(label(&noor.get("/provider/accounts/2/vpcs").await), "other-net");
    assert_eq!(label(&noor.get("/provider/accounts/2/instances").await), "db-1");
    let filtered = noor
        .filter("/provider/accounts/1/vpcs", r#"{"label": "other-net"}"#)
        .await;
    assert_eq!(filtered.ids(), [0i64; 0]);
    for path in ["vpcs", "vpcs/ips", "vpcs/ipv6s", "instances"] {
        let missing = noor.get(&format!("/provider/accounts/99/{path}")).await;
        assert_eq!(missing.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_page_of_an_account_leads_to_its_networks_and_instances() {
    let app = set_up().await;
    let mut noor = logged_in(&app, "noor").await;
    let page = noor.get("/provider/accounts/1").await;
    for expected in ["core", "10.0.1.0/24", "web-1", "10.0.0.2", "10.0.0.16/28"] {
        assert_contains(&page, expected);
    }
    for hidden in ["other-net", "db-1", "10.0.0.9"] {
        assert_lacks(&page, hidden);
    }
    assert!(links(&page).contains(&"/provider/accounts/1/vpcs/1".to_owned()));
    let vpc = noor.get("/provider/accounts/1/vpcs/1").await;
    for expected in ["10.0.1.0/24", "10.0.0.2", "10.0.0.16/28", "web-1", "routed"] {
        assert_contains(&vpc, expected);
    }
    assert_lacks(&vpc, "10.0.0.9");
    let instance = noor.get("/provider/accounts/1/instances?id=1").await;
    assert_contains(&instance, "web-1");
    assert_contains(
        &noor.get("/provider/accounts/1/instances?id=2").await,
        "0 instances",
    );
    assert_contains(&noor.get("/provider/accounts/1/vpcs?q=core").await, "1 VPC");
    assert_contains(&noor.get("/provider/accounts/1/vpcs?q=other").await, "0 VPCs");
    // The objects of another account are not found under this account.
    for path in [
        "/provider/accounts/1/vpcs/2",
        "/provider/accounts/99/vpcs/1",
        "/provider/accounts/99/vpcs",
        "/provider/accounts/99/instances",
    ] {
        assert_eq!(noor.get(path).await.status, 404, "{path}");
    }
    // The pages have no link to pages of tenants, and no form except the search and the log-out.
    for page in [page, vpc, instance] {
        for link in links(&page) {
            assert!(
                !link.starts_with("/vpcs") && !link.starts_with("/instances"),
                "{link}"
            );
        }
    }
}

#[tokio::test]
async fn long_lists_are_paged() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 10..62 {
        ada.create_vpc(&format!("net-{number}"), &[]).await;
    }
    app.user("noor").role(StaffRole::Support).await;
    let mut noor = logged_in(&app, "noor").await;
    let page = noor.get("/provider/accounts/1").await;
    assert_contains(&page, "net-19");
    assert_lacks(&page, "net-20");
    assert_contains(&page, "All 52");
    let first = noor.get("/provider/accounts/1/vpcs").await;
    assert_contains(&first, "net-49");
    assert_lacks(&first, "net-50");
    let second = noor.get("/provider/accounts/1/vpcs?page=2").await;
    assert_contains(&second, "net-50");
    assert_lacks(&second, "net-49");
}

/// The links among the results of the search.
fn found(page: &Reply) -> Vec<String> {
    let html = text(page);
    let results = html.split("id=\"results\"").nth(1).expect("results");
    let results = results.split("<footer").next().expect("an end");
    let urls = results.split("href=\"").skip(1);
    urls.filter_map(|rest| rest.split('"').next().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn staff_find_networks_of_all_accounts_by_label_id_address_and_range() {
    let app = set_up().await;
    let nora = app.user("nora").role(StaffRole::Support).await;
    let public = nora.get("/provider/accounts/2/instances").await;
    let public = public.data()[0]["ipv4"][0].as_str().unwrap().to_owned();
    let mut noor = logged_in(&app, "noor").await;
    let vpc = |account: i64, id: i64| format!("/provider/accounts/{account}/vpcs/{id}");
    let instance = |account: i64, id: i64| format!("/provider/accounts/{account}/instances?id={id}");
    for (query, expected) in [
        ("CORE", vec![vpc(1, 1)]),
        ("er-n", vec![vpc(2, 2)]),
        ("db-", vec![instance(2, 2)]),
        ("%25", vec![]),
        ("10.0.0.9", vec![vpc(1, 1), vpc(2, 2), instance(2, 2)]),
        ("10.0.0.17", vec![vpc(1, 1), vpc(2, 2), instance(1, 1)]),
        ("10.0.1.0/24", vec![vpc(1, 1)]),
        ("10.0.0.0/8", vec![vpc(1, 1), vpc(2, 2)]),
        (public.as_str(), vec![instance(2, 2)]),
        ("172.16.0.1", vec![]),
    ] {
        let page = noor.get(&format!("/desk/search?q={query}")).await;
        assert_eq!(found(&page), expected, "{query}: {page}");
    }
    assert_contains(&noor.get("/desk/search?q=10.0.0.17").await, "10.0.0.16/28");
    assert_contains(&noor.get("/desk/search?q=db-1").await, "Other");
}

#[tokio::test]
async fn staff_find_the_holder_of_an_ipv6_address() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({"label": "dual", "region": "us-east", "ipv6": [{"range": "/52"}],
        "subnets": [{"label": "six", "ipv4": "10.0.0.0/24", "ipv6": [{"range": "/56"}]}]});
    assert_eq!(ada.post("/vpcs", body).await.status, 200);
    assert_eq!(ada.create_instance_on(1).await.status, 200);
    let range = ada.get("/vpcs/1/ipv6s").await.data()[0]["ipv6_range"].clone();
    let address = range.as_str().unwrap().replace("/64", "5");
    app.user("noor").role(StaffRole::Support).await;
    let mut noor = logged_in(&app, "noor").await;
    let page = noor.get(&format!("/desk/search?q={address}")).await;
    assert_eq!(
        found(&page),
        [
            "/provider/accounts/1/vpcs/1",
            "/provider/accounts/1/instances?id=1"
        ],
        "{page}"
    );
    assert_eq!(found(&noor.get("/desk/search?q=2001:db8:ffff::1").await), [""; 0]);
}

#[tokio::test]
async fn a_ticket_links_to_its_vpc_or_instance_while_it_exists() {
    let app = set_up().await;
    let ada = app.user("adam").await;
    for field in ["vpc_id", "linode_id"] {
        let mut ticket = json!({"summary": "It is slow", "description": "Since noon"});
        ticket[field] = json!(1);
        assert_eq!(ada.post("/support/tickets", ticket).await.status, 200);
    }
    let mut noor = logged_in(&app, "noor").await;
    let of_vpc = "<a href=\"/provider/accounts/1/vpcs/1\">core</a>";
    let of_instance = "<a href=\"/provider/accounts/1/instances?id=1\">web-1</a>";
    assert_contains(&noor.get("/desk/tickets/1").await, of_vpc);
    assert_contains(&noor.get("/desk/tickets/2").await, of_instance);
    assert_eq!(ada.delete("/linode/instances/1").await.status, 200);
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    for (ticket, link, label) in [(1, of_vpc, "core"), (2, of_instance, "web-1")] {
        let page = noor.get(&format!("/desk/tickets/{ticket}")).await;
        assert_lacks(&page, link);
        assert_contains(&page, label);
    }
}
