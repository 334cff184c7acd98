//! The rules hold for concurrent requests to several nodes, and clients see no serialization failures.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::connection::{Reply, number};
use crate::harness::{Nodes, three_nodes};

const CLIENTS: usize = 24;

/// The number of successes; all other requests must have failed with this code.
fn successes(replies: &[Reply], code: &str) -> usize {
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        assert_eq!((reply.status, reply.code().as_str()), (400, code));
    }
    replies.iter().filter(|reply| reply.status == 200).count()
}

fn new_vpc(nodes: &Nodes, label: &str) -> i64 {
    nodes.client(0).create_vpc(label)
}

#[test]
fn the_rules_hold_on_three_nodes() {
    let (postgres, nodes) = three_nodes("races");
    for round in 0..4 {
        let vpc = new_vpc(&nodes, &format!("equal-{round}"));
        let replies = nodes.run_concurrently(CLIENTS, |number, client| {
            let body = json!({"label": format!("s-{number}"), "ipv4": "10.0.0.0/24"});
            client.post(&format!("/v4/vpcs/{vpc}/subnets"), body)
        });
        assert_eq!(successes(&replies, "cidr_overlap"), 1);

        let vpc = new_vpc(&nodes, &format!("mixed-{round}"));
        let replies = nodes.run_concurrently(CLIENTS, |number, client| {
            let prefix = 17 + number % 6;
            let third = ((number * 37) % 256) & (0xff00 >> (prefix - 16));
            let body = json!({"label": format!("s-{number}"), "ipv4": format!("10.0.{third}.0/{prefix}")});
            client.post(&format!("/v4/vpcs/{vpc}/subnets"), body)
        });
        successes(&replies, "cidr_overlap");

        let replies = nodes.run_concurrently(CLIENTS, |number, client| {
            let label = format!("{}-{round}", if number % 2 == 0 { "same" } else { "SAME" });
            client.post("/v4/vpcs", json!({"label": label, "region": "us-mia"}))
        });
        assert_eq!(successes(&replies, "label_taken"), 1);
    }
    let overlaps = "SELECT count(*) FROM subnet a JOIN subnet b ON a.vpc = b.vpc AND a.id < b.id
        AND a.first_address <= b.last_address AND b.first_address <= a.last_address";
    assert_eq!(postgres.query(overlaps), "0");

    nodes.run("account quota 1 --vpcs-per-region 5 --subnets-per-vpc 5");
    for region in ["fr-par", "us-ord", "us-sea", "it-mil", "jp-osa"] {
        let replies = nodes.run_concurrently(CLIENTS, |number, client| {
            let body = json!({"label": format!("{region}-{number}"), "region": region});
            client.post("/v4/vpcs", body)
        });
        assert_eq!(successes(&replies, "quota_exceeded"), 5);
        let vpc = number(
            &replies
                .iter()
                .find(|reply| reply.status == 200)
                .expect("a success")
                .ok()["id"],
        );
        let replies = nodes.run_concurrently(CLIENTS, |number, client| {
            let body = json!({"label": format!("s-{number}"), "ipv4": format!("10.{number}.0.0/16")});
            client.post(&format!("/v4/vpcs/{vpc}/subnets"), body)
        });
        assert_eq!(successes(&replies, "quota_exceeded"), 5);
    }
    nodes.assert_sound();
}

#[test]
fn three_nodes_never_assign_an_address_twice() {
    let (_postgres, nodes) = three_nodes("addresses");
    let vpc = new_vpc(&nodes, "core");
    let body = json!({"label": "small", "ipv4": "10.0.0.0/28"});
    nodes
        .client(0)
        .post(&format!("/v4/vpcs/{vpc}/subnets"), body)
        .ok();

    let replies = nodes.run_concurrently(CLIENTS, |_, client| {
        let interfaces = json!([{"purpose": "vpc", "subnet_id": 1}]);
        let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
        client.post("/v4/linode/instances", body)
    });
    assert_eq!(
        successes(&replies, "addresses_exhausted"),
        12,
        "all but the first two and the last two"
    );
    let ips = nodes.client(1).all("/v4/vpcs/ips");
    let different: BTreeSet<String> = ips.iter().map(|ip| ip["address"].to_string()).collect();
    assert_eq!((ips.len(), different.len()), (12, 12));
    let public = |instance: &Value| instance["ipv4"][0].to_string();
    let instances = nodes.client(2).all("/v4/linode/instances");
    let different: BTreeSet<String> = instances.iter().map(public).collect();
    assert_eq!(different.len(), instances.len());
    let ids: BTreeSet<i64> = instances.iter().map(|instance| number(&instance["id"])).collect();
    assert_eq!(ids.len(), 12);
    nodes.assert_sound();
}
