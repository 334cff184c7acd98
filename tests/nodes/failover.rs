//! Nodes and databases that fail under load: no acknowledged write is lost, and the nodes recover by
//! themselves.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Nodes, three_nodes};
use crate::postgres::Postgres;
use crate::process::eventually;
use crate::proxy::{Fault, Proxy};
use crate::write_log::WriteLog;

const WRITERS: usize = 8;

/// Runs writers on all nodes while `action` runs.
fn under_load(nodes: &Nodes, writes: &WriteLog, round: &str, action: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        for writer in 0..WRITERS {
            let stop = &stop;
            scope.spawn(move || writes.write(nodes, writer, round, stop));
        }
        action();
    });
}

/// Stops the writers, even if the test fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn raise_quota(nodes: &Nodes) {
    nodes.run("account quota 1 --vpcs-per-region 1000000");
}

#[test]
fn a_killed_node_leaves_no_partial_writes_and_another_node_takes_over_its_jobs() {
    let postgres = Postgres::new("killed");
    let slow = |serve: &mut Command| {
        serve.env("GARTH_COMPUTE_SETTLE_MS", "1500");
    };
    let mut nodes = Nodes::start_with("killed", &postgres.url(), slow);
    raise_quota(&nodes);
    let writes = WriteLog::default();
    under_load(&nodes, &writes, "before", || {
        std::thread::sleep(Duration::from_millis(500))
    });

    let mut victim = nodes.servers.remove(0);
    under_load(&nodes, &writes, "after", || {
        let body =
            json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
        let created = victim.client().post("/v4/linode/instances", body);
        assert_eq!(created.ok()["status"], "provisioning");
        victim.process.kill();
        eventually("another node to complete the job", || {
            let instance = nodes.client(0).get("/v4/linode/instances/1").ok();
            (instance["status"] == "running").then_some(())
        });
    });
    assert!(
        writes.acknowledged() > 50,
        "too few writes: {}",
        writes.acknowledged()
    );
    writes.check(&mut nodes.client(1));
    let events = nodes.client(1).all("/v4/account/events");
    let booted = events.iter().filter(|event| event["action"] == "linode_boot");
    assert_eq!(booted.count(), 1, "the instance was booted once");
    nodes.assert_sound();
}

#[test]
fn a_commit_whose_response_is_lost_is_neither_acknowledged_nor_repeated() {
    let postgres = Postgres::new("unknown");
    let proxy = Proxy::new(postgres.port);
    let url = format!(
        "postgres://garth@127.0.0.1:{}/postgres?sslmode=disable",
        proxy.port
    );
    let nodes = Nodes::start("unknown", &url);
    let create = |label: &str| {
        let body = json!({"label": label, "region": "us-east"});
        nodes.client(0).post("/v4/vpcs", body)
    };
    create("before").ok();
    for (fault, label) in [
        (Fault::LoseCommit, "not-created"),
        (Fault::LoseResponse, "created"),
    ] {
        proxy.set(fault);
        let reply = create(label);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (503, "store_unavailable"),
            "{label}"
        );
        proxy.set(Fault::None);
    }
    create("after").ok();
    assert_eq!(nodes.client(0).vpc_labels(), ["before", "created", "after"]);
    let events = nodes.client(1).all("/v4/account/events");
    assert_eq!(events.len(), 3, "one event for each VPC");
    nodes.assert_sound();
}

/// Runs for a minute with `GARTH_TEST_LONG=1`, otherwise for a few rounds.
#[test]
fn repeated_database_restarts_cause_only_503s() {
    let (mut postgres, nodes) = three_nodes("restarts");
    raise_quota(&nodes);
    let writes = WriteLog::default();
    let rounds = if std::env::var_os("GARTH_TEST_LONG").is_some() {
        20
    } else {
        4
    };
    for round in 0..rounds {
        under_load(&nodes, &writes, &format!("r{round}"), || {
            std::thread::sleep(Duration::from_millis(1500));
            postgres.stop_immediately();
            assert_eq!(nodes.client(0).get("/v4/vpcs").status, 503);
            assert_eq!(
                nodes.client(1).get("/readyz").status,
                503,
                "not ready without a database"
            );
            assert_eq!(
                nodes.client(2).get("/healthz").status,
                200,
                "the process is alive"
            );
            std::thread::sleep(Duration::from_millis(300));
            postgres.start();
            let restored = Instant::now();
            for node in 0..3 {
                eventually("a node to reconnect", || {
                    (nodes.client(node).get("/readyz").status == 200).then_some(())
                });
            }
            assert!(
                restored.elapsed() < Duration::from_secs(2),
                "the recovery took {:?}",
                restored.elapsed()
            );
            std::thread::sleep(Duration::from_millis(500));
        });
    }
    assert!(
        writes.acknowledged() > 50,
        "too few writes: {}",
        writes.acknowledged()
    );
    for node in 0..3 {
        writes.check(&mut nodes.client(node));
    }
    nodes.assert_sound();
}

#[test]
fn nodes_fail_over_to_a_promoted_replica_without_losing_writes() {
    let mut primary = Postgres::with("primary", &["synchronous_standby_names=*"]);
    // Otherwise a commit would wait for the replica, which is not connected yet.
    primary.query("ALTER SYSTEM SET synchronous_commit = local");
    primary.query("SELECT pg_reload_conf()");
    let replica = primary.replica("replica");
    primary.query("ALTER SYSTEM RESET synchronous_commit");
    primary.query("SELECT pg_reload_conf()");
    eventually("synchronous replication", || {
        (primary.query("SELECT sync_state FROM pg_stat_replication") == "sync").then_some(())
    });
    let url = format!(
        "postgres://garth@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        primary.port, replica.port
    );
    let nodes = Nodes::start("failover", &url);
    raise_quota(&nodes);
    let writes = WriteLog::default();
    under_load(&nodes, &writes, "failover", || {
        std::thread::sleep(Duration::from_secs(2));
        primary.kill();
        std::thread::sleep(Duration::from_millis(500));
        replica.promote();
        let restored = Instant::now();
        for node in 0..3 {
            eventually("a node to use the new primary", || {
                (nodes.client(node).get("/readyz").status == 200).then_some(())
            });
        }
        assert!(
            restored.elapsed() < Duration::from_secs(3),
            "the recovery took {:?}",
            restored.elapsed()
        );
        std::thread::sleep(Duration::from_secs(1));
    });
    assert!(
        writes.acknowledged() > 50,
        "too few writes: {}",
        writes.acknowledged()
    );
    writes.check(&mut nodes.client(0));
    nodes.assert_sound();
}
