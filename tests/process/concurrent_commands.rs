//! Commands beside a running server: what they change holds from the very next request on.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::harness::{Folder, TOKEN};
use crate::process::{Process, eventually};

#[test]
fn a_second_server_on_the_same_folder_is_refused_while_the_first_goes_on() {
    let folder = Folder::new("second");
    let first = folder.start();

    let second = Process::spawn(&mut folder.serve()).ended();

    assert_eq!(second.code, Some(1), "{second:?}");
    assert_eq!(second.stdout, "");
    let place = folder.data().display().to_string();
    for says in ["another garth serve", "already running", &place] {
        assert!(second.stderr.contains(says), "{}", second.stderr);
    }
    first.client().creates_vpc("still-here");

    assert_eq!(first.stop().code, Some(0));
    assert_eq!(folder.start().client().vpc_labels(), ["still-here"]);
}

#[test]
fn a_token_opens_and_closes_the_door_at_once_however_often() {
    let folder = Folder::new("tokens");
    let server = folder.start();
    for round in 0..50 {
        let (id, token) = folder.make_token("admin");
        let mut client = server.client_with(&token);
        assert_eq!(client.get("/v4/vpcs").status, 200, "round {round}: made");
        assert_eq!(client.get("/v4/vpcs").status, 200, "round {round}: remembered");

        folder.run(&format!("token revoke {id}"));

        let refused = client.get("/v4/vpcs");
        assert_eq!(refused.status, 401, "round {round}: revoked");
        assert_eq!(refused.code(), "token_invalid");
        assert_eq!(client.post("/v4/vpcs", json!({})).status, 401);
    }
}

#[test]
fn a_token_ends_when_its_time_is_over() {
    let folder = Folder::new("expiry");
    let server = folder.start();
    let (_, unused) = folder.make_token("admin --expiry 1s");
    let (_, short) = folder.make_token("admin --expiry 1s");
    let (_, long) = folder.make_token("admin --expiry 1h");
    let last = eventually("the token to expire", || {
        let reply = server.client_with(&short).get("/v4/vpcs");
        (reply.status != 200).then_some(reply)
    });
    assert_eq!((last.status, last.code().as_str()), (401, "token_invalid"));
    assert_eq!(server.client_with(&unused).get("/v4/vpcs").status, 401);
    assert_eq!(server.client_with(&long).get("/v4/vpcs").status, 200);
}

#[test]
fn a_grant_turns_403_into_200_on_the_next_request() {
    let folder = Folder::new("grants");
    let server = folder.start();
    let core = server.client().creates_vpc("core");
    let path = format!("/v4/vpcs/{core}");
    folder.run("user create --account 1 --username ada --email ada@example.com --restricted");
    let (_, token) = folder.make_token("ada");
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
fn a_quota_holds_from_the_next_request_on() {
    let folder = Folder::new("quota");
    let server = folder.start();
    let mut client = server.client();
    client.creates_vpc("one");

    folder.run("account quota 1 --vpcs-per-region 1");
    let refused = client.post("/v4/vpcs", json!({"label": "two", "region": "us-east"}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "quota_exceeded"));
    let told = client.get("/v4/account/quotas").ok();
    assert_eq!(
        told["vpcs_per_region"],
        json!({"limit": 1, "used": {"us-east": 1}})
    );

    folder.run("account quota 1 --vpcs-per-region 2");
    client.creates_vpc("two");
}

#[test]
fn an_open_stream_ends_as_soon_as_its_token_is_revoked() {
    ends_before_its_heartbeat(&Folder::new("stream"));
}

/// A path to a socket may not be longer than some hundred characters; one to a folder may.
#[test]
fn an_open_stream_ends_as_soon_also_where_the_store_is_deep_in_folders() {
    ends_before_its_heartbeat(&Folder::with_data("deep", &"deep/".repeat(30)));
}

fn ends_before_its_heartbeat(folder: &Folder) {
    let server = folder.start();
    let (id, token) = folder.make_token("admin");
    let (mut revoked, mut other) = (server.stream(&token), server.stream(TOKEN));

    folder.run(&format!("token revoke {id}"));

    while let Some(piece) = revoked.next() {
        assert!(!piece.contains("still here"), "it lived to see a heartbeat");
    }
    server.client().creates_vpc("news");
    let news = other.next().expect("other streams go on");
    assert!(news.contains("vpc_create"), "{news}");
}

#[test]
fn commands_get_their_turn_beside_a_server_that_writes_without_a_pause() {
    let folder = Folder::new("busy");
    let server = folder.start();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (mut client, done) = (server.client(), &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let vpc = client.creates_vpc(&format!("writer-{writer}"));
                    client.delete(&format!("/v4/vpcs/{vpc}")).ok();
                }
            });
        }
        let commands = scope.spawn(|| {
            for _ in 0..15 {
                let (id, token) = folder.make_token("admin");
                assert_eq!(server.client_with(&token).get("/v4/vpcs").status, 200);
                folder.run(&format!("token revoke {id}"));
                assert_eq!(server.client_with(&token).get("/v4/vpcs").status, 401);
            }
        });
        let ended = commands.join();
        done.store(true, Ordering::Relaxed);
        ended.expect("every command had its turn");
    });
}
