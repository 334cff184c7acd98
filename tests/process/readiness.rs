//! The checks of `/readyz`: writer, flush and disk. `tests/nodes` tests the check of the database.

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use rusqlite::Connection as Store;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fsync::Disk;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::eventually;

/// The documented limit is one second. A busy test machine may add one.
const MAX_RESPONSE_TIME: Duration = Duration::from_secs(2);

/// Whether a server is ready, and its checks.
fn checks(server: &Server) -> (bool, Value) {
    let started = Instant::now();
    let reply = server.client().get("/readyz");
    let took = started.elapsed();
    assert!(took < MAX_RESPONSE_TIME, "/readyz took {took:?}");
    let mut report = reply.json();
    let status = match reply.status {
        200 => "ok",
        503 => "unavailable",
        other => panic!("{other}: {report}"),
    };
    assert_eq!(report["status"], status, "{report}");
    let started = Instant::now();
    assert_eq!(server.client().get("/healthz").json(), json!({"status": "ok"}));
    assert!(started.elapsed() < MAX_RESPONSE_TIME);
    (reply.status == 200, report["checks"].take())
}

/// Waits until these checks have the expected results.
fn wait_for_checks(server: &Server, expected: &[(&str, &str)]) -> Value {
    let ready = expected.iter().all(|(_, outcome)| *outcome == "ok");
    eventually(&format!("{expected:?}"), || {
        let (is_ready, checks) = checks(server);
        let shown = expected.iter().all(|(check, outcome)| checks[check] == *outcome);
        (shown && is_ready == ready).then_some(checks)
    })
}

#[test]
fn systemd_is_notified_when_the_server_accepts_connections_and_when_it_stops() {
    let folder = Folder::new("ready-systemd");
    let path = folder.path("notify");
    let systemd = UnixDatagram::bind(&path).expect("a socket");
    systemd
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a socket has a timeout");
    let receive = || {
        let mut message = [0; 64];
        let length = systemd.recv(&mut message).expect("a message");
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    let server = Server::start(folder.serve().env("NOTIFY_SOCKET", &path));
    assert_eq!(receive().trim(), "READY=1");
    assert_eq!(server.client().get("/healthz").status, 200);
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(receive().trim(), "STOPPING=1");
}

#[test]
fn stalled_flush_makes_the_server_not_ready() {
    let folder = Folder::new("ready-flush");
    let disk = Disk::new(&folder);
    let server = disk.start();
    server.client().create_vpc("before");
    let all = ["server", "database", "writer", "flush", "disk"].map(|check| (check, "ok"));
    wait_for_checks(&server, &all);

    let hold = disk.inject("hold");
    std::thread::scope(|scope| {
        scope.spawn(|| server.client().create_vpc("held-up"));
        let checks = wait_for_checks(&server, &[("flush", "stalled"), ("writer", "stalled")]);
        assert_eq!(checks["database"], "ok", "reads still work: {checks}");
        std::fs::remove_file(&hold).expect("the fault can be removed");
    });
    wait_for_checks(&server, &all);
}

#[test]
fn stalled_writer_makes_the_server_not_ready() {
    let folder = Folder::new("ready-writer");
    let server = folder.start();
    let other = Store::open(folder.data().join("garth.db")).expect("the store exists");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");

    let checks = wait_for_checks(&server, &[("writer", "stalled")]);
    assert_eq!(
        (&checks["flush"], &checks["database"]),
        (&json!("ok"), &json!("ok"))
    );

    wait_for_log_line(
        &server,
        "WARN",
        &["readiness check failed", "check=\"writer\"", "stalled"],
    );
    other.execute_batch("ROLLBACK").expect("the lock can be released");
    wait_for_checks(&server, &[("writer", "ok")]);
    wait_for_log_line(
        &server,
        "INFO",
        &["readiness check recovered", "check=\"writer\""],
    );
    let log = server.process.stderr();
    assert!(!log.contains("seconds=0"), "{log}");
}

/// Waits for a log line with this level and all of these words. There must be exactly one.
fn wait_for_log_line(server: &Server, level: &str, words: &[&str]) {
    eventually(&format!("{words:?} in the log"), || {
        let log = server.process.stderr();
        let matches = |line: &&str| line.contains(level) && words.iter().all(|word| line.contains(word));
        let found = log.lines().filter(matches).count();
        assert!(found <= 1, "{log}");
        (found == 1).then_some(())
    });
}

#[test]
fn low_disk_space_makes_the_server_not_ready() {
    let folder = Folder::new("ready-disk");
    let mut serve = folder.serve();
    serve.args(["--min-free-bytes", "1000000000000000"]);
    let server = Server::start_with_metrics(&mut serve);

    let checks = wait_for_checks(&server, &[("disk", "low_space")]);

    assert_eq!(
        (&checks["writer"], &checks["flush"]),
        (&json!("ok"), &json!("ok"))
    );
    wait_for_log_line(
        &server,
        "WARN",
        &["readiness check failed", "check=\"disk\"", "low_space"],
    );
    eventually("the metrics of the checks", || {
        let page = Client::new(server.metrics_address(), TOKEN)
            .get("/metrics")
            .text()
            .to_owned();
        let shows = |line: &str| page.lines().any(|found| found.starts_with(line));
        let all = [
            "garth_ready{check=\"disk\"} 0",
            "garth_ready{check=\"writer\"} 1",
            "garth_ready{check=\"flush\"} 1",
            "garth_ready{check=\"database\"} 1",
            "garth_disk_free_bytes{folder=\"data\"} ",
            "garth_disk_free_bytes{folder=\"spool\"} ",
            "garth_store_writer_wait_seconds_count ",
            "garth_store_flush_seconds_count ",
        ];
        all.into_iter().all(shows).then_some(())
    });
}

#[test]
fn full_disk_returns_503_and_writes_recover() {
    let folder = Folder::new("full");
    let disk = Disk::new(&folder);
    let server = disk.start();
    server.client().create_vpc("before");

    let full = disk.inject("full");
    for number in 0..5 {
        let body = json!({"label": format!("refused-{number}"), "region": "us-east"});
        let refused = server.client().post("/v4/vpcs", body);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (503, "store_unavailable")
        );
        assert!(refused.header("retry-after").is_some());
        assert_eq!(server.client().vpc_labels(), ["before"], "reads still work");
    }

    std::fs::remove_file(full).expect("the fault can be removed");
    server.client().create_vpc("after");
    assert_eq!(server.client().vpc_labels(), ["before", "after"]);
    assert_eq!(server.stop().code, Some(0));
}
