//! The embedded database as the target of a restore. The caller holds the lock on the data folder.

use std::io::ErrorKind;
use std::path::Path;

use super::FILE;
use super::opening::{make_private_file, make_private_folder, open_writer};
use super::statements::Statements;
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::unfinished_restore::{self, TargetState};

/// The content of the database in a folder. A missing or empty file has none.
pub fn target_state(folder: &Path) -> Result<TargetState, StoreError> {
    let file = folder.join(FILE);
    match std::fs::metadata(&file) {
        Ok(metadata) if metadata.len() > 0 => {
            let connection = open_writer(&file)?;
            unfinished_restore::state(&mut Statements::on(&connection))
        }
        Ok(_) => Ok(TargetState::Empty),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(TargetState::Empty),
        Err(cause) => Err(StoreError::Files(format!("reading {}", file.display()), cause)),
    }
}

/// Replaces an empty database, or that of an unfinished restore of the same archive, with a new marked one.
pub fn mark_target(folder: &Path, archive: &str, now: Time) -> Result<(), StoreError> {
    make_private_folder(folder)?;
    target_state(folder)?.check(archive)?;
    remove_database(folder)?;
    let file = folder.join(FILE);
    make_private_file(&file)?;
    let connection = open_writer(&file)?;
    let mut statements = Statements::on(&connection);
    statements.run("BEGIN IMMEDIATE")?;
    unfinished_restore::mark(&mut statements, archive, now)?;
    statements.run("COMMIT")
}

/// Deletes the files of the database. Without its log, a database file could be inconsistent, so it is deleted first.
/// SQLite ignores a log without a database.
pub fn remove_database(folder: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-wal", "-shm"] {
        let file = folder.join(format!("{FILE}{suffix}"));
        match std::fs::remove_file(&file) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) => return Err(StoreError::Files(format!("deleting {}", file.display()), cause)),
        }
    }
    Ok(())
}
