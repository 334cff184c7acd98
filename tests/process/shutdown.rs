//! Shutdown: the server refuses new connections, completes running requests and exits with 0.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::eventually;

#[test]
fn sigterm_drains_requests_then_exits() {
    assert_drains_requests_on("TERM");
}

#[test]
fn sigint_drains_requests_then_exits() {
    assert_drains_requests_on("INT");
}

fn assert_drains_requests_on(signal: &str) {
    let folder = Folder::new(signal);
    let server = folder.start();
    let mut idle = Connection::open(server.address).expect("the server accepts connections");
    idle.send(server.client().head("GET", "/v4/vpcs", ""))
        .expect("the request can be sent");
    assert_eq!(idle.reply_to("GET").expect("the server responds").status, 200);
    let mut events = server.stream(TOKEN);
    let (mut slow, rest) = start_to_create(&server, "slow");

    server.process.signal(signal);

    eventually("connections to be refused", || {
        TcpStream::connect(server.address).is_err().then_some(())
    });
    assert!(idle.is_closed());
    while events.next().is_some() {}
    // If the server did not wait for the slow request, it would have exited by now.
    std::thread::sleep(Duration::from_millis(500));
    slow.send(rest).expect("the rest can be sent");
    let created = slow.reply_to("POST").expect("the request is completed");
    assert_eq!(created.ok()["label"], "slow");
    let output = server.process.wait();
    assert_eq!(output.code, Some(0), "{output:?}");

    let server = folder.start();
    assert_eq!(server.client().vpc_labels(), ["slow"]);
}

/// A load balancer must learn that the server stops before its connections are closed or refused.
#[test]
fn readyz_fails_as_soon_as_the_server_stops_on_open_and_new_connections() {
    let folder = Folder::new("ready-stopping");
    let server = folder.start();
    let mut open = server.client();
    assert_eq!(open.get("/readyz").status, 200);
    let (mut slow, rest) = start_to_create(&server, "slow");

    server.process.signal("TERM");

    let stopping = |client: &mut Client| {
        let reply = client.try_send("GET", "/readyz", None).expect("a response");
        (reply.status == 503).then(|| reply.json()["checks"]["server"].clone())
    };
    // The signal needs a moment. Each response on a new connection is either 200 or 503, and then 503.
    let reported = eventually("503 on a new connection", || stopping(&mut server.client()));
    assert_eq!(reported, "stopping");
    // The server had accepted the first connection before the signal, perhaps. It must also accept a second one.
    assert_eq!(stopping(&mut server.client()), Some("stopping".into()));
    assert_eq!(stopping(&mut open), Some("stopping".into()));
    slow.send(rest).expect("the rest can be sent");
    assert_eq!(
        slow.reply_to("POST").expect("the request is completed").status,
        200
    );
    assert_eq!(server.process.wait().code, Some(0));
}

/// Sends half of a request that creates a VPC; returns the connection and the other half.
///
/// After `100 Continue` the server waits for the body, so the request is running.
fn start_to_create(server: &Server, label: &str) -> (Connection, String) {
    let body = format!(r#"{{"label": "{label}", "region": "us-east"}}"#);
    let extra = format!("content-length: {}\r\nexpect: 100-continue\r\n", body.len());
    let head = server.client().head("POST", "/v4/vpcs", &extra);
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection.send(head).expect("the headers can be sent");
    assert_eq!(
        connection.head().expect("the server sends 100 Continue").status,
        100
    );
    let (half, rest) = body.split_at(body.len() / 2);
    connection.send(half).expect("half a body can be sent");
    (connection, rest.to_owned())
}

/// A signal can arrive immediately after the server prints its address.
#[test]
fn sigterm_works_as_soon_as_the_server_listens() {
    let folder = Folder::new("early");
    for _ in 0..20 {
        let output = folder.start().stop();
        assert_eq!(output.code, Some(0), "{output:?}");
    }
}

/// The server does not wait for event streams and idle connections.
#[test]
fn event_streams_do_not_delay_shutdown() {
    let folder = Folder::new("idle");
    let server = folder.start();
    let mut streams: Vec<_> = (0..20).map(|_| server.stream(TOKEN)).collect();
    let mut clients: Vec<Client> = (0..20).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/v4/vpcs").status, 200);
    }

    let output = server.stop();

    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.stderr.contains("requests aborted"), "{}", output.stderr);
    for stream in &mut streams {
        while stream.next().is_some() {}
    }
}

#[test]
fn stopped_store_is_one_file_readable_by_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("one-file");
    let server = folder.start();
    server.client().create_vpc("core");
    assert_eq!(server.stop().code, Some(0));

    let log = std::fs::metadata(folder.data().join("garth.db-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0, "the log is empty or deleted");
    let file = folder.data().join("garth.db");
    let mode = std::fs::metadata(&file)
        .expect("the store exists")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let copy = Folder::new("one-file-copied");
    std::fs::create_dir_all(copy.data()).expect("a folder");
    std::fs::copy(&file, copy.data().join("garth.db")).expect("a copy");
    assert_eq!(copy.start().client().vpc_labels(), ["core"]);
}

#[test]
fn restart_completes_pending_instance_jobs() {
    let folder = Folder::new("pending");
    let slow = || {
        let mut serve = folder.serve();
        serve.env("GARTH_COMPUTE_SETTLE_MS", "2000");
        serve
    };
    let mut server = Server::start(&mut slow());
    let body =
        json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "root_pass": "x"});
    let created = server.client().post("/v4/linode/instances", body);
    assert_eq!(created.ok()["status"], "provisioning");
    server.process.kill();

    let server = Server::start(&mut slow());
    eventually("the instance to run", || {
        let instance = server.client().get("/v4/linode/instances/1").ok();
        (instance["status"] == "running").then_some(())
    });
    let events = server.client().get("/v4/account/events?after=0").ok();
    let events = events["data"].as_array().expect("a list").iter();
    let events: Vec<_> = events
        .map(|event| (event["action"].clone(), event["status"].clone()))
        .collect();
    let finished = |action: &str| (action.into(), "finished".into());
    assert_eq!(events, [finished("linode_create"), finished("linode_boot")]);
}

/// A service manager holds the socket, so clients that connect during a restart wait for the next server.
#[test]
fn restarts_with_an_inherited_socket_refuse_no_connection() {
    let folder = Folder::new("inherited");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("the listener is bound");
    let start = || {
        let socket = OwnedFd::from(listener.try_clone().expect("the socket can be passed"));
        let mut serve = Command::new("sh");
        let script =
            "exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" serve --listen 127.0.0.1:1";
        serve
            .args(["-c", script, env!("CARGO_BIN_EXE_garth")])
            .stdin(Stdio::from(socket));
        serve
            .env("GARTH_DATA", folder.data())
            .env("GARTH_BOOTSTRAP_TOKEN", TOKEN);
        serve.env("GARTH_QUOTA_VPCS_PER_REGION", "1000000");
        Server::start(&mut serve)
    };
    let first = start();
    assert_eq!(first.address, address, "the setting listen has no effect");

    let is_done = AtomicBool::new(false);
    let server = std::thread::scope(|scope| {
        let request = || {
            let mut created = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                let label = format!("vpc-{:?}-{}", std::thread::current().id(), created.len());
                let label: String = label
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
                    .collect();
                let body = json!({"label": label, "region": "us-east"});
                let reply = Client::new(address, TOKEN).post("/v4/vpcs", body);
                assert_eq!(reply.status, 200, "{}", reply.text());
                created.push(label);
            }
            created
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(request)).collect();
        let mut server = first;
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(200));
            server.process.signal("TERM");
            assert_eq!(server.process.wait().code, Some(0));
            server = start();
        }
        is_done.store(true, Ordering::Relaxed);
        let mut created: Vec<_> = clients
            .into_iter()
            .flat_map(|client| client.join().expect("every request succeeds"))
            .collect();
        created.sort();
        assert!(created.len() > 50, "only {} requests", created.len());
        let mut stored = server.client().vpc_labels();
        stored.sort();
        assert_eq!(stored, created, "each request is executed once");
        server
    });
    server.stop();
}
