//! Hosts in the console: for staff, and the traffic of a subnet for tenants.

use garth::model::job::JobKind;
use serde_json::json;

use crate::browser::text;
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::TestApp;
use crate::hosting::{Agent, add_host, create_instance, run_jobs};

/// The text between two others.
fn between<'a>(html: &'a str, before: &str, after: &str) -> &'a str {
    let rest = html.split_once(before).expect("the beginning").1;
    rest.split_once(after).expect("the end").0
}

#[tokio::test]
async fn a_new_host_joins_with_the_token_that_is_shown_once() {
    let app = TestApp::new().await;
    app.user("grace").staff().await;
    let mut grace = logged_in(&app, "grace").await;
    assert_contains(&grace.get("/hosts").await, "No hosts yet");
    let form = grace.get("/hosts/new").await;
    let mut fields = vec![
        ("label", "rack-1"),
        ("region", "us-east"),
        ("underlay_address", "127.0.0.1"),
        ("capacity", "many"),
    ];
    let refused = grace.submit(&form, "/hosts/new", &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "There are 2 problems.");
    fields[2].1 = "172.31.0.1";
    fields[3].1 = "99999999999999999999";
    let refused = grace.submit(&form, "/hosts/new", &fields).await;
    assert_contains(&refused, "Must be between 1 and 10000");
    fields[3].1 = "20";
    let added = grace.submit(&form, "/hosts/new", &fields).await;
    assert_eq!(added.status, 200, "{added}");
    assert_contains(&added, "because it is a loopback address");
    let html = text(&added);
    let token = between(&html, "id=\"secret\" tabindex=\"0\">", "<").to_owned();
    let page = grace.get("/hosts/1").await;
    assert_contains(&page, "waiting for the agent to join");
    // The label has the color of a warning.
    assert_contains(&page, "<span class=\"tag free\">New</span>");
    let draining = grace.submit(&page, "/hosts/1/drain", &[]).await;
    assert_redirects_to(&draining, "/hosts/1?done=host-draining");
    let page = grace.get("/hosts/1").await;
    assert_contains(&page, "no agent has reported yet");
    assert_lacks(&page, "All instances have moved");
    grace.submit(&page, "/hosts/1/undrain", &[]).await;
    let joined = app.anonymous().post("/agent/join", json!({"token": token})).await;
    assert_eq!(joined.json()["label"], "rack-1");
    for path in ["/hosts", "/hosts/1"] {
        let page = grace.get(path).await;
        assert_lacks(&page, &token);
        assert_contains(&page, "waiting for the first report of the agent");
        assert_contains(&page, "0 of 20");
        assert_contains(&page, "Never");
    }

    let page = grace.get("/hosts/1").await;
    let renewed = grace
        .submit(&page, "/hosts/1/join-token", &[("revoke", "true")])
        .await;
    assert_contains(&renewed, "Join token created");
    let credential = joined.json()["credential"].as_str().expect("a text").to_owned();
    let revoked = app.with_token(&credential).post("/agent/status", json!({})).await;
    assert_eq!(revoked.status, 401);
}

#[tokio::test]
async fn the_page_of_a_host_shows_its_problems_and_its_ports() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    for _ in 0..2 {
        create_instance(&ada, 1).await;
    }
    let mut grace = logged_in(&app, "sam").await;
    assert_contains(&grace.get("/hosts/1").await, "Starting");
    let traffic =
        json!({"received_bytes": 2048, "received_packets": 1234, "sent_bytes": 10, "sent_packets": 1});
    let ports = json!([
        {"interface_id": 1, "status": "up", "traffic": traffic, "drops": {"arp": 4, "mac": 3}},
        {"interface_id": 2, "status": "error", "reason": "no <VXLAN>"},
    ]);
    let report = json!({"ports": ports, "warnings": ["the MTU of the underlay is small"]});
    assert_eq!(agent.report_with(report).await.status, 200);

    assert_contains(&grace.get("/hosts").await, "2 problems");
    let page = grace.get("/hosts/1").await;
    for expected in [
        "Online",
        "2 of 5",
        "0.2.0",
        "the MTU of the underlay is small",
        "no &lt;VXLAN&gt;",
        "2 KiB",
        "1,234 packets",
        ">1 packet<",
        "core / a",
        "10.0.0.2",
    ] {
        assert_contains(&page, expected);
    }
    let html = text(&page);
    assert_eq!(
        between(&html, "data-label=\"Dropped\">", "<"),
        "0",
        "errors are first"
    );
    assert!(html.contains("data-label=\"Dropped\">7<"), "{html}");
    app.advance(61);
    assert_contains(&grace.get("/hosts").await, "Offline");

    let mut tenant = logged_in(&app, "ada").await;
    let page = tenant.get("/vpcs/1/subnets/1").await;
    for expected in ["Traffic", "2 KiB", "Error", "Up"] {
        assert_contains(&page, expected);
    }
    assert_lacks(&page, "VXLAN");
    let page = tenant.get("/instances/1").await;
    for expected in ["Traffic", "2 KiB", "1,234 packets", "Up"] {
        assert_contains(&page, expected);
    }
    assert_lacks(&page, "10.0.0.3");
    app.user("eve").of(app.another_account().await).await;
    let mut other = logged_in(&app, "eve").await;
    assert_eq!(other.get("/vpcs/1/subnets/1").await.status, 404);
}

#[tokio::test]
async fn a_subnet_without_hosts_shows_no_traffic() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    create_instance(&ada, 1).await;
    let mut tenant = logged_in(&app, "ada").await;
    for path in ["/vpcs/1/subnets/1", "/instances/1"] {
        assert_lacks(&tenant.get(path).await, "Traffic");
    }
}

#[tokio::test]
async fn staff_drain_a_host_and_remove_it() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one: Agent = add_host(&sam, 1, 5).await;
    for _ in 0..3 {
        create_instance(&ada, 1).await;
    }
    one.apply().await;
    let two = add_host(&sam, 2, 1).await;
    let mut grace = logged_in(&app, "sam").await;
    let page = grace.get("/hosts/1").await;
    assert_lacks(&page, "/hosts/1/remove");
    let refused = grace.submit(&page, "/hosts/1/remove", &[]).await;
    assert_redirects_to(&refused, "/hosts/1");
    assert_contains(&grace.get("/hosts/1").await, "drain it first");

    let draining = grace.submit(&page, "/hosts/1/drain", &[]).await;
    assert_redirects_to(&draining, "/hosts/1?done=host-draining");
    assert_contains(&grace.get("/hosts/1").await, "0 of 3 instances moved.");
    run_jobs(&app, &[JobKind::HostDrain]).await;
    two.apply().await;
    assert_contains(&grace.get("/hosts/1").await, "1 of 3 instances moved.");
    sam.put("/hosts/2", json!({"capacity": 5})).await;
    app.advance(2);
    run_jobs(&app, &[JobKind::HostDrain]).await;
    two.apply().await;
    let page = grace.get("/hosts/1").await;
    assert_contains(&page, "All instances have moved.");
    let back = grace.submit(&page, "/hosts/1/undrain", &[]).await;
    assert_redirects_to(&back, "/hosts/1?done=host-undrained");
    let removed = grace.submit(&page, "/hosts/1/remove", &[]).await;
    assert_redirects_to(&removed, "/hosts?done=host-removed");
    assert_eq!(sam.get("/hosts").await.ids(), [2]);
}

#[tokio::test]
async fn the_pages_of_hosts_show_encryption_and_keys() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, _two) = (add_host(&sam, 1, 5).await, add_host(&sam, 2, 5).await);
    let mut grace = logged_in(&app, "sam").await;
    assert_lacks(&grace.get("/hosts").await, "Encryption between hosts");
    sam.put("/hosts/encryption/us-east", json!({"enabled": true}))
        .await;
    one.report_key(1, 'a').await;
    let list = grace.get("/hosts").await;
    for expected in ["Encryption between hosts", "1 of 2", "1 not reachable", "Next: "] {
        assert_contains(&list, expected);
    }
    assert_contains(&grace.get("/hosts/1").await, "Generation 1, since");
    assert_lacks(&grace.get("/hosts/2").await, "Encryption key");
    sam.put("/hosts/encryption/us-east", json!({"rotate": true}))
        .await;
    assert_contains(&grace.get("/hosts").await, "0 of 1 hosts use the new keys");
}

#[tokio::test]
async fn a_draining_host_shows_that_it_is_offline_and_why_nothing_moves() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    agent.apply().await;
    let mut sam_in_browser = logged_in(&app, "sam").await;
    sam.post("/hosts/1/drain", json!({})).await;
    let page = sam_in_browser.get("/hosts/1").await;
    assert_contains(&page, "Draining");
    assert_lacks(&page, ">Offline<");
    assert_contains(&page, "The instances cannot move: us-east has no other host.");
    app.advance(61);
    for path in ["/hosts", "/hosts/1"] {
        let page = sam_in_browser.get(path).await;
        assert_contains(&page, ">Draining<");
        assert_contains(&page, ">Offline<");
        assert_lacks(&page, "Credential revoked");
    }
    sam.post("/hosts/1/join-token", json!({"revoke": true})).await;
    for path in ["/hosts", "/hosts/1"] {
        assert_contains(&sam_in_browser.get(path).await, "Credential revoked");
    }
}

#[tokio::test]
async fn the_page_of_hosts_names_the_host_that_blocks_a_rotation() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, two) = (add_host(&sam, 1, 5).await, add_host(&sam, 2, 5).await);
    let set = async |body| sam.put("/hosts/encryption/us-east", body).await;
    set(json!({"enabled": true})).await;
    one.report_key(1, 'a').await;
    two.report_key(1, 'b').await;
    set(json!({"rotate": true})).await;
    app.advance(61);
    one.report_key(2, 'c').await;
    let page = logged_in(&app, "sam").await.get("/hosts").await;
    let html = text(&page);
    let rotation = between(&html, "data-label=\"Rotation\"", "</td>");
    assert!(
        rotation.contains(">rack-2</a>: its agent does not report"),
        "{rotation}"
    );
    assert!(!rotation.contains("rack-1"), "{rotation}");
}
