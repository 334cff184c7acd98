//! A shared database as the target of a restore.

use std::collections::BTreeSet;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::address::Address;
use super::connection::Connection;
use super::failure::Failure;
use super::{locks, on_own_thread};
use crate::model::time::Time;
use crate::store::database::Database;
use crate::store::error::StoreError;
use crate::store::sql::Sql;
use crate::store::unfinished_restore::{self, TargetState};
use crate::store::value::Row;

/// The content of the database.
pub fn target_state(database: &Database) -> Result<TargetState, StoreError> {
    let address = Address::new(database)?;
    on_own_thread(|| {
        let mut connection = Connection::open(&address).map_err(Failure::into_store_error)?;
        transaction(&mut connection, |sql| unfinished_restore::state(sql))
    })
}

/// A database with the mark of a restore. A thread holds a connection with an advisory lock, so that no other restore
/// takes this one for an unfinished one.
pub struct MarkedDatabase {
    abandon: Sender<()>,
    holder: JoinHandle<Result<(), StoreError>>,
}

impl MarkedDatabase {
    /// Drops the tables of an unfinished restore of the same archive, and marks the database.
    pub fn mark(database: &Database, archive: &str, now: Time) -> Result<Self, StoreError> {
        let address = Address::new(database)?;
        let archive = archive.to_owned();
        let (abandon, abandoned) = bounded(0);
        let (report, marked) = bounded(1);
        let hold = move || hold_mark(&address, &archive, now, &report, &abandoned);
        let holder = thread::Builder::new()
            .name("store-restore".to_owned())
            .spawn(hold);
        let holder = holder.map_err(|e| StoreError::Files("starting a store thread".to_owned(), e))?;
        marked.recv().unwrap_or(Err(StoreError::Panicked))?;
        Ok(Self { abandon, holder })
    }

    /// Drops all tables of the restore.
    pub fn abandon(self) -> Result<(), StoreError> {
        let _ = self.abandon.send(());
        self.holder.join().unwrap_or(Err(StoreError::Panicked))
    }
}

/// Marks the database and holds the lock until the restore ends.
fn hold_mark(
    address: &Address,
    archive: &str,
    now: Time,
    report: &Sender<Result<(), StoreError>>,
    abandoned: &Receiver<()>,
) -> Result<(), StoreError> {
    let marked = Connection::open(address)
        .map_err(Failure::into_store_error)
        .and_then(|mut connection| {
            lock(&mut connection)?;
            transaction(&mut connection, |sql| {
                // A server that starts at the same time creates its tables under this lock.
                let lock = format!("SELECT pg_advisory_xact_lock({})", locks::MIGRATION);
                sql.query(&lock, &[])?;
                if unfinished_restore::state(sql)?.check(archive)? {
                    unfinished_restore::drop_tables(sql)?;
                    // Another table, which is not part of the restore, would remain.
                    unfinished_restore::state(sql)?.check(archive)?;
                }
                unfinished_restore::mark(sql, archive, now)
            })?;
            Ok(connection)
        });
    let mut connection = match marked {
        Ok(connection) => connection,
        Err(cause) => {
            let _ = report.send(Err(cause));
            return Ok(());
        }
    };
    let _ = report.send(Ok(()));
    match abandoned.recv() {
        Ok(()) => transaction(&mut connection, |sql| unfinished_restore::drop_tables(sql)),
        // The restore has finished.
        Err(_) => Ok(()),
    }
}

/// Takes the lock of restores, which the connection holds until it is closed. The server may need a moment to notice
/// that an earlier restore was killed.
fn lock(connection: &mut Connection) -> Result<(), StoreError> {
    const ATTEMPTS: u32 = 50;
    const PAUSE: Duration = Duration::from_millis(100);
    for attempt in 1..=ATTEMPTS {
        let is_locked = transaction(connection, |sql| {
            let query = format!("SELECT pg_try_advisory_lock({})", locks::RESTORE);
            let mut rows = sql.query(&query, &[])?;
            rows.first_mut().map_or(Ok(false), Row::take)
        })?;
        if is_locked {
            return Ok(());
        }
        if attempt < ATTEMPTS {
            thread::sleep(PAUSE);
        }
    }
    Err(StoreError::Unavailable(
        "another `garth restore` is using the database".to_owned(),
    ))
}

fn transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED", &BTreeSet::new());
    connection.extend_timeouts();
    match work(connection) {
        Ok(value) => {
            connection.commit("").map_err(Failure::into_store_error)?;
            Ok(value)
        }
        Err(cause) => {
            let _ = connection.roll_back();
            Err(cause)
        }
    }
}
