//! The local queue of segments that were not uploaded yet, in the folder `archive` of the data folder.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::format::{generation_name, is_generation};
use super::segment::{self, SegmentHeader};
use crate::store::StoreError;
use crate::store::context::{Clock, RandomSource};
use crate::store::log_archive::{LogChunk, LogPosition, LogSink};

const STATE_FILE: &str = "state.json";
const SUFFIX: &str = ".segment";

/// The queue. Clones share it.
#[derive(Clone)]
pub struct Queue(Arc<Mutex<Inner>>);

struct Inner {
    folder: PathBuf,
    state: State,
    /// Segments that may not be on the disk yet.
    unflushed: Vec<PathBuf>,
    /// The uncompressed size of all segments since the start.
    frame_bytes: u64,
}

/// The end of the chain of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub generation: String,
    /// The number of the last segment, or 0.
    pub order: u64,
    /// The first segment of the current write-ahead log.
    pub log_start: u64,
    position: Option<LogPosition>,
}

/// A segment in the queue.
#[derive(Clone, Debug)]
pub struct Pending {
    pub path: PathBuf,
    pub generation: String,
    pub order: u64,
}

impl Queue {
    /// Opens the queue in a data folder. Returns the position that the last run has recorded.
    pub fn open(data: &Path) -> anyhow::Result<(Self, Option<LogPosition>)> {
        let folder = folder(data);
        crate::files::make_private_folder(&folder)?;
        let state = read_state(&folder)?;
        let position = state.position;
        let inner = Inner {
            folder,
            state,
            unflushed: Vec::new(),
            frame_bytes: 0,
        };
        Ok((Self(Arc::new(Mutex::new(inner))), position))
    }

    /// The end of the chain, and the uncompressed size of all segments since the start.
    pub fn state(&self) -> (State, u64) {
        let inner = self.lock();
        (inner.state.clone(), inner.frame_bytes)
    }

    /// The segments in the queue, in their order.
    pub fn pending(&self) -> std::io::Result<Vec<Pending>> {
        list(&self.lock().folder)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of the queue.
pub fn folder(data: &Path) -> PathBuf {
    data.join("archive")
}

impl LogSink for Queue {
    fn write(&mut self, chunk: &LogChunk) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let written = inner.write(chunk);
        written.map_err(|cause| StoreError::Files("writing a segment of the archive".to_owned(), cause))
    }

    fn begin_generation(&mut self) -> Result<(), StoreError> {
        let generation = generation_name(Clock::System.now(), &RandomSource::System.bytes());
        tracing::info!(generation, "archive generation begun");
        self.lock().state = State {
            generation,
            ..State::default()
        };
        Ok(())
    }

    fn save_position(&mut self, position: LogPosition) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let saved = inner.save_position(position);
        saved.map_err(|cause| StoreError::Files("flushing the queue of the archive".to_owned(), cause))
    }
}

impl Inner {
    fn write(&mut self, chunk: &LogChunk) -> std::io::Result<()> {
        let mut state = self.state.clone();
        state.order += 1;
        if chunk.first_frame == 1 || state.log_start == 0 {
            state.log_start = state.order;
        }
        state.position = Some(LogPosition::At(chunk.end));
        let header = SegmentHeader::new(&state.generation, state.order, state.log_start, chunk);
        let name = format!("{}-{:010}{SUFFIX}", state.generation, state.order);
        let path = self.folder.join(name);
        replace(&path, &segment::encode(&header, &chunk.frames)?)?;
        self.unflushed.push(path);
        self.frame_bytes += chunk.frames.len() as u64;
        self.state = state;
        self.write_state().map(drop)
    }

    fn write_state(&self) -> std::io::Result<PathBuf> {
        let path = self.folder.join(STATE_FILE);
        replace(&path, &serde_json::to_vec(&self.state)?)?;
        Ok(path)
    }

    fn save_position(&mut self, position: LogPosition) -> std::io::Result<()> {
        self.state.position = Some(position);
        let state = self.write_state()?;
        for path in self.unflushed.drain(..).chain([state]) {
            match File::open(path) {
                Ok(file) => file.sync_all()?,
                // It was uploaded.
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) => return Err(cause),
            }
        }
        File::open(&self.folder)?.sync_all()
    }
}

/// Replaces a file atomically.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    std::fs::rename(&temporary, path)
}

fn list(folder: &Path) -> std::io::Result<Vec<Pending>> {
    let mut pending = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(SUFFIX));
        let parts = name.and_then(|name| name.rsplit_once('-'));
        if let Some((generation, order)) = parts
            && is_generation(generation)
            && let Ok(order) = order.parse()
        {
            let generation = generation.to_owned();
            pending.push(Pending {
                path,
                generation,
                order,
            });
        }
    }
    pending.sort_by(|a, b| (&a.generation, a.order).cmp(&(&b.generation, b.order)));
    Ok(pending)
}

/// The recorded state, or that of the last segment in the queue: a crash can happen between the two writes.
fn read_state(folder: &Path) -> anyhow::Result<State> {
    let stored = match std::fs::read(folder.join(STATE_FILE)) {
        // An unreadable file leads to a new generation.
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(cause) if cause.kind() == ErrorKind::NotFound => State::default(),
        Err(cause) => return Err(cause).context("cannot read the queue of the archive"),
    };
    let pending = list(folder).context("cannot read the queue of the archive")?;
    let is_newer = |last: &&Pending| (&last.generation, last.order) > (&stored.generation, stored.order);
    let Some(last) = pending.last().filter(is_newer) else {
        return Ok(stored);
    };
    let bytes = std::fs::read(&last.path).context("cannot read the queue of the archive")?;
    Ok(match segment::decode(&bytes, &last.generation, last.order) {
        Ok((header, _)) => State {
            generation: header.generation,
            order: header.order,
            log_start: header.log_start,
            position: Some(LogPosition::At(header.end)),
        },
        Err(_) => State::default(),
    })
}
