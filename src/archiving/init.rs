//! Compares the local queue with the archive when a server starts.

use super::catalog::{order_of, snapshots};
use super::format::SnapshotInfo;
use super::queue::Queue;
use super::target::Target;

/// The part of the current generation that the archive has.
pub struct Found {
    /// The number of the last segment in the archive.
    pub shipped: u64,
    pub last_snapshot: Option<SnapshotInfo>,
    /// Whether a segment is neither in the archive nor in the queue.
    pub has_gap: bool,
}

pub async fn examine(target: &Target, queue: &Queue) -> anyhow::Result<Found> {
    let (state, _) = queue.state();
    let listed = target.list(&format!("{}/segments", state.generation)).await?;
    let shipped = listed.iter().filter_map(|path| order_of(path)).max().unwrap_or(0);
    let queued: Vec<u64> = queue
        .pending()?
        .iter()
        .filter(|pending| pending.generation == state.generation)
        .map(|pending| pending.order)
        .collect();
    let is_known = |order: &u64| queued.binary_search(order).is_ok();
    Ok(Found {
        shipped,
        last_snapshot: snapshots(target, &state.generation).await?.pop(),
        has_gap: shipped > state.order || !(shipped + 1..=state.order).all(|order| is_known(&order)),
    })
}
