//! Checkpoints of a store with a continuous archive: no frame of the write-ahead log (WAL) is overwritten before it was
//! copied (decision 0028).

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::log_copier::LogCopier;
use super::opening::open_reader;
use super::statements::{Statements, database};
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::log_archive::ArchiveStart;
use crate::store::sql::Sql;

/// The number of pages in the WAL at which the writer runs a checkpoint. It is larger than without an archive, because
/// a checkpoint also flushes a segment.
const CHECKPOINT_PAGES: i32 = 4000;
/// After a checkpoint that readers have prevented, the number of further pages until the next one.
const RETRY_PAGES: i32 = 1000;

/// A read transaction. While it is open, SQLite does not overwrite frames: a checkpoint cannot complete, except that
/// frames that were already in the database file may be overwritten once.
struct LogHold(Connection);

impl LogHold {
    fn begin(database: &Path) -> Result<Self, StoreError> {
        let hold = Self(open_reader(database)?);
        hold.hold()?;
        Ok(hold)
    }

    fn hold(&self) -> Result<(), StoreError> {
        // The transaction begins with its first read.
        let begun = self.0.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema");
        begun.map_err(database)
    }

    fn release(&self) -> Result<(), StoreError> {
        match self.0.is_autocommit() {
            true => Ok(()),
            false => self.0.execute_batch("ROLLBACK").map_err(database),
        }
    }
}

/// The part of the archive that the writer thread uses.
pub struct ArchivedLog {
    pub copier: Arc<LogCopier>,
    hold: LogHold,
    /// The number of pages in the WAL at which the next checkpoint runs.
    next_checkpoint: Cell<i32>,
}

impl ArchivedLog {
    /// Holds the WAL before anything is written to it.
    pub fn open(file: &Path, start: ArchiveStart, context: Arc<StoreContext>) -> Result<Self, StoreError> {
        let hold = LogHold::begin(file)?;
        let copier = LogCopier::open(file, start.position, start.sink, context)?;
        Ok(Self {
            copier: Arc::new(copier),
            hold,
            next_checkpoint: Cell::new(CHECKPOINT_PAGES),
        })
    }

    /// Records a commit. If the WAL is long, copies it and then moves it into the database file.
    pub fn after_commit(&self, statements: &mut Statements, wal_pages: i32) -> Result<(), StoreError> {
        if let Ok(frame @ 1..) = u32::try_from(wal_pages) {
            self.copier.record_commit(frame);
        }
        // The WAL has restarted.
        if wal_pages < RETRY_PAGES {
            self.next_checkpoint.set(CHECKPOINT_PAGES);
        }
        if wal_pages < self.next_checkpoint.get() {
            return Ok(());
        }
        self.next_checkpoint.set(wal_pages.saturating_add(RETRY_PAGES));
        self.checkpoint(statements)
    }

    fn checkpoint(&self, statements: &mut Statements) -> Result<(), StoreError> {
        let mut copy = self.copier.lock();
        if let Err(cause) = self.copier.copy_locked(&mut copy) {
            tracing::error!(error = %cause, "write-ahead log not copied, it grows until the next attempt");
            return Ok(());
        }
        self.hold.release()?;
        let checkpointed = run_checkpoint(statements);
        self.hold.hold()?;
        // Frames that another process has written in the meantime.
        if let Err(cause) = self.copier.copy_locked(&mut copy) {
            tracing::error!(error = %cause, "write-ahead log not copied");
            return checkpointed.map(drop);
        }
        let Checkpointed { frames, moved } = checkpointed?;
        if frames == moved && frames == i64::from(copy.frames()) {
            copy.allow_restart()?;
        }
        Ok(())
    }

    /// Copies the whole WAL, moves it into the database file and empties it. The server stops afterward.
    pub fn close(&self, statements: &mut Statements) {
        let mut copy = self.copier.lock();
        let closed = (|| {
            let before = data_version(statements)?;
            self.copier.copy_locked(&mut copy)?;
            self.hold.release()?;
            statements.query("PRAGMA wal_checkpoint(TRUNCATE)", &[])?;
            // If another process has written since the copy began, the next start begins a generation.
            match data_version(statements)? == before {
                true => copy.stop(),
                false => Ok(()),
            }
        })();
        if let Err(cause) = closed {
            tracing::warn!(error = %cause, "wal checkpoint failed");
        }
    }
}

/// The result of a checkpoint.
struct Checkpointed {
    /// The number of frames in the WAL.
    frames: i64,
    /// The number of frames in the database file.
    moved: i64,
}

fn run_checkpoint(statements: &mut Statements) -> Result<Checkpointed, StoreError> {
    let busy = Checkpointed { frames: 1, moved: 0 };
    let mut rows = match statements.query("PRAGMA wal_checkpoint(PASSIVE)", &[]) {
        Ok(rows) => rows,
        Err(StoreError::Unavailable(_)) => return Ok(busy),
        Err(cause) => return Err(cause),
    };
    let Some(row) = rows.first_mut() else {
        return Ok(busy);
    };
    row.take::<i64>()?;
    Ok(Checkpointed {
        frames: row.take()?,
        moved: row.take()?,
    })
}

/// A number that changes when another connection commits.
fn data_version(statements: &mut Statements) -> Result<i64, StoreError> {
    let mut rows = statements.query("PRAGMA data_version", &[])?;
    rows.first_mut().map_or(Ok(0), |row| row.take())
}
