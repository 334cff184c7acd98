//! The one thread that writes: whatever waits is committed together (decision 0010).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crossbeam_channel::Receiver;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::watch;

use super::flush_clock::FlushClock;
use super::statements::{Statements, database};
use crate::store::changes::PendingChanges;
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::notifier::{Notifier, Topic};
use crate::store::sql::Sql;
use crate::store::tallies::TallyChanges;
use crate::store::task::WriteJob;
use crate::store::tx::WriteTx;

/// How many pages the log may hold before they are moved into the database file.
const LOG_PAGES: i32 = 1000;
/// How often a job is run that violates a constraint, as on PostgreSQL: rules look before they write, so the next
/// run sees what was in the way, or draws another random number.
const MAX_CONFLICT_RUNS: u32 = 5;

/// What is taken back when a job is refused that has changed something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Undo {
    /// What it did.
    Each,
    /// What all of the batch did.
    All,
}

pub struct Writer {
    pub jobs: Receiver<Box<dyn WriteJob>>,
    pub context: Arc<StoreContext>,
    pub notifier: Arc<Notifier>,
    pub stopped: Arc<AtomicBool>,
    /// The server is about to end: the log is emptied with the next commit.
    pub closing: Arc<AtomicBool>,
    pub failing: watch::Sender<bool>,
    pub group: usize,
    /// How many pages the log had after the last commit.
    pub log_pages: Arc<AtomicI32>,
    pub flush: Arc<FlushClock>,
}

/// Keeps the number of pages that the log has after each commit.
pub fn count_pages(connection: &mut Connection) -> Result<Arc<AtomicI32>, StoreError> {
    let log_pages = Arc::new(AtomicI32::new(0));
    let counted = log_pages.clone();
    let count = move |_: &mut Wal, pages| {
        counted.store(pages, Ordering::Relaxed);
        Ok(())
    };
    connection.wal_hook(Some(count)).map_err(database)?;
    Ok(log_pages)
}

impl Writer {
    pub fn run(self, connection: &Connection) {
        let statements = &mut Statements::on(connection);
        while let Ok(first) = self.jobs.recv() {
            let mut batch = vec![first];
            match self.commit_together(statements, &mut batch) {
                Ok(()) => {
                    if self.closing.load(Ordering::SeqCst) {
                        empty_log(statements);
                    }
                    answer_all(batch, || Ok(()));
                }
                Err(cause) if is_fatal(&cause) => {
                    self.stopped.store(true, Ordering::SeqCst);
                    tracing::error!(%cause, "a write may not have reached the disk: the store stops");
                    self.failing.send_replace(true);
                    answer_all(batch, || Err(StoreError::Stopped));
                    answer_all(self.jobs.try_iter().collect(), || Err(StoreError::Stopped));
                    return;
                }
                Err(cause) => {
                    tracing::error!(%cause, "a batch of writes failed and was undone");
                    let reason = cause.to_string();
                    answer_all(batch, || Err(StoreError::Unavailable(reason.clone())));
                }
            }
        }
    }

    /// Runs the first job, and every other that waits by then, in one transaction.
    ///
    /// One that is refused has nearly always changed nothing, so there is nothing to take back. If it has, all of them
    /// are run again, each with a savepoint: that is dear, as every page that a job changes is then copied first.
    fn commit_together(
        &self,
        statements: &mut Statements,
        batch: &mut Vec<Box<dyn WriteJob>>,
    ) -> Result<(), StoreError> {
        let together = self.commit(statements, batch, Undo::All)?;
        let topics = match together {
            None => self.commit(statements, batch, Undo::Each)?,
            together => together,
        };
        metrics::histogram!("garth_store_batch_jobs").record(batch.len() as f64);
        self.notifier.notify(topics.unwrap_or_default());
        Ok(())
    }

    fn commit(
        &self,
        statements: &mut Statements,
        batch: &mut Vec<Box<dyn WriteJob>>,
        undo: Undo,
    ) -> Result<Option<BTreeSet<Topic>>, StoreError> {
        statements.run("BEGIN IMMEDIATE")?;
        let done = self.run_jobs(statements, batch, undo).and_then(|topics| {
            if topics.is_some() {
                self.flush.time(|| self.flush(statements))?;
            }
            Ok(topics)
        });
        if !statements.is_at_rest() {
            let _ = statements.run("ROLLBACK");
        }
        done
    }

    /// Commits; whether anything was written.
    fn flush(&self, statements: &mut Statements) -> Result<bool, StoreError> {
        // The hook counts the pages of the log if the commit writes any.
        self.log_pages.store(0, Ordering::Relaxed);
        statements.run("COMMIT")?;
        self.shorten_log(statements)?;
        Ok(self.log_pages.load(Ordering::Relaxed) > 0)
    }

    /// Moves the log into the database file when it has grown long. That flushes the file, so it
    /// belongs to the commit: if it fails, the commit is not acknowledged.
    fn shorten_log(&self, statements: &mut Statements) -> Result<(), StoreError> {
        if self.log_pages.load(Ordering::Relaxed) < LOG_PAGES {
            return Ok(());
        }
        match statements.query("PRAGMA wal_checkpoint(PASSIVE)", &[]) {
            Err(StoreError::Unavailable(_)) | Ok(_) => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    /// Whose events are to be heard of; nothing if all of it has to be taken back because of one.
    fn run_jobs(
        &self,
        statements: &mut Statements,
        batch: &mut Vec<Box<dyn WriteJob>>,
        undo: Undo,
    ) -> Result<Option<BTreeSet<Topic>>, StoreError> {
        let mut topics = BTreeSet::new();
        let mut tally_changes = TallyChanges::default();
        let mut changes = PendingChanges::default();
        let (mut next, mut runs) = (0, 1);
        while next < batch.len() {
            if undo == Undo::Each {
                statements.run("SAVEPOINT job")?;
            }
            statements.have_changed();
            statements.have_conflicted();
            let mut tx = WriteTx::new(statements, &self.context, Some(&tally_changes));
            let keep = batch[next].run(&mut tx);
            if keep {
                let finished = tx.finish()?;
                topics.extend(finished.topics);
                tally_changes.merge(finished.tallies);
                changes.merge(finished.changes);
            } else if statements.have_changed() {
                match undo {
                    Undo::All => return Ok(None),
                    Undo::Each => statements.run("ROLLBACK TO job")?,
                }
            }
            // After some failures SQLite takes back everything by itself; what came next would be kept statement by statement.
            if statements.is_at_rest() {
                let text = "the database has taken back the whole transaction";
                return Err(StoreError::Unavailable(text.to_owned()));
            }
            if undo == Undo::Each {
                statements.run("RELEASE job")?;
            }
            if !keep && statements.have_conflicted() && runs < MAX_CONFLICT_RUNS {
                runs += 1;
                continue;
            }
            (next, runs) = (next + 1, 1);
            if next == batch.len() && next < self.group {
                batch.extend(self.jobs.try_recv().ok());
            }
        }
        tally_changes.write(statements)?;
        changes.write(statements)?;
        Ok(Some(topics))
    }
}

/// Leaves a store that is whole in its one file, for whoever copies it after a stop. If that does
/// not succeed nothing is lost: the log is read again at the next start.
fn empty_log(statements: &mut Statements) {
    if let Err(cause) = statements.query("PRAGMA wal_checkpoint(TRUNCATE)", &[]) {
        tracing::warn!(%cause, "could not move the log into the database file");
    }
}

fn answer_all(batch: Vec<Box<dyn WriteJob>>, ended: impl Fn() -> Result<(), StoreError>) {
    for job in batch {
        job.answer(ended());
    }
}

/// Whether the disk may hold something else than was written to it.
fn is_fatal(cause: &StoreError) -> bool {
    let StoreError::Database(cause) = cause else {
        return false;
    };
    let code = cause
        .downcast_ref::<rusqlite::Error>()
        .and_then(|e| e.sqlite_error_code());
    matches!(
        code,
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
