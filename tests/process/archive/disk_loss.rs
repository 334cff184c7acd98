//! The disk is lost under load: at most the acknowledged writes of the last second are lost.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Archived, now_micros, under_load};
use crate::expected_state::random_below;
use crate::harness::Server;

const WRITERS: usize = 4;
/// The promise of `docs/operating.md`.
const MAX_LOSS_MICROS: i64 = 1_000_000;

/// Kills the server under load and deletes its data folder. Returns the age of the oldest lost write in microseconds, and
/// the numbers of lost and acknowledged writes.
fn lose_disk(archived: &Archived, mut server: Server, seconds: u64) -> (i64, usize, usize) {
    let killed = Arc::new(Mutex::new(0));
    let time = killed.clone();
    let address = server.address;
    let load = under_load(address, WRITERS, 0, || {
        std::thread::sleep(Duration::from_millis(seconds * 1000 + random_below(500) as u64));
        *time.lock().expect("no panic") = now_micros();
        server.process.kill();
    });
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");
    let killed = *killed.lock().expect("no panic");
    let restored = archived.restore("restored", None);
    let writes = load.writes.into_inner().expect("no writer panics");
    let lost: Vec<i64> = writes
        .iter()
        .filter(|write| !restored.contains(&write.label))
        .map(|write| killed - write.acknowledged)
        .collect();
    (lost.iter().copied().max().unwrap_or(0), lost.len(), writes.len())
}

#[test]
fn the_loss_of_the_disk_under_load_loses_at_most_a_second() {
    let archived = Archived::new("disk-loss");
    let server = archived.start();
    let (oldest, lost, all) = lose_disk(&archived, server, 6);
    println!("lost {lost} of {all} acknowledged writes, the oldest {oldest} microseconds before the loss");
    assert!(all > 100, "only {all} writes");
    assert!(
        oldest <= MAX_LOSS_MICROS,
        "a write of {oldest} microseconds before is lost"
    );
}
