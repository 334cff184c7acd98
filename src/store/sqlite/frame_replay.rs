//! Writes copied frames into a database file, for a restore from the continuous archive (decision 0028).

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;

use super::wal_file::{frame_bytes, frames};
use crate::model::time::Time;
use crate::store::log_archive::CommitTime;

/// A database file, and the frames of a transaction whose commit was not reached yet.
pub struct FrameReplay {
    database: File,
    page_size: u32,
    /// Later commits are not written.
    until: Time,
    pending: Vec<u8>,
    /// The time of the last written commit.
    pub last_commit: Option<Time>,
}

impl FrameReplay {
    pub fn new(database: File, until: Time) -> Self {
        Self {
            database,
            page_size: 0,
            until,
            pending: Vec::new(),
            last_commit: None,
        }
    }

    /// Writes the commits of a segment up to the time. Returns false if the segment has a later commit.
    pub fn write(
        &mut self,
        page_size: u32,
        first_frame: u32,
        segment: &[u8],
        commits: &[CommitTime],
    ) -> Result<bool> {
        self.page_size = page_size;
        if first_frame == 1 {
            self.pending.clear();
        }
        let size = frame_bytes(page_size);
        let (mut begin, mut commits) = (0, commits.iter().peekable());
        let headers = frames(segment, page_size).map(|(header, _)| header);
        for (index, header) in headers.enumerate() {
            if header.commit_pages == 0 {
                continue;
            }
            let frame = first_frame.saturating_add(index as u32);
            while commits.next_if(|commit| commit.frame < frame).is_some() {}
            let Some(commit) = commits.peek() else {
                return Err(Error::new(ErrorKind::InvalidData, "a commit has no time"));
            };
            if commit.time > self.until {
                return Ok(false);
            }
            let end = (index + 1) * size;
            self.commit(&segment[begin..end], header.commit_pages)?;
            self.last_commit = Some(commit.time);
            begin = end;
        }
        self.pending.extend_from_slice(&segment[begin..]);
        Ok(true)
    }

    /// Makes the file durable.
    pub fn finish(self) -> Result<Option<Time>> {
        self.database.sync_all()?;
        Ok(self.last_commit)
    }

    fn commit(&mut self, segment: &[u8], pages: u32) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        for frames_of in [pending.as_slice(), segment] {
            for (header, page) in frames(frames_of, self.page_size) {
                let offset = u64::from(header.page.saturating_sub(1)) * u64::from(self.page_size);
                self.database.write_all_at(page, offset)?;
            }
        }
        self.database
            .set_len(u64::from(pages) * u64::from(self.page_size))
    }
}
