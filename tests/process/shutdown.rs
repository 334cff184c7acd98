//! Asked to stop, the server takes on nothing new, finishes what it has begun, and says so with a
//! good exit code.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::eventually;

#[test]
fn sigterm_finishes_what_runs_and_then_stops() {
    finishes_what_runs_after("TERM");
}

#[test]
fn sigint_finishes_what_runs_and_then_stops() {
    finishes_what_runs_after("INT");
}

fn finishes_what_runs_after(signal: &str) {
    let folder = Folder::new(signal);
    let server = folder.start();
    let mut idle = Connection::open(server.address).expect("the server accepts connections");
    idle.send(server.client().head("GET", "/v4/vpcs", ""))
        .expect("a request can be sent");
    assert_eq!(idle.reply_to("GET").expect("it is answered").status, 200);
    let mut events = server.stream(TOKEN);
    let (mut slow, rest) = begin_to_create(&server, "slowly-made");

    server.process.signal(signal);

    eventually("connections to be refused", || {
        TcpStream::connect(server.address).is_err().then_some(())
    });
    assert!(idle.is_closed());
    while events.next().is_some() {}
    // A server that did not wait for the slow request would be gone by now.
    std::thread::sleep(Duration::from_millis(500));
    slow.send(rest).expect("the slow request goes on");
    let made = slow.reply_to("POST").expect("what was begun is answered");
    assert_eq!(made.ok()["label"], "slowly-made");
    let ended = server.process.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");

    let server = folder.start();
    assert_eq!(server.client().vpc_labels(), ["slowly-made"]);
}

/// Sends half of a request that creates a VPC; the connection, and the other half.
///
/// The server says `100 Continue` once it waits for the body: from then on the request runs.
fn begin_to_create(server: &Server, label: &str) -> (Connection, String) {
    let body = format!(r#"{{"label": "{label}", "region": "us-east"}}"#);
    let extra = format!("content-length: {}\r\nexpect: 100-continue\r\n", body.len());
    let head = server.client().head("POST", "/v4/vpcs", &extra);
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection.send(head).expect("a head can be sent");
    assert_eq!(connection.head().expect("it asks for the body").status, 100);
    let (half, rest) = body.split_at(body.len() / 2);
    connection.send(half).expect("half a body can be sent");
    (connection, rest.to_owned())
}

/// Whoever starts a server may change their mind as soon as it says that it runs.
#[test]
fn a_server_can_be_stopped_from_the_moment_it_says_that_it_listens() {
    let folder = Folder::new("early");
    for _ in 0..20 {
        let ended = folder.start().stop();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}

/// Streams, idle connections and half a head are nothing to wait for.
#[test]
fn nobody_who_only_listens_keeps_the_server_from_stopping() {
    let folder = Folder::new("idle");
    let server = folder.start();
    let mut streams: Vec<_> = (0..20).map(|_| server.stream(TOKEN)).collect();
    let mut clients: Vec<Client> = (0..20).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/v4/vpcs").status, 200);
    }

    let ended = server.stop();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.stderr.contains("requests aborted"), "{}", ended.stderr);
    for stream in &mut streams {
        while stream.next().is_some() {}
    }
}

#[test]
fn after_a_stop_the_whole_store_is_in_its_one_file_and_nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("one-file");
    let server = folder.start();
    server.client().creates_vpc("kept");
    assert_eq!(server.stop().code, Some(0));

    let log = std::fs::metadata(folder.data().join("garth.db-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0, "the log is empty or gone");
    let file = folder.data().join("garth.db");
    let mode = std::fs::metadata(&file)
        .expect("the store is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let copy = Folder::new("one-file-copied");
    std::fs::create_dir_all(copy.data()).expect("a folder");
    std::fs::copy(&file, copy.data().join("garth.db")).expect("a copy");
    assert_eq!(copy.start().client().vpc_labels(), ["kept"]);
}

#[test]
fn a_restart_finishes_what_instances_had_under_way() {
    let folder = Folder::new("under-way");
    let slow = || {
        let mut serve = folder.serve();
        serve.env("GARTH_COMPUTE_SETTLE_MS", "2000");
        serve
    };
    let mut server = Server::start(&mut slow());
    let body =
        json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
    let made = server.client().post("/v4/linode/instances", body);
    assert_eq!(made.ok()["status"], "provisioning");
    server.process.kill();

    let server = Server::start(&mut slow());
    eventually("the instance to run", || {
        let instance = server.client().get("/v4/linode/instances/1").ok();
        (instance["status"] == "running").then_some(())
    });
    let events = server.client().get("/v4/account/events?after=0").ok();
    let told = events["data"].as_array().expect("a list").iter();
    let told: Vec<_> = told
        .map(|event| (event["action"].clone(), event["status"].clone()))
        .collect();
    let finished = |action: &str| (action.into(), "finished".into());
    assert_eq!(told, [finished("linode_create"), finished("linode_boot")]);
}
