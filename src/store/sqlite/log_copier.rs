//! Copies committed frames of the write-ahead log (WAL) to the continuous archive (decision 0028).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wal_file::{FrameHeader, WalFile, frame_bytes, frames};
use crate::model::time::Time;
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::log_archive::{CommitTime, FileIdentity, LogChunk, LogPoint, LogPosition, LogSink};

/// The maximum size of a chunk, except that a chunk has at least one frame.
const MAX_CHUNK_BYTES: usize = 8 * 1024 * 1024;

/// Copies the WAL. The writer and the archiver share it.
pub struct LogCopier {
    context: Arc<StoreContext>,
    /// The times of commits that were not copied yet.
    commits: Mutex<Vec<CommitTime>>,
    copy: Mutex<Copy>,
}

/// The state that one copy at a time uses.
pub struct Copy {
    database: PathBuf,
    wal: PathBuf,
    /// `None`: the WAL has no header, and all earlier commits are in the database file.
    point: Option<LogPoint>,
    sink: Box<dyn LogSink>,
    /// The time of the last copied commit. Times in the archive never decrease.
    last_time: Time,
}

impl LogCopier {
    /// Continues at a position, if nothing is missing since then. Otherwise begins a generation. The caller holds a
    /// read transaction, so that SQLite does not overwrite the WAL.
    pub fn open(
        database: &Path,
        position: Option<LogPosition>,
        sink: Box<dyn LogSink>,
        context: Arc<StoreContext>,
    ) -> Result<Self, StoreError> {
        let mut wal = database.as_os_str().to_owned();
        wal.push("-wal");
        let mut copy = Copy {
            database: database.to_owned(),
            wal: wal.into(),
            point: None,
            sink,
            last_time: Time::from_micros(0),
        };
        match copy.find(position)? {
            Some(point) => copy.point = point,
            None => {
                copy.point = copy.beginning()?;
                copy.sink.begin_generation()?;
            }
        }
        Ok(Self {
            context,
            commits: Mutex::default(),
            copy: Mutex::new(copy),
        })
    }

    /// Records the time of a commit, after its flush and before its response.
    pub fn record_commit(&self, frame: u32) {
        let time = self.context.clock.now();
        self.lock_commits().push(CommitTime { frame, time });
    }

    /// Copies all commits to the sink. Returns a time that is not before any copied commit, and not after any later one.
    pub fn copy(&self) -> Result<Time, StoreError> {
        let mut copy = self.lock();
        let now = self.context.clock.now();
        self.copy_locked(&mut copy)?;
        Ok(copy.last_time.max(now))
    }

    /// Begins a generation at the beginning of the WAL, because the archive has lost a segment.
    pub fn begin_generation(&self) -> Result<(), StoreError> {
        let mut copy = self.lock();
        copy.point = copy.beginning()?;
        copy.sink.begin_generation()
    }

    /// Prevents other copies.
    pub fn lock(&self) -> MutexGuard<'_, Copy> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn copy_locked(&self, copy: &mut Copy) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Files("reading the write-ahead log".to_owned(), cause);
        let wal = WalFile::open(&copy.wal).map_err(failed)?;
        if !copy.follow(wal.as_ref()) {
            tracing::warn!("write-ahead log changed by another program, archive begins a new generation");
            copy.point = wal.as_ref().map(start_of);
            copy.sink.begin_generation()?;
        }
        let (Some(wal), Some(point)) = (wal, copy.point) else {
            return Ok(());
        };
        let end = wal
            .committed_frames(point.frames, point.checksum)
            .map_err(failed)?;
        let mut commits = self.take_commits(point.frames, end);
        if end == point.frames {
            return Ok(());
        }
        // A commit can be in the file before the writer has recorded its time. Its response follows later.
        if commits.last().is_none_or(|last| last.frame < end) {
            let time = self.context.clock.now();
            commits.push(CommitTime { frame: end, time });
        }
        for commit in &mut commits {
            copy.last_time = copy.last_time.max(commit.time);
            commit.time = copy.last_time;
        }
        copy.write(&wal, end, &commits)
    }

    /// Removes the recorded times up to a frame, and returns those after another frame.
    fn take_commits(&self, after: u32, end: u32) -> Vec<CommitTime> {
        let mut recorded = self.lock_commits();
        let count = recorded.partition_point(|commit| commit.frame <= end);
        let mut taken: Vec<_> = recorded.drain(..count).collect();
        taken.retain(|commit| commit.frame > after);
        taken
    }

    fn lock_commits(&self) -> MutexGuard<'_, Vec<CommitTime>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Copy {
    /// The number of copied frames of the WAL.
    pub fn frames(&self) -> u32 {
        self.point.map_or(0, |point| point.frames)
    }

    /// All frames are copied and in the database file, so that SQLite may overwrite the WAL once.
    pub fn allow_restart(&mut self) -> Result<(), StoreError> {
        let Some(point) = &mut self.point else {
            return Ok(());
        };
        point.may_restart = true;
        self.sink.save_position(LogPosition::At(*point))
    }

    /// The WAL is empty, and all commits are in the database file.
    pub fn stop(&mut self) -> Result<(), StoreError> {
        if !self.is_wal_empty() {
            return Ok(());
        }
        self.point = None;
        let identity = self.identity()?;
        self.sink.save_position(LogPosition::Stopped(identity))
    }

    /// The point of a stored position, if the WAL still has all frames after it.
    fn find(&mut self, position: Option<LogPosition>) -> Result<Option<Option<LogPoint>>, StoreError> {
        match position {
            None => Ok(None),
            Some(LogPosition::Stopped(identity)) => {
                let is_same = self.is_wal_empty() && self.identity()? == identity;
                Ok(is_same.then_some(None))
            }
            Some(LogPosition::At(point)) => {
                let failed = |cause| StoreError::Files("reading the write-ahead log".to_owned(), cause);
                let wal = WalFile::open(&self.wal).map_err(failed)?;
                self.point = Some(point);
                if wal.is_none() || !self.follow(wal.as_ref()) {
                    return Ok(None);
                }
                let (Some(wal), Some(found)) = (wal, self.point) else {
                    return Ok(None);
                };
                let checksum = wal.checksum_after(found.frames).map_err(failed)?;
                Ok((checksum == Some(found.checksum)).then_some(Some(found)))
            }
        }
    }

    /// Follows an expected restart of the WAL. Returns false if frames may be missing.
    fn follow(&mut self, wal: Option<&WalFile>) -> bool {
        let (Some(point), Some(wal)) = (self.point, wal) else {
            // A WAL without a header is being written, or was never written.
            self.point = self.point.or(wal.map(start_of));
            return true;
        };
        let is_next = wal.salts[0] == point.salts[0].wrapping_add(1);
        if wal.salts != point.salts && point.may_restart && is_next {
            self.point = Some(start_of(wal));
            return true;
        }
        wal.salts == point.salts
    }

    /// The beginning of the WAL. All earlier commits are in the database file.
    fn beginning(&self) -> Result<Option<LogPoint>, StoreError> {
        let wal = WalFile::open(&self.wal);
        let wal = wal.map_err(|cause| StoreError::Files("reading the write-ahead log".to_owned(), cause))?;
        Ok(wal.as_ref().map(start_of))
    }

    fn write(&mut self, wal: &WalFile, end: u32, commits: &[CommitTime]) -> Result<(), StoreError> {
        let max_frames = (MAX_CHUNK_BYTES / frame_bytes(wal.page_size)).max(1) as u32;
        while let Some(point) = self.point.filter(|point| point.frames < end) {
            let count = (end - point.frames).min(max_frames);
            let frames = wal.read_frames(point.frames, count);
            let frames =
                frames.map_err(|cause| StoreError::Files("reading the write-ahead log".to_owned(), cause))?;
            let last = frames.len() - frame_bytes(wal.page_size);
            let header = FrameHeader::parse(&frames[last..]).filter(|header| header.salts == wal.salts);
            let Some(header) = header else {
                return Err(StoreError::Unexpected(
                    "the write-ahead log changed while it was copied".to_owned(),
                ));
            };
            let last_frame = point.frames + count;
            let next = LogPoint {
                salts: wal.salts,
                frames: last_frame,
                checksum: header.checksum,
                may_restart: false,
            };
            let chunk = LogChunk {
                page_size: wal.page_size,
                first_frame: point.frames + 1,
                commits: commits_of(&frames, wal.page_size, point.frames, commits),
                frames,
                end: next,
            };
            self.sink.write(&chunk)?;
            self.point = Some(next);
        }
        Ok(())
    }

    fn is_wal_empty(&self) -> bool {
        std::fs::metadata(&self.wal).map_or(true, |file| file.len() == 0)
    }

    fn identity(&self) -> Result<FileIdentity, StoreError> {
        let file = std::fs::metadata(&self.database);
        let file = file.map_err(|cause| StoreError::Files("reading the database file".to_owned(), cause))?;
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Ok(FileIdentity {
            inode: file.ino(),
            size: file.len(),
            modified_nanos: nanos(file.mtime(), file.mtime_nsec()),
            changed_nanos: nanos(file.ctime(), file.ctime_nsec()),
        })
    }
}

/// The times of the commits in a chunk. The recorded time of a commit can be that of a later commit, in a later chunk.
fn commits_of(bytes: &[u8], page_size: u32, skipped: u32, commits: &[CommitTime]) -> Vec<CommitTime> {
    let end = skipped.saturating_add((bytes.len() / frame_bytes(page_size)) as u32);
    let is_in_chunk = |commit: &&CommitTime| commit.frame > skipped && commit.frame <= end;
    let mut found: Vec<CommitTime> = commits.iter().filter(is_in_chunk).copied().collect();
    let is_commit = |(_, (header, _)): &(u32, (FrameHeader, &[u8]))| header.commit_pages > 0;
    let last = (skipped + 1..)
        .zip(frames(bytes, page_size))
        .filter(is_commit)
        .last();
    if let Some((frame, _)) = last
        && found.last().is_none_or(|commit| commit.frame < frame)
        && let Some(later) = commits.iter().find(|commit| commit.frame > frame)
    {
        let time = later.time;
        found.push(CommitTime { frame, time });
    }
    found
}

fn start_of(wal: &WalFile) -> LogPoint {
    LogPoint {
        salts: wal.salts,
        frames: 0,
        checksum: wal.checksum,
        may_restart: false,
    }
}
