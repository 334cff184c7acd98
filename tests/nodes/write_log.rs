//! Clients that write continuously and record which writes were acknowledged.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::client::Client;
use crate::connection::text;
use crate::harness::Nodes;

/// The writes of all clients.
#[derive(Default)]
pub struct WriteLog {
    /// The labels of writes that were acknowledged with 200. They must exist.
    acknowledged: Mutex<BTreeSet<String>>,
    /// The labels of writes that failed with 503, or had no response. They may exist.
    unknown: Mutex<BTreeSet<String>>,
}

impl WriteLog {
    /// Writes until stopped; after a lost connection, uses the next node.
    pub fn write(&self, nodes: &Nodes, writer: usize, round: &str, stop: &AtomicBool) {
        let mut node = writer;
        let mut client = nodes.client(node);
        for number in 0.. {
            if stop.load(Ordering::SeqCst) {
                return;
            }
            let label = format!("w-{round}-{writer}-{number}");
            let body = json!({"label": label, "region": "us-east"});
            match client.try_send("POST", "/v4/vpcs", Some(&body)) {
                Ok(reply) if reply.status == 200 => {
                    self.acknowledged.lock().expect("a list").insert(label);
                }
                Ok(reply) => {
                    assert_eq!(reply.status, 503, "{}", reply.code());
                    assert_eq!(reply.header("retry-after"), Some("1"));
                    self.unknown.lock().expect("a list").insert(label);
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(_) => {
                    self.unknown.lock().expect("a list").insert(label);
                    node += 1;
                    client = nodes.client(node);
                }
            }
        }
    }

    pub fn acknowledged(&self) -> usize {
        self.acknowledged.lock().expect("a list").len()
    }

    /// Compares the log with the state of a node: its VPCs, and exactly one event for each VPC.
    pub fn check(&self, client: &mut Client) {
        let stored: BTreeSet<String> = client
            .all("/v4/vpcs")
            .iter()
            .map(|vpc| text(&vpc["label"]))
            .collect();
        let (acknowledged, unknown) = (
            self.acknowledged.lock().expect("a list"),
            self.unknown.lock().expect("a list"),
        );
        let lost: Vec<_> = acknowledged.difference(&stored).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let unexpected: Vec<_> = stored
            .iter()
            .filter(|label| !acknowledged.contains(*label) && !unknown.contains(*label))
            .collect();
        assert!(unexpected.is_empty(), "unexpected VPCs: {unexpected:?}");
        let mut recorded: Vec<String> = Vec::new();
        let mut last = 0;
        loop {
            let list = client
                .get(&format!("/v4/account/events?page_size=500&after={last}"))
                .ok();
            let events = list["data"].as_array().expect("data is a list").clone();
            let Some(newest) = events.last() else { break };
            last = crate::connection::number(&newest["id"]);
            let created = events.iter().filter(|event| event["action"] == "vpc_create");
            recorded.extend(created.map(|event| text(&event["entity"]["label"])));
        }
        recorded.sort();
        assert!(
            recorded.iter().eq(stored.iter()),
            "the events do not match the VPCs"
        );
    }
}
