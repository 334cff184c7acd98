//! Segments: a line of JSON, compressed frames of the write-ahead log, and the SHA-256 of both.

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::format::VERSION;
use crate::model::time::Time;
use crate::store::log_archive::{CommitTime, LogChunk, LogPoint};

/// The value of `SegmentHeader::format`.
const FORMAT: &str = "garth-segment";
const HASH_BYTES: usize = 32;
/// A fast level: most of the gain is from unchanged and empty parts of pages.
const COMPRESSION_LEVEL: i32 = 1;
/// The largest segment that is read: a chunk of the log, or one page of any size.
const MAX_FRAMES_BYTES: u64 = 16 * 1024 * 1024;

/// The first line of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentHeader {
    pub format: String,
    pub version: u32,
    pub generation: String,
    /// The number of the segment in its generation, from 1.
    pub order: u64,
    /// The first segment of the same write-ahead log.
    pub log_start: u64,
    pub page_size: u32,
    /// The number of the first frame in the log, from 1.
    pub first_frame: u32,
    /// The position in the log after the segment.
    pub end: LogPoint,
    /// The numbers of frames that end commits, and the times of the commits in microseconds since 1970.
    pub commits: Vec<(u32, i64)>,
}

impl SegmentHeader {
    pub fn new(generation: &str, order: u64, log_start: u64, chunk: &LogChunk) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            generation: generation.to_owned(),
            order,
            log_start,
            page_size: chunk.page_size,
            first_frame: chunk.first_frame,
            end: chunk.end,
            commits: chunk
                .commits
                .iter()
                .map(|commit| (commit.frame, commit.time.micros()))
                .collect(),
        }
    }

    /// The time of the last commit.
    pub fn time(&self) -> Option<Time> {
        self.commits.last().map(|(_, micros)| Time::from_micros(*micros))
    }

    pub fn commit_times(&self) -> Vec<CommitTime> {
        let time = |(frame, micros): &(u32, i64)| CommitTime {
            frame: *frame,
            time: Time::from_micros(*micros),
        };
        self.commits.iter().map(time).collect()
    }

    /// Whether a segment continues the log where another one ends.
    pub fn follows(&self, previous: &SegmentHeader) -> bool {
        let continues =
            self.end.salts == previous.end.salts && self.first_frame == previous.end.frames.saturating_add(1);
        self.generation == previous.generation
            && self.order == previous.order + 1
            && (continues || self.first_frame == 1)
    }
}

pub fn encode(header: &SegmentHeader, frames: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(header)?;
    bytes.push(b'\n');
    bytes.extend(zstd::bulk::compress(frames, COMPRESSION_LEVEL)?);
    let hash = Sha256::digest(&bytes);
    bytes.extend_from_slice(&hash);
    Ok(bytes)
}

/// Verifies the hash of a segment and that it is the expected one. Returns its header and its frames.
pub fn decode(bytes: &[u8], generation: &str, order: u64) -> anyhow::Result<(SegmentHeader, Vec<u8>)> {
    let length = bytes.len().checked_sub(HASH_BYTES).context("it is too short")?;
    let (content, hash) = bytes.split_at(length);
    ensure!(
        Sha256::digest(content).as_slice() == hash,
        "its content differs from its hash"
    );
    let line = content
        .iter()
        .position(|byte| *byte == b'\n')
        .context("it has no header")?;
    let header: SegmentHeader = serde_json::from_slice(&content[..line]).context("its header is invalid")?;
    if header.format != FORMAT || header.version != VERSION {
        bail!("its format is {} {}", header.format, header.version);
    }
    ensure!(
        header.generation == generation && header.order == order,
        "it is segment {} of generation {}",
        header.order,
        header.generation
    );
    let frames = zstd::bulk::decompress(&content[line + 1..], MAX_FRAMES_BYTES as usize);
    Ok((header, frames.context("its frames cannot be decompressed")?))
}
