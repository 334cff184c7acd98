//! The names and documents of an archive, except for segments.

use serde::{Deserialize, Serialize};

use crate::model::time::Time;

/// The version of the format that this build writes, and the only one that it reads.
pub const VERSION: u32 = 1;
/// Segments are in folders of this size.
const SEGMENTS_PER_FOLDER: u64 = 10_000;

/// A snapshot that is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotInfo {
    pub version: u32,
    /// The version of Garth that made the snapshot.
    pub garth: String,
    pub generation: String,
    /// The name of the object with the database file, without its folder.
    pub file: String,
    /// The first segment to replay.
    pub first_segment: u64,
    /// The last segment without which the snapshot is not consistent.
    pub last_segment: u64,
    /// The snapshot has all commits up to this time, in microseconds since 1970.
    pub time_micros: i64,
    /// The SHA-256 of the compressed file.
    pub sha256: String,
    pub bytes: u64,
    /// Whether the archive has the files of attachments.
    pub with_attachments: bool,
}

impl SnapshotInfo {
    pub fn time(&self) -> Time {
        Time::from_micros(self.time_micros)
    }
}

/// The archive had everything up to a time, also if there were no commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    pub version: u32,
    pub last_segment: u64,
    pub time_micros: i64,
}

/// The name of a generation: the time of its beginning, and random digits.
pub fn generation_name(now: Time, random: &[u8; 32]) -> String {
    let digits = crate::model::token::hex(&random[..4]);
    let time: String = now
        .to_string()
        .chars()
        .filter(|c| !matches!(c, '-' | ':'))
        .collect();
    format!("{time}Z-{digits}")
}

/// Whether a name can be that of a generation.
pub fn is_generation(name: &str) -> bool {
    name.len() == 25 && name.as_bytes()[8] == b'T' && name.as_bytes()[15..17] == *b"Z-"
}

pub fn segment_path(generation: &str, order: u64) -> String {
    format!(
        "{generation}/segments/{:06}/{order:010}.segment",
        order / SEGMENTS_PER_FOLDER
    )
}

pub fn snapshot_path(generation: &str, name: &str) -> String {
    format!("{generation}/snapshots/{name}")
}

pub fn heartbeat_path(generation: &str) -> String {
    format!("{generation}/heartbeat.json")
}

pub fn attachment_path(key: &str) -> String {
    format!("attachments/{key}")
}

/// A time with microseconds, which `--at` accepts.
pub fn precise(time: Time) -> String {
    format!("{time}.{:06}Z", time.micros().rem_euclid(1_000_000))
}
