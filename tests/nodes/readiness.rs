//! A database that hangs: nodes detect it soon and keep answering.

use std::time::{Duration, Instant};

use crate::harness::three;
use crate::process::eventually;

#[test]
fn a_frozen_database_makes_nodes_not_ready_before_any_statement_times_out() {
    let (postgres, nodes) = three("frozen");
    assert_eq!(nodes.client(0).get("/readyz").status, 200);

    postgres.freeze();
    let frozen = Instant::now();
    for node in 0..3 {
        let reply = eventually("a node to be not ready", || {
            let asked = Instant::now();
            let reply = nodes.client(node).get("/readyz");
            assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
            (reply.status == 503).then_some(reply)
        });
        // The promise is two seconds; allow more on a machine that runs other tests.
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
