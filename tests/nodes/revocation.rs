//! When the response to a revocation is sent, the revocation is in effect on all nodes.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::connection::{number, text};
use crate::harness::three_nodes;

#[test]
fn a_revoked_token_is_invalid_on_all_nodes_immediately() {
    let (_postgres, nodes) = three_nodes("revoking");
    for round in 0..6 {
        let created = nodes.json("token create --user admin");
        let (id, token) = (number(&created["id"]), text(&created["token"]));
        let revoked = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let users: Vec<_> = (0..6)
                .map(|user| {
                    let (mut client, revoked) = (nodes.servers[user % 3].client_with(&token), &revoked);
                    scope.spawn(move || {
                        let (mut before, mut after) = (0, 0);
                        // Each client continues for a while after the revocation.
                        while after < 30 {
                            let is_revoked = revoked.load(Ordering::SeqCst);
                            let label = format!("u{user}-{round}-{before}-{after}");
                            let status = match user % 2 {
                                0 => client.get("/v4/vpcs?page_size=1").status,
                                _ => {
                                    client
                                        .post("/v4/vpcs", json!({"label": label, "region": "us-east"}))
                                        .status
                                }
                            };
                            if is_revoked {
                                assert_eq!(status, 401, "round {round}: used after its revocation");
                                after += 1;
                            } else {
                                assert!([200, 400, 401].contains(&status), "{status}");
                                before += usize::from(status != 401);
                            }
                        }
                        before
                    })
                })
                .collect();
            std::thread::sleep(std::time::Duration::from_millis(300));
            nodes.run(&format!("token revoke {id}"));
            revoked.store(true, Ordering::SeqCst);
            let used: usize = users
                .into_iter()
                .map(|user| user.join().expect("no success after the revocation"))
                .sum();
            assert!(used > 6, "too few requests before the revocation: {used}");
        });
    }
}

#[test]
fn a_stream_gets_the_events_of_all_nodes_and_ends_when_its_token_is_revoked() {
    let (_postgres, nodes) = three_nodes("streams");
    let created = nodes.json("token create --user admin");
    let (id, token) = (number(&created["id"]), text(&created["token"]));
    let mut stream = nodes.servers[2].stream(&token);
    for (node, label) in ["one", "two"].iter().enumerate() {
        nodes.client(node).create_vpc(label);
        let chunk = stream.next().expect("the stream stays open");
        assert!(chunk.contains("vpc_create") && chunk.contains(label), "{chunk}");
    }
    nodes.run(&format!("token revoke {id}"));
    while let Some(chunk) = stream.next() {
        assert!(
            !chunk.contains("still here"),
            "the stream is open at the next heartbeat"
        );
    }
}
