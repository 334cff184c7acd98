//! Traces: the predicted path of a packet.

use serde_json::{Value, json};

use super::{add_host, create_instance};
use crate::harness::{TestApp, User};

async fn trace(staff: &User<'_>, instance: i64, address: &str) -> Value {
    let reply = staff.get(&format!("/hosts/trace/{instance}/{address}")).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()
}

#[tokio::test]
async fn staff_trace_packets_between_hosts() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    let subnet = |number: i64| json!({"label": format!("net-{number}"), "ipv4": format!("10.0.{number}.0/24"), "ipv6": [{"range": "auto"}]});
    for label in ["core", "other"] {
        let vpc = json!({"label": label, "region": "us-east", "ipv6": [{"range": "/52"}],
            "subnets": [subnet(0), subnet(1)]});
        assert_eq!(ada.post("/vpcs", vpc).await.status, 200);
    }
    ada.create_vpc("private", &["10.7.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await);
    for subnet in [1, 2] {
        create_instance(&ada, subnet).await;
    }
    let pending = trace(&sam, 1, "10.0.1.2").await;
    assert_eq!(pending["cause"], "not_running", "the instance boots");
    let reason = pending["reason"].as_str().expect("a reason");
    assert!(reason.ends_with("is booting on host rack-1"), "{reason}");
    one.apply().await;
    assert_eq!(trace(&sam, 1, "10.0.1.2").await["cause"], "target_port_not_up");
    two.apply().await;

    let found = trace(&sam, 1, "10.0.1.2").await;
    assert_eq!(
        (&found["outcome"], &found["cause"], &found["reason"]),
        (&json!("delivered"), &Value::Null, &Value::Null)
    );
    let places: Vec<_> = found["hops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hop| &hop["place"])
        .collect();
    assert_eq!(places[1..], ["rack-1", "rack-1", "rack-1", "rack-2"], "{found}");
    let ipv6 = ada.get("/vpcs/1/ipv6s").await.data();
    let address = ipv6[1]["ipv6_addresses"][0]["slaac_address"]
        .as_str()
        .expect("an address");
    assert_eq!(trace(&sam, 1, address).await["outcome"], "delivered");
    let other = ada.get("/vpcs/2").await.json()["ipv6"][0]["range"]
        .as_str()
        .expect("a range")
        .to_owned();
    let other = other.replace("/52", "5");
    for (address, cause) in [
        ("10.0.1.77", "unknown_address"),
        ("10.9.9.9", "unknown_address"),
        ("10.7.0.9", "other_vpc"),
        ("8.8.8.8", "no_nat"),
        ("2001:db8::1", "no_public_ipv6"),
        (other.as_str(), "other_vpc"),
        ("::ffff:10.0.1.77", "unknown_address"),
        ("172.31.0.2", "host_address"),
    ] {
        assert_eq!(trace(&sam, 1, address).await["cause"], cause, "{address}");
    }

    app.advance(61);
    one.report(json!([])).await;
    app.advance(3);
    let doubt = trace(&sam, 1, "10.0.1.2").await;
    assert_eq!(doubt["outcome"], "uncertain", "host 2 does not report");
    assert_eq!(
        doubt["reports"],
        json!([
            {"host": "rack-1", "last_seen": "2024-06-01T12:01:01", "age_seconds": 3, "stale": false},
            {"host": "rack-2", "last_seen": "2024-06-01T12:00:00", "age_seconds": 64, "stale": true}
        ])
    );
    sam.post("/hosts/2/join-token", json!({"revoke": true})).await;
    assert_eq!(trace(&sam, 1, "10.0.1.2").await["cause"], "no_credential");
    ada.post("/linode/instances/2/shutdown", json!({})).await;
    assert_eq!(trace(&sam, 1, "10.0.1.2").await["cause"], "target_not_running");
    assert_eq!(trace(&sam, 2, "10.0.0.2").await["cause"], "not_running");
}

#[tokio::test]
async fn a_problem_of_a_host_makes_only_the_paths_uncertain_that_it_affects() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 2).await, add_host(&sam, 2, 1).await);
    for subnet in [1, 1, 2] {
        create_instance(&ada, subnet).await;
    }
    let path = "/linode/instances/1/configs/1/interfaces/1";
    let changed = ada.put(path, json!({"ipv4": {"nat_1_1": "any"}})).await;
    assert_eq!(changed.status, 200, "{changed}");
    one.apply().await;
    two.apply().await;
    let state = two.state().await;
    let crossing = state["vpcs"][0]["ports"][0]["ipv4"].as_str().expect("an address");
    assert_eq!(crossing, "10.0.1.2", "instance 3 is on the other host");
    let outcomes = async || {
        let mut found = Vec::new();
        for address in ["10.0.0.3", "10.0.1.2", "198.51.100.9"] {
            found.push(trace(&sam, 1, address).await["outcome"].clone());
        }
        found
    };
    assert_eq!(outcomes().await, ["delivered", "delivered", "leaves_the_vpc"]);
    for (warning, expected) in [
        (
            json!({"code": "ipv4_forwarding_off", "text": "x"}),
            ["delivered", "delivered", "uncertain"],
        ),
        (
            json!({"code": "no_session", "ids": [9, two.id], "text": "x"}),
            ["delivered", "uncertain", "leaves_the_vpc"],
        ),
        (
            json!({"code": "no_session", "ids": [9], "text": "x"}),
            ["delivered", "delivered", "leaves_the_vpc"],
        ),
        (json!("of an earlier agent"), ["uncertain"; 3]),
    ] {
        let reply = one.report_with(json!({"warnings": [warning]})).await;
        assert_eq!(reply.status, 200, "{reply}");
        assert_eq!(outcomes().await, expected, "{warning}");
    }
}

#[tokio::test]
async fn a_packet_to_the_outside_leaves_the_vpc_and_is_not_delivered() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 1).await;
    create_instance(&ada, 1).await;
    let change = json!({"ipv4": {"nat_1_1": "any"}});
    let path = "/linode/instances/1/configs/1/interfaces/1";
    let changed = ada.put(path, change).await.json();
    let public = changed["ipv4"]["nat_1_1"]
        .as_str()
        .expect("an address")
        .to_owned();
    agent.apply().await;
    let found = trace(&sam, 1, "198.51.100.9").await;
    assert_eq!(
        (&found["outcome"], &found["cause"]),
        (&json!("leaves_the_vpc"), &Value::Null)
    );
    let expected = format!(
        "The packet leaves the VPC through host rack-1 with source address {public}; Garth does not know whether the \
         destination receives it"
    );
    assert_eq!(found["reason"], expected);
}

#[tokio::test]
async fn a_trace_needs_an_instance_and_an_address() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    assert_eq!(sam.get("/hosts/trace/7/10.0.0.1").await.status, 404);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    create_instance(&ada, 1).await;
    let invalid = sam.get("/hosts/trace/1/10.0.0").await;
    assert_eq!(invalid.errors(), ["address address_invalid"]);
    for address in [
        "127.0.0.1",
        "169.254.1.1",
        "224.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "::",
        "::1",
        "fe80::1",
        "ff02::1",
    ] {
        let refused = sam.get(&format!("/hosts/trace/1/{address}")).await;
        assert_eq!(refused.errors(), ["address address_invalid"], "{address}");
    }
    let simulated = trace(&sam, 1, "10.0.0.7").await;
    assert_eq!(simulated["cause"], "no_port");
    assert_eq!(ada.get("/hosts/trace/1/10.0.0.7").await.status, 403);
}
