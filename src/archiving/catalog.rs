//! The content of an archive: its generations, and the times that they cover.

use std::collections::BTreeSet;

use anyhow::bail;
use serde::Serialize;

use super::format::{Heartbeat, SnapshotInfo, heartbeat_path, is_generation, precise, segment_path};
use super::segment;
use super::target::Target;
use crate::model::time::Time;

/// A generation with a complete snapshot.
#[derive(Debug)]
pub struct Generation {
    pub name: String,
    /// From the oldest to the newest.
    pub snapshots: Vec<SnapshotInfo>,
    /// The last segment that no segment is missing before.
    pub last_segment: u64,
    /// The first segment that is missing although a later one exists.
    pub missing_segment: Option<u64>,
    pub from: Time,
    pub to: Time,
}

/// A generation in the output of `garth restore --list`.
#[derive(Serialize)]
pub struct GenerationView {
    pub generation: String,
    pub from: String,
    pub to: String,
    pub snapshots: usize,
    pub last_segment: u64,
    pub missing_segment: Option<u64>,
}

impl Generation {
    pub fn view(&self) -> GenerationView {
        GenerationView {
            generation: self.name.clone(),
            from: precise(self.from),
            to: precise(self.to),
            snapshots: self.snapshots.len(),
            last_segment: self.last_segment,
            missing_segment: self.missing_segment,
        }
    }
}

/// All generations that can be restored, from the oldest to the newest.
pub async fn read(target: &Target) -> anyhow::Result<Vec<Generation>> {
    let mut generations = Vec::new();
    for name in names(target).await? {
        generations.extend(read_generation(target, name).await?);
    }
    Ok(generations)
}

/// The names of all generations, from the oldest to the newest.
pub async fn names(target: &Target) -> anyhow::Result<Vec<String>> {
    let folders = target.folders().await?.into_iter();
    Ok(folders.filter(|name| is_generation(name)).collect())
}

/// The complete snapshots of a generation, from the oldest to the newest.
pub async fn snapshots(target: &Target, generation: &str) -> anyhow::Result<Vec<SnapshotInfo>> {
    let mut found: Vec<SnapshotInfo> = Vec::new();
    for path in target.list(&format!("{generation}/snapshots")).await? {
        if path.ends_with(".json")
            && let Some(info) = target.get_json(&path).await?
        {
            found.push(info);
        }
    }
    found.sort_by_key(|info| (info.time_micros, info.last_segment));
    Ok(found)
}

/// The number of a segment, from its path.
pub fn order_of(path: &str) -> Option<u64> {
    let name = path.rsplit('/').next()?.strip_suffix(".segment")?;
    name.parse().ok()
}

async fn read_generation(target: &Target, name: String) -> anyhow::Result<Option<Generation>> {
    let snapshots = snapshots(target, &name).await?;
    let (Some(first), Some(newest)) = (snapshots.first(), snapshots.last()) else {
        return Ok(None);
    };
    let listed = target.list(&format!("{name}/segments")).await?;
    let orders: BTreeSet<u64> = listed.iter().filter_map(|path| order_of(path)).collect();
    let begin = first.first_segment;
    let mut last = begin.saturating_sub(1);
    while orders.contains(&(last + 1)) {
        last += 1;
    }
    let heartbeat: Option<Heartbeat> = target.get_json(&heartbeat_path(&name)).await?;
    let known = orders.last().copied().unwrap_or(0);
    let known = known.max(newest.last_segment);
    let known = known.max(heartbeat.as_ref().map_or(0, |beat| beat.last_segment));
    let mut to = last_time(target, &name, begin, last).await?;
    if let Some(beat) = heartbeat.filter(|beat| beat.last_segment == last) {
        to = to.max(Some(Time::from_micros(beat.time_micros)));
    }
    if newest.last_segment == last {
        to = to.max(Some(newest.time()));
    }
    let from = first.time();
    Ok(Some(Generation {
        from,
        to: to.unwrap_or(from),
        last_segment: last,
        missing_segment: (last < known).then_some(last + 1),
        snapshots,
        name,
    }))
}

/// The time of the last commit up to a segment. A segment without a commit is a part of a large transaction. A damaged
/// segment counts as one without a commit, because the restore reports it.
async fn last_time(target: &Target, generation: &str, begin: u64, last: u64) -> anyhow::Result<Option<Time>> {
    for order in (begin..=last).rev() {
        let bytes = target.get(&segment_path(generation, order)).await?;
        let decoded = bytes.and_then(|bytes| segment::decode(&bytes, generation, order).ok());
        if let Some(time) = decoded.and_then(|(header, _)| header.time()) {
            return Ok(Some(time));
        }
    }
    Ok(None)
}

/// The generation and the snapshot for a time. Without a time, the newest state.
pub fn choose(generations: &[Generation], at: Option<Time>) -> anyhow::Result<(&Generation, &SnapshotInfo)> {
    let Some(newest) = generations.last() else {
        bail!("the archive has no complete snapshot: nothing can be restored from it");
    };
    let generation = match at {
        None => Some(newest),
        Some(at) => generations
            .iter()
            .rev()
            .find(|generation| (generation.from..=generation.to).contains(&at)),
    };
    let Some(generation) = generation else {
        let ranges: Vec<_> = generations
            .iter()
            .map(|generation| format!("{} to {}", precise(generation.from), precise(generation.to)))
            .collect();
        bail!(
            "--at: the archive does not cover this time. It covers {}",
            ranges.join(", and ")
        );
    };
    let at = at.unwrap_or(generation.to);
    let mut snapshots = generation.snapshots.iter().rev();
    let usable = |info: &&SnapshotInfo| info.time() <= at && info.last_segment <= generation.last_segment;
    match snapshots.find(usable) {
        Some(snapshot) => Ok((generation, snapshot)),
        None => bail!(
            "segment {} of generation {} is missing, so that no snapshot is usable",
            generation.missing_segment.unwrap_or_default(),
            generation.name
        ),
    }
}
