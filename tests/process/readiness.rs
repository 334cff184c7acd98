//! What `/readyz` knows: the writer, the flush and the disk. The database of several nodes is in `tests/nodes`.

use std::time::{Duration, Instant};

use rusqlite::Connection as Store;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fsync::Disk;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::eventually;
use crate::settings::free_address;

/// The server promises a second; a machine that is busy with other tests may add one.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Whether a server is ready, and its checks.
fn checks(server: &Server) -> (bool, Value) {
    let asked = Instant::now();
    let reply = server.client().get("/readyz");
    let took = asked.elapsed();
    assert!(took < ANSWER_LIMIT, "/readyz took {took:?}");
    let mut report = reply.json();
    let word = match reply.status {
        200 => "ok",
        503 => "unavailable",
        other => panic!("{other}: {report}"),
    };
    assert_eq!(report["status"], word, "{report}");
    let asked = Instant::now();
    assert_eq!(server.client().get("/healthz").json(), json!({"status": "ok"}));
    assert!(asked.elapsed() < ANSWER_LIMIT);
    (reply.status == 200, report["checks"].take())
}

/// Waits until some checks have shown what is expected of them.
fn waits_for(server: &Server, expected: &[(&str, &str)]) -> Value {
    let ready = expected.iter().all(|(_, outcome)| *outcome == "ok");
    eventually(&format!("{expected:?}"), || {
        let (is_ready, checks) = checks(server);
        let shown = expected.iter().all(|(check, outcome)| checks[check] == *outcome);
        (shown && is_ready == ready).then_some(checks)
    })
}

#[test]
fn a_flush_that_stalls_makes_the_server_not_ready() {
    let folder = Folder::new("ready-flush");
    let disk = Disk::new(&folder);
    let server = disk.start();
    server.client().creates_vpc("before");
    let all = ["server", "database", "writer", "flush", "disk"].map(|check| (check, "ok"));
    waits_for(&server, &all);

    let hold = disk.order("hold");
    std::thread::scope(|scope| {
        scope.spawn(|| server.client().creates_vpc("held-up"));
        let checks = waits_for(&server, &[("flush", "stalled"), ("writer", "stalled")]);
        assert_eq!(checks["database"], "ok", "reads go on: {checks}");
        std::fs::remove_file(&hold).expect("an order can be taken back");
    });
    waits_for(&server, &all);
}

#[test]
fn a_writer_that_is_stuck_makes_the_server_not_ready() {
    let folder = Folder::new("ready-writer");
    let server = folder.start();
    let other = Store::open(folder.data().join("garth.db")).expect("the store is there");
    other
        .execute_batch("BEGIN IMMEDIATE")
        .expect("the lock can be had");

    let checks = waits_for(&server, &[("writer", "stalled")]);
    assert_eq!(
        (&checks["flush"], &checks["database"]),
        (&json!("ok"), &json!("ok"))
    );

    is_logged(
        &server,
        "WARN",
        &["readiness check failed", "check=\"writer\"", "stalled"],
    );
    other
        .execute_batch("ROLLBACK")
        .expect("the lock can be given back");
    waits_for(&server, &[("writer", "ok")]);
    is_logged(
        &server,
        "INFO",
        &["readiness check recovered", "check=\"writer\""],
    );
}

/// Waits for a line of a level with all of these words; there is exactly one.
fn is_logged(server: &Server, level: &str, words: &[&str]) {
    eventually(&format!("{words:?} in the log"), || {
        let log = server.process.logged();
        let is_it = |line: &&str| line.contains(level) && words.iter().all(|word| line.contains(word));
        let found = log.lines().filter(is_it).count();
        assert!(found <= 1, "{log}");
        (found == 1).then_some(())
    });
}

#[test]
fn a_disk_with_too_little_free_space_makes_the_server_not_ready() {
    let folder = Folder::new("ready-disk");
    let metrics = free_address();
    let mut serve = folder.serve();
    serve.args(["--min-free-bytes", "1000000000000000"]);
    let server = Server::start(serve.args(["--metrics-listen", &metrics.to_string()]));

    let checks = waits_for(&server, &[("disk", "low_space")]);

    assert_eq!(
        (&checks["writer"], &checks["flush"]),
        (&json!("ok"), &json!("ok"))
    );
    is_logged(
        &server,
        "WARN",
        &["readiness check failed", "check=\"disk\"", "low_space"],
    );
    eventually("the metrics to show it", || {
        let page = Client::new(metrics, TOKEN).get("/metrics").text().to_owned();
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
fn a_full_disk_refuses_writes_cleanly_and_they_work_again_afterwards() {
    let folder = Folder::new("full");
    let disk = Disk::new(&folder);
    let server = disk.start();
    server.client().creates_vpc("before");

    let full = disk.order("full");
    for number in 0..5 {
        let body = json!({"label": format!("refused-{number}"), "region": "us-east"});
        let refused = server.client().post("/v4/vpcs", body);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (503, "store_unavailable")
        );
        assert!(refused.header("retry-after").is_some());
        assert_eq!(server.client().vpc_labels(), ["before"], "reads go on");
    }

    std::fs::remove_file(full).expect("an order can be taken back");
    server.client().creates_vpc("after");
    assert_eq!(server.client().vpc_labels(), ["before", "after"]);
    assert_eq!(server.stop().code, Some(0));
}
