//! Instances boot on hosts, and their state follows the reports of agents.

use garth::model::job::JobKind;
use serde_json::{Value, json};

use super::{Agent, add_host, create_instance, run_jobs, status_of};
use crate::harness::{TestApp, User};

async fn last_event(user: &User<'_>) -> Value {
    user.get("/account/events?page_size=1").await.data()[0].clone()
}

async fn ports_of(agent: &Agent<'_>) -> usize {
    let state = agent.state().await;
    let vpcs = state["vpcs"].as_array().unwrap().iter();
    vpcs.map(|vpc| vpc["ports"].as_array().unwrap().len()).sum()
}

#[tokio::test]
async fn an_instance_runs_when_the_agent_reports_that_its_port_is_up() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    let subnets = json!([{"label": "web", "ipv4": "10.0.0.0/24", "ipv6": [{"range": "auto"}]}]);
    let vpc = json!({"label": "core", "region": "us-east", "ipv6": [{"range": "/52"}], "subnets": subnets});
    assert_eq!(ada.post("/vpcs", vpc).await.status, 200);
    let agent = add_host(&sam, 1, 5).await;

    let created = create_instance(&ada, 1).await;
    assert_eq!(
        (created.status.as_u16(), &created.json()["status"]),
        (200, &json!("booting"))
    );
    assert_eq!(
        (
            last_event(&ada).await["action"].clone(),
            last_event(&ada).await["status"].clone()
        ),
        (json!("linode_boot"), json!("started"))
    );
    let interface = "/linode/instances/1/configs/1/interfaces/1";
    assert_eq!(ada.get(interface).await.json()["active"], false);
    let state = agent.state().await;
    let port = &state["vpcs"][0]["ports"][0];
    assert_eq!(port["ipv4"], "10.0.0.2");
    assert_eq!(port["mac"], "22:00:00:00:00:01");
    let addresses = ada.get("/vpcs/1/ipv6s").await;
    assert_eq!(
        addresses.data()[0]["ipv6_addresses"][0]["slaac_address"],
        port["slaac"]["address"]
    );
    assert_eq!(
        state["vpcs"][0]["subnets"][0]["ipv4"],
        json!({"range": "10.0.0.0/24", "gateway": "10.0.0.1"})
    );

    let revision = state["revision"].as_u64().unwrap();
    let up = json!([{"interface_id": 1, "status": "up", "traffic": {"received_bytes": 5, "received_packets": 1,
        "sent_bytes": 7, "sent_packets": 1}}]);
    agent
        .report_with(json!({"applied_revision": revision - 1, "ports": up}))
        .await;
    assert_eq!(
        status_of(&ada, 1).await,
        "booting",
        "a report about an earlier state does not count"
    );
    agent
        .report_with(json!({"applied_revision": revision, "ports": up}))
        .await;
    assert_eq!(status_of(&ada, 1).await, "running");
    assert_eq!(ada.get(interface).await.json()["active"], true);
    let event = last_event(&ada).await;
    assert_eq!(
        (&event["status"], &event["percent_complete"]),
        (&json!("finished"), &json!(100))
    );
    assert_eq!(sam.get("/hosts/1").await.json()["instances"], 1);
}

#[tokio::test]
async fn a_boot_fails_if_the_port_is_not_up_in_time() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    agent
        .report(json!([{"interface_id": 1, "status": "error", "reason": "no VXLAN"}]))
        .await;
    assert_eq!(status_of(&ada, 1).await, "booting");
    app.advance(121);
    run_jobs(&app, &[JobKind::InstancePower]).await;
    assert_eq!(status_of(&ada, 1).await, "offline");
    let failed = last_event(&ada).await;
    assert_eq!(
        (&failed["status"], &failed["message"]),
        (
            &json!("failed"),
            &json!("The network of the instance was not ready on its host in time. Boot the instance again.")
        )
    );
    assert_eq!(agent.state().await["vpcs"], json!([]));
    agent.report(json!([])).await;
    assert_eq!(ada.post("/linode/instances/1/boot", json!({})).await.status, 200);
    agent.apply().await;
    assert_eq!(status_of(&ada, 1).await, "running");
    assert_eq!(last_event(&ada).await["message"], "");
}

#[tokio::test]
async fn instances_are_placed_on_the_host_with_the_most_free_capacity() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 2).await, add_host(&sam, 2, 1).await);
    let mut used = Vec::new();
    for _ in 0..3 {
        create_instance(&ada, 1).await;
        used.push((ports_of(&one).await, ports_of(&two).await));
    }
    assert_eq!(used, [(1, 0), (2, 0), (2, 1)]);

    let unplaced = create_instance(&ada, 1).await;
    assert_eq!(
        (unplaced.status.as_u16(), &unplaced.json()["status"]),
        (200, &json!("offline"))
    );
    let failed = last_event(&ada).await;
    assert_eq!(
        (&failed["status"], &failed["message"]),
        (
            &json!("failed"),
            &json!("No host of the region has capacity for another instance. Boot the instance again later.")
        )
    );
    let refused = ada.post("/linode/instances/4/boot", json!({})).await;
    assert_eq!(refused.json()["errors"][0]["code"], "no_capacity");
    ada.delete("/linode/instances/3").await;
    assert_eq!(ada.post("/linode/instances/4/boot", json!({})).await.status, 200);
    assert_eq!(ports_of(&two).await, 1);
}

#[tokio::test]
async fn an_offline_host_gets_no_instances() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    add_host(&sam, 1, 9).await;
    app.advance(61);
    let two = add_host(&sam, 2, 1).await;
    create_instance(&ada, 1).await;
    assert_eq!(ports_of(&two).await, 1);
}

#[tokio::test]
async fn a_host_that_reaches_no_other_host_is_the_last_choice() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 9).await, add_host(&sam, 2, 5).await);
    let warn = async |code: &str| {
        let warning = json!({"code": code, "text": "a problem"});
        let reply = one.report_with(json!({"warnings": [warning]})).await;
        assert_eq!(reply.status, 200, "{reply}");
    };
    let ports = async || (ports_of(&one).await, ports_of(&two).await);
    for (code, expected) in [
        ("underlay_mtu_small", (1, 0)),
        ("underlay_address_missing", (1, 1)),
        ("no_sessions", (1, 2)),
        ("host_filter_failed", (1, 3)),
        ("no_session", (2, 3)),
    ] {
        warn(code).await;
        create_instance(&ada, 1).await;
        assert_eq!(ports().await, expected, "{code}");
    }

    // Without another usable host, the instance boots there.
    warn("underlay_address_missing").await;
    assert_eq!(sam.post("/hosts/2/drain", json!({})).await.status, 200);
    create_instance(&ada, 1).await;
    assert_eq!(ports().await, (3, 3));
    assert_eq!(sam.get("/hosts/1").await.json()["warnings"], json!(["a problem"]));
    assert_eq!(sam.post("/hosts/2/undrain", json!({})).await.status, 200);
    one.report(json!([])).await;
    create_instance(&ada, 1).await;
    assert_eq!(ports().await, (4, 3), "the problem is solved");
}

#[tokio::test]
async fn a_host_with_several_agents_is_the_last_choice() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 9).await, add_host(&sam, 2, 5).await);
    for run in ["first", "second", "first"] {
        assert_eq!(one.report_with(json!({"agent_run": run})).await.status, 200);
    }
    create_instance(&ada, 1).await;
    assert_eq!((ports_of(&one).await, ports_of(&two).await), (0, 1));
    app.advance(61);
    assert_eq!(one.report_with(json!({"agent_run": "first"})).await.status, 200);
    two.apply().await;
    create_instance(&ada, 1).await;
    assert_eq!(
        (ports_of(&one).await, ports_of(&two).await),
        (1, 1),
        "the other agent has ended"
    );
}

#[tokio::test]
async fn a_host_without_a_key_is_the_last_choice_in_a_region_that_encrypts() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 9).await, add_host(&sam, 2, 5).await);
    let on = sam
        .put("/hosts/encryption/us-east", json!({"enabled": true}))
        .await;
    assert_eq!(on.status, 200, "{on}");
    two.report_key(1, 'b').await;
    create_instance(&ada, 1).await;
    assert_eq!((ports_of(&one).await, ports_of(&two).await), (0, 1));
    one.report_key(1, 'a').await;
    create_instance(&ada, 1).await;
    assert_eq!((ports_of(&one).await, ports_of(&two).await), (1, 1));
}

#[tokio::test]
async fn regions_without_hosts_remain_as_they_are() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let new = json!({"label": "rack-1", "region": "us-east", "underlay_address": "172.31.0.1"});
    sam.post("/hosts", new).await;
    assert_eq!(
        create_instance(&ada, 1).await.json()["status"],
        "running",
        "no agent has reported yet"
    );
    add_host(&sam, 2, 1).await;
    let elsewhere = json!({"type": "g6-nanode-1", "region": "us-west", "interfaces": [{"purpose": "public"}], "booted": true});
    assert_eq!(
        ada.post("/linode/instances", elsewhere).await.json()["status"],
        "running"
    );
}

#[tokio::test]
async fn shutdown_and_deletion_remove_ports() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    for _ in 0..2 {
        create_instance(&ada, 1).await;
    }
    agent.apply().await;
    assert_eq!(
        ada.post("/linode/instances/1/shutdown", json!({})).await.status,
        200
    );
    assert_eq!(
        (status_of(&ada, 1).await.as_str(), ports_of(&agent).await),
        ("offline", 1)
    );
    assert_eq!(ada.delete("/linode/instances/2").await.status, 200);
    assert_eq!(agent.state().await["vpcs"], json!([]));
    assert_eq!(sam.get("/hosts/1").await.json()["instances"], 0);
}

#[tokio::test]
async fn a_change_of_an_active_interface_changes_the_desired_state() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    agent.apply().await;
    let before = agent.state().await["revision"].as_u64();
    let change = json!({"ipv4": {"nat_1_1": "any"}, "ip_ranges": ["10.0.0.64/28"]});
    let changed = ada
        .put("/linode/instances/1/configs/1/interfaces/1", change)
        .await;
    assert_eq!(changed.status, 200, "{changed}");
    let state = agent.state().await;
    assert!(state["revision"].as_u64() > before);
    let port = &state["vpcs"][0]["ports"][0];
    assert_eq!(
        (&port["nat_1_1"], &port["ranges"]),
        (&json!("192.0.2.2"), &json!(["10.0.0.64/28"]))
    );
}

#[tokio::test]
async fn a_reboot_remains_on_the_host_and_waits_for_the_agent() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 1).await;
    create_instance(&ada, 1).await;
    agent.apply().await;
    add_host(&sam, 2, 9).await;
    assert_eq!(
        ada.post("/linode/instances/1/reboot", json!({})).await.status,
        200
    );
    assert_eq!(
        (status_of(&ada, 1).await.as_str(), ports_of(&agent).await),
        ("rebooting", 1)
    );
    agent.apply().await;
    assert_eq!(status_of(&ada, 1).await, "running");
}

#[tokio::test]
async fn an_interface_that_is_deleted_during_a_boot_loses_its_port() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 1).await;
    create_instance(&ada, 1).await;
    assert_eq!(
        ada.delete("/linode/instances/1/configs/1/interfaces/1")
            .await
            .status,
        200
    );
    assert_eq!(agent.state().await["vpcs"], json!([]));
    agent.report(json!([])).await;
    assert_eq!(status_of(&ada, 1).await, "running");
}
