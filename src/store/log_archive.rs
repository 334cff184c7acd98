//! The interface between the embedded store and its continuous archive (decision 0028).
//!
//! The store copies the frames of its write-ahead log (WAL) to a sink. The format of the archive is in `archiving`.

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use crate::model::time::Time;

pub use super::sqlite::{FrameReplay, LogCopier};

/// The archive of a store, and the position to continue from.
pub struct ArchiveStart {
    pub position: Option<LogPosition>,
    pub sink: Box<dyn LogSink>,
}

/// A position in the WAL: all frames before it were copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPoint {
    /// The salts in the header of the WAL. SQLite changes them when it overwrites the WAL from the beginning.
    pub salts: [u32; 2],
    pub frames: u32,
    /// The cumulative checksum of the last frame, or of the header.
    pub checksum: [u32; 2],
    /// Whether all frames are in the database file, so that SQLite may overwrite the WAL once.
    pub may_restart: bool,
}

/// The properties of the database file that change if anything writes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    pub inode: u64,
    pub size: u64,
    pub modified_nanos: i64,
    pub changed_nanos: i64,
}

/// The position that a restarted server continues from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogPosition {
    /// The server has stopped cleanly: the WAL is empty, and the database file has all commits.
    Stopped(FileIdentity),
    At(LogPoint),
}

/// The time of all commits up to a frame that have no earlier entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitTime {
    /// The number of the commit's last frame, from 1.
    pub frame: u32,
    pub time: Time,
}

/// Consecutive frames of the WAL. The last chunk of a copy ends with a commit.
pub struct LogChunk {
    pub page_size: u32,
    /// The number of the first frame, from 1.
    pub first_frame: u32,
    /// The frames, each with its header.
    pub frames: Vec<u8>,
    pub commits: Vec<CommitTime>,
    /// The position after this chunk.
    pub end: LogPoint,
}

/// The receiver of copied frames.
pub trait LogSink: Send {
    /// Stores a chunk that follows the previous one.
    fn write(&mut self, chunk: &LogChunk) -> Result<(), StoreError>;
    /// The next chunk does not follow the previous one: frames may be missing in between.
    fn begin_generation(&mut self) -> Result<(), StoreError>;
    /// Records the position for the next start of the server, and flushes all chunks to the disk.
    fn save_position(&mut self, position: LogPosition) -> Result<(), StoreError>;
}
