//! Damaged attachments: downloads fail, and the scrub finds them.

use std::path::PathBuf;

use rusqlite::Connection as Store;

use crate::client::Client;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::eventually;
use crate::uploads::files_of;

const LARGE: usize = 3 * 1024 * 1024;

struct MeasuredServer {
    server: Server,
    metrics: Client,
}

impl MeasuredServer {
    fn start(folder: &Folder) -> Self {
        let server = Server::start_with_metrics(&mut folder.serve());
        let metrics = Client::new(server.metrics_address(), TOKEN);
        Self { server, metrics }
    }

    /// The value of a metric, if it exists.
    fn metric(&mut self, name: &str) -> Option<f64> {
        let page = self.metrics.get("/metrics").text().to_owned();
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.and_then(|value| value.parse().ok())
    }
}

/// The only stored file.
pub fn stored_file(folder: &Folder) -> PathBuf {
    let names = folder.stored_files().names();
    assert_eq!(names.len(), 1, "{names:?}");
    folder
        .data()
        .join("attachments")
        .join(names.first().expect("one file"))
}

/// Changes one bit in the middle of a file.
pub fn flip_a_bit(path: &PathBuf) {
    let mut bytes = std::fs::read(path).expect("the file exists");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).expect("the file can be written");
}

/// Whether attachments are in a local folder.
pub fn is_local() -> bool {
    std::env::var_os("GARTH_TEST_ATTACHMENTS").is_none()
}

#[test]
fn download_of_a_small_damaged_file_returns_503() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("damaged-small");
    let mut measured = MeasuredServer::start(&folder);
    let mut client = measured.server.client();
    let ticket = client.open_ticket();
    client
        .upload(ticket, "a.txt", &[b'x'; 1000])
        .expect("the server responds")
        .ok();
    flip_a_bit(&stored_file(&folder));

    let refused = client.get(&format!("{}/1", files_of(ticket)));

    assert_eq!((refused.status, refused.code().as_str()), (503, "file_damaged"));
    assert_eq!(measured.metric("garth_attachments_damaged_total"), Some(1.0));
    let log = measured.server.stop().stderr;
    let line = log.lines().find(|line| line.contains("attachment damaged"));
    let line = line.unwrap_or_else(|| panic!("no line in the log: {log}"));
    assert!(line.contains("ERROR") && line.contains("attachment=1"), "{line}");
}

#[test]
fn download_of_a_large_damaged_file_is_cut_off() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("damaged-large");
    let mut measured = MeasuredServer::start(&folder);
    let mut client = measured.server.client();
    let ticket = client.open_ticket();
    client
        .upload(ticket, "a.txt", &vec![b'x'; LARGE])
        .expect("the server responds")
        .ok();
    let path = format!("{}/1", files_of(ticket));
    assert_eq!(client.get(&path).body.len(), LARGE, "an intact file is complete");
    let file = stored_file(&folder);
    flip_a_bit(&file);

    let cut = measured.server.client().try_send("GET", &path, None);

    assert!(
        cut.is_err(),
        "{} bytes were served",
        cut.map_or(0, |reply| reply.body.len())
    );
    assert_eq!(measured.metric("garth_attachments_damaged_total"), Some(1.0));

    // A file that is too short or too long.
    std::fs::write(&file, vec![b'x'; LARGE - 1]).expect("the file can be written");
    assert!(measured.server.client().try_send("GET", &path, None).is_err());
    std::fs::write(&file, vec![b'x'; LARGE + 1]).expect("the file can be written");
    assert!(measured.server.client().try_send("GET", &path, None).is_err());
    assert_eq!(measured.metric("garth_attachments_damaged_total"), Some(3.0));
}

#[test]
fn scrub_finds_damaged_and_missing_files() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("scrubbed");
    let server = folder.start();
    let mut client = server.client();
    let ticket = client.open_ticket();
    client
        .upload(ticket, "a.txt", b"first")
        .expect("the server responds")
        .ok();
    let damaged = stored_file(&folder);
    client
        .upload(ticket, "b.txt", b"second")
        .expect("the server responds")
        .ok();
    let mut stored = folder.stored_files().names();
    stored.remove(
        &damaged
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned(),
    );
    let missing = damaged.with_file_name(stored.first().expect("a second file"));
    client
        .upload(ticket, "c.txt", b"third")
        .expect("the server responds")
        .ok();
    assert_eq!(server.stop().code, Some(0));
    flip_a_bit(&damaged);
    std::fs::rename(&missing, folder.path("elsewhere")).expect("the file can be moved");
    set_never_verified(&folder);

    let mut measured = MeasuredServer::start(&folder);

    eventually("all files to be read", || {
        (measured.metric("garth_attachments_scrubbed_total") == Some(3.0)).then_some(())
    });
    eventually("the damage to be counted", || {
        (measured.metric("garth_attachments_damaged") == Some(2.0)).then_some(())
    });
    let log = measured.server.stop().stderr;
    assert!(
        log.contains("attachment=1") && log.contains("attachment=2"),
        "{log}"
    );

    // Both files are restored. The third file is not due for another check.
    flip_a_bit(&damaged);
    std::fs::rename(folder.path("elsewhere"), &missing).expect("the file can be moved back");
    make_damaged_files_due(&folder);
    let mut measured = MeasuredServer::start(&folder);
    eventually("the damage to be cleared", || {
        (measured.metric("garth_attachments_damaged") == Some(0.0)).then_some(())
    });
    assert_eq!(measured.metric("garth_attachments_scrubbed_total"), Some(2.0));
}

fn set_never_verified(folder: &Folder) {
    execute_sql(folder, "UPDATE attachment_check SET verified = 0");
}

fn make_damaged_files_due(folder: &Folder) {
    execute_sql(
        folder,
        "UPDATE attachment_check SET verified = verified - 90000000000 WHERE damaged = 1",
    );
}

/// Changes rows directly in the database.
pub fn execute_sql(folder: &Folder, sql: &str) {
    let store = Store::open(folder.data().join("garth.db")).expect("the store exists");
    store.execute(sql, ()).expect("the statement is valid");
}
