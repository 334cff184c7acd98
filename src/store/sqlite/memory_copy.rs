//! Copies of the whole database in memory, for the snapshots of test control.
//!
//! SQLite copies all pages of the database. A restore writes only the pages that differ, if SQLite can access pages.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::changed_pages;
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
    schema_version: u32,
}

impl MemoryCopy {
    pub fn of(file: &Arc<PathBuf>) -> Result<Self, StoreError> {
        let mut memory = Connection::open_in_memory().map_err(database)?;
        let reader = open_reader(file)?;
        copy(&reader, &mut memory)?;
        Ok(Self {
            file: file.clone(),
            schema_version: changed_pages::schema_version(&reader).map_err(database)?,
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
        let memory = self.memory();
        match changed_pages::is_supported(&memory)? {
            true => changed_pages::write(&memory, self.schema_version, &self.file),
            false => copy(&memory, &mut open_writer(&self.file)?),
        }
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
