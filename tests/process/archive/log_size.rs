//! The write-ahead log of an archived store is overwritten from time to time, so that it does not grow without bound.

use std::collections::BTreeSet;
use std::io::Read;
use std::time::Duration;

use super::{Archived, under_load};
use crate::process::eventually;

/// The writer runs a checkpoint at 4,000 pages of 4 KiB. The last commit before it can be longer than the limit.
const MAX_LOG_BYTES: u64 = 20 * 1024 * 1024;
/// SQLite writes a new header whenever it begins to overwrite the log.
const HEADER_BYTES: usize = 32;
const RESTARTS: usize = 3;

#[test]
fn the_write_ahead_log_is_overwritten_under_load_and_nothing_is_lost() {
    let archived = Archived::new("log-size");
    let mut server = archived.start();
    let log = archived.folder.data().join("garth.db-wal");
    let (mut headers, mut largest) = (BTreeSet::new(), 0);
    let load = under_load(server.address, 4, 0, || {
        eventually("the log to be overwritten", || {
            largest = largest.max(std::fs::metadata(&log).expect("the log exists").len());
            assert!(largest <= MAX_LOG_BYTES, "the log has {largest} bytes");
            let mut header = [0; HEADER_BYTES];
            let mut file = std::fs::File::open(&log).expect("the log can be opened");
            file.read_exact(&mut header).expect("the log has a header");
            headers.insert(header);
            (headers.len() > RESTARTS).then_some(())
        });
        std::thread::sleep(Duration::from_millis(500));
    });
    println!("the largest log had {largest} bytes");
    let written = load.labels();
    archived.wait_until_archived();
    server.process.kill();
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");
    assert_eq!(
        archived.generations().len(),
        1,
        "the log was overwritten too early"
    );
    assert_eq!(archived.restore("restored", None), written);
}
