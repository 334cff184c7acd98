//! Deletes snapshots and segments that no time of the retention needs.

use super::catalog::{names, order_of, snapshots};
use super::format::{SnapshotInfo, snapshot_path};
use super::target::Target;
use crate::model::time::Time;

/// Keeps everything that a restore to a time after `cutoff` needs. Returns the number of deleted objects.
pub async fn apply(target: &Target, cutoff: Time) -> anyhow::Result<u64> {
    let mut all: Vec<SnapshotInfo> = Vec::new();
    let generations = names(target).await?;
    for generation in &generations {
        all.extend(snapshots(target, generation).await?);
    }
    // The base is the newest snapshot from before the cutoff. Everything older is unneeded.
    let Some(base) = all
        .iter()
        .filter(|info| info.time() <= cutoff)
        .max_by_key(|info| info.time_micros)
    else {
        return Ok(0);
    };
    let mut deleted = 0;
    for generation in generations.iter().filter(|name| **name <= base.generation) {
        let is_old = |path: &str| *generation < base.generation || is_before(path, base, &all);
        let paths = target.list(generation).await?;
        // The document of a snapshot is deleted first: a snapshot without it does not exist.
        let (documents, others): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.ends_with(".json"));
        for path in documents.into_iter().chain(others) {
            if is_old(path) {
                target.delete(path).await?;
                deleted += 1;
            }
        }
    }
    Ok(deleted)
}

/// Whether an object of the generation of the base is older than the base.
fn is_before(path: &str, base: &SnapshotInfo, all: &[SnapshotInfo]) -> bool {
    if let Some(order) = order_of(path) {
        return order < base.first_segment;
    }
    let older = all
        .iter()
        .filter(|info| info.generation == base.generation && info.time_micros < base.time_micros);
    let stem = |info: &SnapshotInfo| snapshot_path(&info.generation, info.file.trim_end_matches("db.zst"));
    older.map(stem).any(|stem| path.starts_with(&stem))
}
