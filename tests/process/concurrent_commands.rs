//! Commands and a running server: a change takes effect with the next request.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::harness::{Folder, TOKEN};
use crate::process::{Process, eventually};

#[test]
fn second_server_on_the_same_folder_does_not_start() {
    let folder = Folder::new("second");
    let first = folder.start();

    let second = Process::spawn(&mut folder.serve()).wait();

    assert_eq!(second.code, Some(1), "{second:?}");
    assert_eq!(second.stdout, "");
    let path = folder.data().display().to_string();
    for expected in ["in use by another garth process", &path] {
        assert!(second.stderr.contains(expected), "{}", second.stderr);
    }
    first.client().create_vpc("still-here");

    assert_eq!(first.stop().code, Some(0));
    assert_eq!(folder.start().client().vpc_labels(), ["still-here"]);
}

#[test]
fn token_creation_and_revocation_take_effect_immediately() {
    let folder = Folder::new("tokens");
    let server = folder.start();
    for round in 0..50 {
        let (id, token) = folder.create_token("admin");
        let mut client = server.client_with(&token);
        assert_eq!(client.get("/v4/vpcs").status, 200, "round {round}: created");
        assert_eq!(client.get("/v4/vpcs").status, 200, "round {round}: cached");

        folder.run(&format!("token revoke {id}"));

        let refused = client.get("/v4/vpcs");
        assert_eq!(refused.status, 401, "round {round}: revoked");
        assert_eq!(refused.code(), "token_invalid");
        assert_eq!(client.post("/v4/vpcs", json!({})).status, 401);
    }
}

#[test]
fn expired_token_is_refused() {
    let folder = Folder::new("expiry");
    let server = folder.start();
    let (_, unused) = folder.create_token("admin --expiry 1s");
    let (_, short) = folder.create_token("admin --expiry 1s");
    let (_, long) = folder.create_token("admin --expiry 1h");
    let last = eventually("the token to expire", || {
        let reply = server.client_with(&short).get("/v4/vpcs");
        (reply.status != 200).then_some(reply)
    });
    assert_eq!((last.status, last.code().as_str()), (401, "token_invalid"));
    assert_eq!(server.client_with(&unused).get("/v4/vpcs").status, 401);
    assert_eq!(server.client_with(&long).get("/v4/vpcs").status, 200);
}

#[test]
fn grant_takes_effect_on_the_next_request() {
    let folder = Folder::new("grants");
    let server = folder.start();
    let core = server.client().create_vpc("core");
    let path = format!("/v4/vpcs/{core}");
    folder.run("user create --account 1 --username ada --email ada@example.com --restricted");
    let (_, token) = folder.create_token("ada");
    let mut ada = server.client_with(&token);
    let new = json!({"label": "by-ada", "region": "us-east"});

    assert_eq!(ada.post("/v4/vpcs", new.clone()).status, 403);
    folder.run("user grant ada --global add_vpcs");
    assert_eq!(ada.post("/v4/vpcs", new).status, 200);

    assert_eq!(ada.get(&path).status, 404);
    folder.run(&format!("user grant ada --vpc {core}=read_only"));
    assert_eq!(ada.get(&path).status, 200);
    assert_eq!(ada.delete(&path).status, 403);
    folder.run(&format!("user grant ada --vpc {core}=read_write"));
    assert_eq!(ada.delete(&path).status, 200);
}

#[test]
fn quota_takes_effect_on_the_next_request() {
    let folder = Folder::new("quota");
    let server = folder.start();
    let mut client = server.client();
    client.create_vpc("one");

    folder.run("account quota 1 --vpcs-per-region 1");
    let refused = client.post("/v4/vpcs", json!({"label": "two", "region": "us-east"}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "quota_exceeded"));
    let quotas = client.get("/v4/account/quotas").ok();
    assert_eq!(
        quotas["vpcs_per_region"],
        json!({"limit": 1, "used": {"us-east": 1}})
    );

    folder.run("account quota 1 --vpcs-per-region 2");
    client.create_vpc("two");
}

#[test]
fn event_stream_ends_when_its_token_is_revoked() {
    assert_ends_before_heartbeat(&Folder::new("stream"));
}

/// The path of a socket is limited to about a hundred characters; the path of a folder is not.
#[test]
fn event_stream_ends_on_revocation_with_a_long_data_path() {
    assert_ends_before_heartbeat(&Folder::with_data("deep", &"deep/".repeat(30)));
}

fn assert_ends_before_heartbeat(folder: &Folder) {
    let server = folder.start();
    let (id, token) = folder.create_token("admin");
    let (mut revoked, mut other) = (server.stream(&token), server.stream(TOKEN));

    folder.run(&format!("token revoke {id}"));

    while let Some(chunk) = revoked.next() {
        assert!(
            !chunk.contains("still here"),
            "the stream is open at the next heartbeat"
        );
    }
    server.client().create_vpc("news");
    let event = other.next().expect("other streams stay open");
    assert!(event.contains("vpc_create"), "{event}");
}

#[test]
fn commands_are_not_starved_by_a_busy_server() {
    let folder = Folder::new("busy");
    let server = folder.start();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (mut client, done) = (server.client(), &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let vpc = client.create_vpc(&format!("writer-{writer}"));
                    client.delete(&format!("/v4/vpcs/{vpc}")).ok();
                }
            });
        }
        let commands = scope.spawn(|| {
            for _ in 0..15 {
                let (id, token) = folder.create_token("admin");
                assert_eq!(server.client_with(&token).get("/v4/vpcs").status, 200);
                folder.run(&format!("token revoke {id}"));
                assert_eq!(server.client_with(&token).get("/v4/vpcs").status, 401);
            }
        });
        let result = commands.join();
        done.store(true, Ordering::Relaxed);
        result.expect("all commands succeed");
    });
}
