//! A change of the brand appears on all nodes.

use std::time::{Duration, Instant};

use crate::harness::three_nodes;

/// A notification takes milliseconds. A node that missed it reads the brand again after two seconds.
const MAX_DELAY: Duration = Duration::from_secs(5);

#[test]
fn a_change_of_the_brand_appears_on_all_nodes() {
    let (_postgres, nodes) = three_nodes("branding");
    for name in ["Harbor", "Quay"] {
        for node in 0..3 {
            assert!(!nodes.client(node).get("/login").text().contains(name));
        }

        nodes.run(&format!("branding set --name {name}"));

        let changed = Instant::now();
        for node in 0..3 {
            while !nodes.client(node).get("/login").text().contains(name) {
                assert!(
                    changed.elapsed() < MAX_DELAY,
                    "node {node} shows an earlier brand"
                );
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
