//! A database that hangs: nodes detect it within seconds and still respond.

use std::time::{Duration, Instant};

use crate::harness::three_nodes;
use crate::process::eventually;

#[test]
fn a_frozen_database_makes_nodes_not_ready_before_any_statement_times_out() {
    let (postgres, nodes) = three_nodes("frozen");
    assert_eq!(nodes.client(0).get("/readyz").status, 200);

    postgres.freeze();
    let frozen = Instant::now();
    for node in 0..3 {
        let reply = eventually("a node to be not ready", || {
            let started = Instant::now();
            let reply = nodes.client(node).get("/readyz");
            assert!(
                started.elapsed() < Duration::from_secs(2),
                "{:?}",
                started.elapsed()
            );
            (reply.status == 503).then_some(reply)
        });
        // The documented limit is two seconds. A busy test machine may add two.
        assert!(
            frozen.elapsed() < Duration::from_secs(4),
            "{:?}",
            frozen.elapsed()
        );
        let report = reply.json();
        assert_eq!(report["status"], "unavailable", "{report}");
        assert_eq!(report["checks"]["database"], "stalled", "{report}");
        assert_eq!(report["checks"]["disk"], "ok", "{report}");
        assert_eq!(nodes.client(node).get("/healthz").status, 200);
    }

    postgres.thaw();
    for node in 0..3 {
        eventually("a node to be ready again", || {
            (nodes.client(node).get("/readyz").status == 200).then_some(())
        });
    }
}
