//! Copies of the whole database in memory, for the snapshots of test control.
//!
//! SQLite copies the pages of the database, so a copy has the same bytes, and the time depends only on their number.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::opening::{open_reader, open_writer};
use super::readers::run_read;
use super::statements::{Statements, database};
use crate::store::context::StoreContext;
use crate::store::engine::DatabaseCopy;
use crate::store::error::StoreError;
use crate::store::task::ReadJob;

/// The number of pages of one step: all of them, so that the copy is of one moment.
const ALL_PAGES: i32 = -1;

pub struct MemoryCopy {
    file: Arc<PathBuf>,
    memory: Mutex<Connection>,
}

impl MemoryCopy {
    pub fn of(file: &Arc<PathBuf>) -> Result<Self, StoreError> {
        let mut memory = Connection::open_in_memory().map_err(database)?;
        copy(&open_reader(file)?, &mut memory)?;
        Ok(Self {
            file: file.clone(),
            memory: Mutex::new(memory),
        })
    }

    fn memory(&self) -> MutexGuard<'_, Connection> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DatabaseCopy for MemoryCopy {
    fn read(&self, job: &mut dyn ReadJob, context: &StoreContext) -> Result<(), StoreError> {
        run_read(&mut Statements::on(&self.memory()), job, context)
    }

    fn restore(&self) -> Result<(), StoreError> {
        let mut file = open_writer(&self.file)?;
        // The next commit of the writer flushes the log with these pages. After a loss of power before, SQLite ignores
        // an incomplete commit in the log.
        file.pragma_update(None, "synchronous", "off").map_err(database)?;
        copy(&self.memory(), &mut file)
    }
}

fn copy(from: &Connection, to: &mut Connection) -> Result<(), StoreError> {
    let backup = Backup::new(from, to).map_err(database)?;
    match backup.step(ALL_PAGES).map_err(database)? {
        StepResult::Done => Ok(()),
        state => {
            let text = format!("the database was not copied: {state:?}");
            Err(StoreError::Unavailable(text))
        }
    }
}
