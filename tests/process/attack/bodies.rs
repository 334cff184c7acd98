//! Bodies that are much work to refuse: the writer is everybody's, so no request may keep it long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::bystander::{is_not_disturbed, token_of_another_account};
use crate::harness::Folder;

/// Between two requests: without it any request at all would take the processor away from others.
const PAUSE: Duration = Duration::from_millis(10);

#[test]
fn long_lists_of_wrong_values_do_not_stop_the_writes_of_others() {
    let folder = Folder::new("attack-bodies");
    let server = folder.start();
    let token = token_of_another_account(&folder);
    folder.run("user create --account 1 --username weak --email weak@example.com --restricted");
    let (_, weak) = folder.make_token("weak");
    // 80 KB of wrong keys, and as many as may be sent at all.
    let bodies = [40_000, 1_000].map(|keys| json!({"authorized_keys": vec![1; keys]}));

    let send = |stop: &AtomicBool| {
        let mut attacker = server.client_with(&weak);
        while !stop.load(Ordering::SeqCst) {
            for body in &bodies {
                let refused = attacker.try_send("PUT", "/v4/profile", Some(body));
                assert_eq!(refused.expect("it is answered").status, 400);
                std::thread::sleep(PAUSE);
            }
        }
    };
    // Two at once, so that one is always in the queue if it takes long.
    is_not_disturbed(&server, &token, |stop: &AtomicBool| {
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
fn an_answer_lists_a_hundred_errors_and_says_how_many_more_there_are() {
    let folder = Folder::new("attack-errors");
    let server = folder.start();
    let mut client = server.client();
    let body = json!({"authorized_keys": vec![1; 1_000]});

    let refused = client
        .try_send("PUT", "/v4/profile", Some(&body))
        .expect("it is answered");

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
            .expect("it is answered");
        assert_eq!((refused.status, refused.code().as_str()), (400, "json_too_many"));
        assert!(refused.text().contains(reason), "{}", refused.text());
    }
}
