//! Bodies that are expensive to validate: all accounts share the writer, so no request may block it for long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::bystander::{assert_undisturbed, token_of_another_account};
use crate::harness::Folder;

/// Pause between two requests. Without it, any request would use up the CPU.
const PAUSE: Duration = Duration::from_millis(10);

#[test]
fn long_invalid_lists_do_not_block_other_writes() {
    let folder = Folder::new("attack-bodies");
    let server = folder.start();
    let token = token_of_another_account(&folder);
    folder.run("user create --account 1 --username weak --email weak@example.com --restricted");
    let (_, weak) = folder.create_token("weak");
    // 80 KB of invalid keys, and the maximum number of items.
    let bodies = [40_000, 1_000].map(|keys| json!({"authorized_keys": vec![1; keys]}));

    let send = |stop: &AtomicBool| {
        let mut attacker = server.client_with(&weak);
        while !stop.load(Ordering::SeqCst) {
            for body in &bodies {
                let refused = attacker.try_send("PUT", "/v4/profile", Some(body));
                assert_eq!(refused.expect("the server responds").status, 400);
                std::thread::sleep(PAUSE);
            }
        }
    };
    // Two threads, so that one request is always queued if they are slow.
    assert_undisturbed(&server, &token, |stop: &AtomicBool| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| send(stop));
            }
        });
    });
    let stopped = server.stop();
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
}

#[test]
fn response_lists_100_errors_and_the_number_of_omitted_ones() {
    let folder = Folder::new("attack-errors");
    let server = folder.start();
    let mut client = server.client();
    let body = json!({"authorized_keys": vec![1; 1_000]});

    let refused = client
        .try_send("PUT", "/v4/profile", Some(&body))
        .expect("the server responds");

    let Value::Array(errors) = refused.json()["errors"].take() else {
        panic!("no list of errors: {refused:?}")
    };
    assert_eq!(errors.len(), 101);
    assert_eq!(errors[99]["field"], "authorized_keys[99]");
    assert_eq!(
        errors[100],
        json!({"reason": "900 more errors are not listed", "code": "errors_omitted"})
    );
    for (body, reason) in [
        (json!({"authorized_keys": vec![1; 1_001]}), "1000 items"),
        (json!({"x": vec![vec![1; 999]; 11]}), "10000 values"),
    ] {
        let refused = client
            .try_send("PUT", "/v4/profile", Some(&body))
            .expect("the server responds");
        assert_eq!((refused.status, refused.code().as_str()), (400, "json_too_many"));
        assert!(refused.text().contains(reason), "{}", refused.text());
    }
}
