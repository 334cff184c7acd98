//! Background jobs of several nodes: shared, taken over from a dead node, and never run twice.

use serde_json::json;

use crate::client::Client;
use crate::folder::{Server, TOKEN};
use crate::harness::Nodes;
use crate::postgres::Postgres;
use crate::process::eventually;

const INSTANCES: usize = 40;
/// Creating an instance with an image and booting it are two changes with two steps each.
const STEPS: usize = 4;

/// The number of instance steps that a node has completed.
fn completed(node: &Server) -> usize {
    let page = Client::new(node.metrics_address(), TOKEN)
        .get("/metrics")
        .text()
        .to_owned();
    let name = "garth_jobs_completed_total{kind=\"instance_power\"} ";
    let line = page.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |count| count.parse().expect("a number"))
}

#[test]
fn nodes_share_jobs_and_run_each_once() {
    let postgres = Postgres::new("jobs-shared");
    let nodes = Nodes::start_with("jobs-shared", &postgres.url(), |serve| {
        serve.env("GARTH_COMPUTE_SETTLE_MS", "600");
        serve.env("GARTH_METRICS_LISTEN", "127.0.0.1:0");
    });
    let body =
        json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
    nodes.run_concurrently(4, |_, client| {
        for _ in 0..INSTANCES / 4 {
            client.post("/v4/linode/instances", body.clone()).ok();
        }
    });

    eventually("all instances to run", || {
        let running = nodes.client(0).all("/v4/linode/instances");
        let running = running.iter().filter(|instance| instance["status"] == "running");
        (running.count() == INSTANCES).then_some(())
    });

    let shares = eventually("the metrics of all nodes", || {
        let shares: Vec<usize> = nodes.servers.iter().map(completed).collect();
        (shares.iter().sum::<usize>() >= INSTANCES * STEPS).then_some(shares)
    });
    assert_eq!(shares.iter().sum::<usize>(), INSTANCES * STEPS, "{shares:?}");
    assert!(
        shares.iter().filter(|share| **share > 0).count() > 1,
        "one node ran all jobs: {shares:?}"
    );
    let events = nodes.client(1).all("/v4/account/events");
    let boots = events.iter().filter(|event| event["action"] == "linode_boot");
    assert_eq!(boots.count(), INSTANCES, "each instance was booted once");
    let remaining = postgres.query("SELECT count(*) FROM job WHERE kind = 'instance_power'");
    assert_eq!(remaining, "0");
    // A node loses a valid lease only if another node leases the same job.
    for server in &nodes.servers {
        let log = server.process.stderr();
        assert!(!log.contains("job lease lost"), "{log}");
    }
    nodes.assert_sound();
}

#[test]
fn a_job_of_a_killed_node_is_taken_over_when_its_lease_expires() {
    let postgres = Postgres::new("jobs-orphaned");
    let mut nodes = Nodes::start_with("jobs-orphaned", &postgres.url(), |serve| {
        serve.env("GARTH_COMPUTE_SETTLE_MS", "1000");
    });
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    nodes.client(0).post("/v4/linode/instances", body).ok();

    std::thread::scope(|scope| {
        // The row is locked, so the node that runs the last step blocks.
        let lock = "SELECT id FROM instance FOR UPDATE; SELECT pg_sleep(4)";
        scope.spawn(|| postgres.query(lock));
        let owner = eventually("a node to lease the last step", || {
            let sql = "SELECT lease_owner FROM job WHERE payload LIKE 'finish%' AND lease_owner IS NOT NULL";
            Some(postgres.query(sql)).filter(|owner| !owner.is_empty())
        });
        let id: u32 = owner
            .split('-')
            .next()
            .and_then(|id| id.parse().ok())
            .expect("a process");
        let victim = nodes
            .servers
            .iter()
            .position(|server| server.process.id() == id)
            .expect("one of the nodes");
        nodes.servers.remove(victim).process.kill();
    });
    let status = |nodes: &Nodes| nodes.client(0).get("/v4/linode/instances/1").ok()["status"].clone();
    assert_eq!(
        status(&nodes),
        "provisioning",
        "the killed node has not completed the job"
    );
    assert_ne!(
        postgres.query("SELECT attempts FROM job WHERE payload LIKE 'finish%'"),
        ""
    );

    eventually("another node to complete the job", || {
        (status(&nodes) == "offline").then_some(())
    });

    let events = nodes.client(1).all("/v4/account/events");
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["status"], "finished");
    nodes.assert_sound();
}
