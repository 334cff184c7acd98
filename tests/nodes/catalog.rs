//! A change of a region or a plan appears on all nodes.

use std::time::{Duration, Instant};

use crate::harness::three_nodes;

/// A notification takes milliseconds. A node that missed it reads the regions again after two seconds.
const MAX_DELAY: Duration = Duration::from_secs(5);

#[test]
fn a_change_of_a_region_or_a_plan_appears_on_all_nodes() {
    let (_postgres, nodes) = three_nodes("catalog");
    for (command, path, status) in [
        ("region add is-rkv --country is", "/v4/regions/is-rkv", 200),
        (
            "plan add g1-small --memory 2048 --disk 51200 --vcpus 1",
            "/v4/linode/types/g1-small",
            200,
        ),
    ] {
        for node in 0..3 {
            assert_eq!(nodes.client(node).get(path).status, 404, "{path} on node {node}");
        }

        nodes.run(command);

        let changed = Instant::now();
        for node in 0..3 {
            while nodes.client(node).get(path).status != status {
                assert!(
                    changed.elapsed() < MAX_DELAY,
                    "node {node} has earlier regions or plans"
                );
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
