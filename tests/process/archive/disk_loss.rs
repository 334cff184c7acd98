//! The disk is lost under load: at most the acknowledged writes of the last second are lost.

use std::time::{Duration, Instant};

use super::{Archived, Load, now_micros, under_observed_load};
use crate::expected_state::random_below;

const WRITERS: usize = 4;
/// The promise of `docs/operating.md`.
const MAX_LOSS_MICROS: i64 = 1_000_000;

/// Watches the archive for some seconds. Returns how many microseconds it was behind the acknowledged writes at most. A
/// single kill can be just after an upload, so that it shows less than the disk could lose.
fn largest_lag(archived: &Archived, load: &Load, seconds: u64) -> i64 {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut largest = 0;
    while Instant::now() < end {
        let acknowledged = load.last_acknowledged();
        largest = largest.max(acknowledged - archived.archived_until());
        std::thread::sleep(Duration::from_millis(random_below(100) as u64));
    }
    largest
}

#[test]
fn the_loss_of_the_disk_under_load_loses_at_most_a_second() {
    let archived = Archived::new("disk-loss");
    let mut server = archived.start();
    let (mut lag, mut killed) = (0, 0);
    let load = under_observed_load(server.address, WRITERS, 0, |load| {
        lag = largest_lag(&archived, load, 6);
        killed = now_micros();
        server.process.kill();
    });
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");
    let restored = archived.restore("restored", None);
    let writes = load.writes.into_inner().expect("no writer panics");
    let lost: Vec<i64> = writes
        .iter()
        .filter(|write| !restored.contains(&write.label))
        .map(|write| killed - write.acknowledged)
        .collect();
    let (oldest, all) = (lost.iter().copied().max().unwrap_or(0), writes.len());
    println!(
        "lost {} of {all} acknowledged writes, the oldest {oldest} microseconds before the loss; the archive was at most \
         {lag} microseconds behind",
        lost.len()
    );
    assert!(all > 100, "only {all} writes");
    assert!(
        oldest <= MAX_LOSS_MICROS,
        "a write of {oldest} microseconds before is lost"
    );
    assert!(
        lag <= MAX_LOSS_MICROS,
        "the archive was {lag} microseconds behind"
    );
}
