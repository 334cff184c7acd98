//! A revocation on one node takes effect on all nodes with its response.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::connection::{number, text};
use crate::harness::three;

#[test]
fn a_revoked_token_is_invalid_on_all_nodes_immediately() {
    let (_postgres, nodes) = three("revoking");
    for round in 0..6 {
        let made = nodes.json("token create --user admin");
        let (id, token) = (number(&made["id"]), text(&made["token"]));
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
                                assert_eq!(status, 401, "round {round}: used after it was revoked");
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
                .map(|user| user.join().expect("no success after it"))
                .sum();
            assert!(used > 6, "the token was used before: {used}");
        });
    }
}

#[test]
fn a_stream_gets_the_events_of_all_nodes_and_ends_when_its_token_is_revoked() {
    let (_postgres, nodes) = three("streams");
    let made = nodes.json("token create --user admin");
    let (id, token) = (number(&made["id"]), text(&made["token"]));
    let mut stream = nodes.servers[2].stream(&token);
    for (node, label) in ["one", "two"].iter().enumerate() {
        nodes.client(node).create_vpc(label);
        let piece = stream.next().expect("the stream goes on");
        assert!(piece.contains("vpc_create") && piece.contains(label), "{piece}");
    }
    nodes.run(&format!("token revoke {id}"));
    while let Some(piece) = stream.next() {
        assert!(!piece.contains("still here"), "it lived to see a heartbeat");
    }
}
