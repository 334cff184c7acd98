//! Bytes of attachments that are not those that were uploaded: never served as if they were, and found.

use std::path::PathBuf;

use rusqlite::Connection as Store;

use crate::client::Client;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::eventually;
use crate::settings::free_address;
use crate::uploads::files_of;

const LARGE: usize = 3 * 1024 * 1024;

struct Watched {
    server: Server,
    metrics: Client,
}

impl Watched {
    fn start(folder: &Folder) -> Self {
        let address = free_address();
        let mut serve = folder.serve();
        // Bytes in a bucket cannot be flipped from here.
        serve.args(["--metrics-listen", &address.to_string()]);
        Self {
            server: Server::start(&mut serve),
            metrics: Client::new(address, TOKEN),
        }
    }

    /// The value of a metric, if there is one.
    fn metric(&mut self, name: &str) -> Option<f64> {
        let page = self.metrics.get("/metrics").text().to_owned();
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.and_then(|value| value.parse().ok())
    }
}

/// The one file that is kept.
fn kept_file(folder: &Folder) -> PathBuf {
    let names = folder.kept().names();
    assert_eq!(names.len(), 1, "{names:?}");
    folder
        .data()
        .join("attachments")
        .join(names.first().expect("one file"))
}

/// Changes one bit in the middle of a file.
fn flip_a_bit(path: &PathBuf) {
    let mut bytes = std::fs::read(path).expect("the file is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).expect("it can be written");
}

/// Whether attachments are in a folder that a test can reach into.
fn is_local() -> bool {
    std::env::var_os("GARTH_TEST_ATTACHMENTS").is_none()
}

#[test]
fn a_small_file_that_was_damaged_is_refused() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("damaged-small");
    let mut watched = Watched::start(&folder);
    let mut client = watched.server.client();
    let ticket = client.opens_ticket();
    client
        .attaches(ticket, "a.txt", &[b'x'; 1000])
        .expect("it is answered")
        .ok();
    flip_a_bit(&kept_file(&folder));

    let refused = client.get(&format!("{}/1", files_of(ticket)));

    assert_eq!((refused.status, refused.code().as_str()), (503, "file_damaged"));
    assert_eq!(watched.metric("garth_attachments_damaged_total"), Some(1.0));
    let log = watched.server.stop().stderr;
    let line = log.lines().find(|line| line.contains("attachment damaged"));
    let line = line.unwrap_or_else(|| panic!("no line in the log: {log}"));
    assert!(line.contains("ERROR") && line.contains("attachment=1"), "{line}");
}

#[test]
fn the_transfer_of_a_large_file_that_was_damaged_does_not_complete() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("damaged-large");
    let mut watched = Watched::start(&folder);
    let mut client = watched.server.client();
    let ticket = client.opens_ticket();
    client
        .attaches(ticket, "a.txt", &vec![b'x'; LARGE])
        .expect("it is answered")
        .ok();
    let path = format!("{}/1", files_of(ticket));
    assert_eq!(client.get(&path).body.len(), LARGE, "a good file arrives whole");
    let file = kept_file(&folder);
    flip_a_bit(&file);

    let cut = watched.server.client().try_send("GET", &path, None);

    assert!(
        cut.is_err(),
        "{} bytes were served",
        cut.map_or(0, |reply| reply.body.len())
    );
    assert_eq!(watched.metric("garth_attachments_damaged_total"), Some(1.0));

    // A file that lost its end, or has more than it had.
    std::fs::write(&file, vec![b'x'; LARGE - 1]).expect("it can be written");
    assert!(watched.server.client().try_send("GET", &path, None).is_err());
    std::fs::write(&file, vec![b'x'; LARGE + 1]).expect("it can be written");
    assert!(watched.server.client().try_send("GET", &path, None).is_err());
    assert_eq!(watched.metric("garth_attachments_damaged_total"), Some(3.0));
}

#[test]
fn the_scrub_finds_damaged_and_missing_files_without_a_download() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("scrubbed");
    let server = folder.start();
    let mut client = server.client();
    let ticket = client.opens_ticket();
    client
        .attaches(ticket, "a.txt", b"first")
        .expect("it is answered")
        .ok();
    let damaged = kept_file(&folder);
    client
        .attaches(ticket, "b.txt", b"second")
        .expect("it is answered")
        .ok();
    let mut kept = folder.kept().names();
    kept.remove(
        &damaged
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned(),
    );
    let missing = damaged.with_file_name(kept.first().expect("the second"));
    client
        .attaches(ticket, "c.txt", b"third")
        .expect("it is answered")
        .ok();
    assert_eq!(server.stop().code, Some(0));
    flip_a_bit(&damaged);
    std::fs::rename(&missing, folder.path("elsewhere")).expect("it can be moved");
    never_verified(&folder);

    let mut watched = Watched::start(&folder);

    eventually("all files to be read", || {
        (watched.metric("garth_attachments_scrubbed_total") == Some(3.0)).then_some(())
    });
    eventually("the damage to be counted", || {
        (watched.metric("garth_attachments_damaged") == Some(2.0)).then_some(())
    });
    let log = watched.server.stop().stderr;
    assert!(
        log.contains("attachment=1") && log.contains("attachment=2"),
        "{log}"
    );

    // Both are as they were again, and the third is not read before its time.
    flip_a_bit(&damaged);
    std::fs::rename(folder.path("elsewhere"), &missing).expect("it can be moved back");
    long_ago_if_damaged(&folder);
    let mut watched = Watched::start(&folder);
    eventually("the damage to be gone", || {
        (watched.metric("garth_attachments_damaged") == Some(0.0)).then_some(())
    });
    assert_eq!(watched.metric("garth_attachments_scrubbed_total"), Some(2.0));
}

fn never_verified(folder: &Folder) {
    in_store(folder, "UPDATE attachment_check SET verified = 0");
}

fn long_ago_if_damaged(folder: &Folder) {
    in_store(
        folder,
        "UPDATE attachment_check SET verified = verified - 90000000000 WHERE damaged = 1",
    );
}

/// Changes rows behind the server's back.
pub fn in_store(folder: &Folder, sql: &str) {
    let store = Store::open(folder.data().join("garth.db")).expect("the store is there");
    store.execute(sql, ()).expect("the statement is good");
}
