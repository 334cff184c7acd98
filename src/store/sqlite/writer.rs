//! The writer thread, which commits all queued writes together (decision 0010).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crossbeam_channel::Receiver;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::watch;

use super::archived_log::ArchivedLog;
use super::flush_timer::FlushTimer;
use super::statements::{Statements, database};
use crate::store::changes::PendingChanges;
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::notifier::{Notifier, Topic};
use crate::store::sql::Sql;
use crate::store::tallies::TallyChanges;
use crate::store::task::WriteJob;
use crate::store::tx::WriteTx;

/// The number of pages in the write-ahead log (WAL) at which the writer runs a checkpoint.
const CHECKPOINT_PAGES: i32 = 1000;
/// The maximum number of runs of a write that violates a constraint. The limit for PostgreSQL is the same. A
/// retry can succeed: the rule then sees the conflicting row and reports it, or uses another random number.
const MAX_CONFLICT_RUNS: u32 = 5;

/// The scope of the rollback if a job fails after it has changed data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RollbackScope {
    Job,
    Batch,
}

pub struct Writer {
    pub jobs: Receiver<Box<dyn WriteJob>>,
    pub context: Arc<StoreContext>,
    pub notifier: Arc<Notifier>,
    /// Set to true after a failed flush. The store then refuses writes.
    pub stopped: Arc<AtomicBool>,
    /// Whether the server is shutting down. The writer then empties the log after the next commit.
    pub closing: Arc<AtomicBool>,
    /// Notifies the server of a failed flush.
    pub failing: watch::Sender<bool>,
    pub max_batch_jobs: usize,
    /// The number of pages in the log after the last commit.
    pub wal_pages: Arc<AtomicI32>,
    pub flush: Arc<FlushTimer>,
    /// The continuous archive, if there is one.
    pub archived_log: Option<ArchivedLog>,
}

/// Returns a counter. After each commit that writes pages, SQLite sets it to the number of pages in the log.
pub fn count_wal_pages(connection: &mut Connection) -> Result<Arc<AtomicI32>, StoreError> {
    let wal_pages = Arc::new(AtomicI32::new(0));
    let counter = wal_pages.clone();
    let count = move |_: &mut Wal, pages| {
        counter.store(pages, Ordering::Relaxed);
        Ok(())
    };
    connection.wal_hook(Some(count)).map_err(database)?;
    Ok(wal_pages)
}

impl Writer {
    pub fn run(self, connection: &Connection) {
        let statements = &mut Statements::on(connection);
        while let Ok(first) = self.jobs.recv() {
            let mut batch = vec![first];
            match self.commit_batch(statements, &mut batch) {
                Ok(()) => {
                    if self.closing.load(Ordering::SeqCst) {
                        match &self.archived_log {
                            Some(log) => log.close(statements),
                            None => truncate_wal(statements),
                        }
                    }
                    complete_all(batch, || Ok(()));
                }
                Err(cause) if is_fatal(&cause) => {
                    self.stopped.store(true, Ordering::SeqCst);
                    tracing::error!(error = %cause, "flush failed, store stopped");
                    self.failing.send_replace(true);
                    complete_all(batch, || Err(StoreError::Stopped));
                    complete_all(self.jobs.try_iter().collect(), || Err(StoreError::Stopped));
                    return;
                }
                Err(cause) => {
                    tracing::error!(error = %cause, "write batch rolled back");
                    let reason = cause.to_string();
                    complete_all(batch, || Err(StoreError::Unavailable(reason.clone())));
                }
            }
        }
    }

    /// Runs the first job, and all jobs that are queued in the meantime, in one transaction.
    ///
    /// A job that fails has rarely changed data before the failure. If it has, the writer rolls back the
    /// batch and runs the batch again, with a savepoint for each job. The first run has no savepoints,
    /// because they are expensive: SQLite copies each page before a job changes it.
    fn commit_batch(
        &self,
        statements: &mut Statements,
        batch: &mut Vec<Box<dyn WriteJob>>,
    ) -> Result<(), StoreError> {
        let committed = self.commit(statements, batch, RollbackScope::Batch)?;
        let topics = match committed {
            None => self.commit(statements, batch, RollbackScope::Job)?,
            committed => committed,
        };
        metrics::histogram!("garth_store_batch_jobs").record(batch.len() as f64);
        self.notifier.notify(topics.unwrap_or_default());
        Ok(())
    }

    /// Runs and commits a batch. Returns the topics to notify, or `None` if the batch was rolled back because one job
    /// failed.
    fn commit(
        &self,
        statements: &mut Statements,
        batch: &mut Vec<Box<dyn WriteJob>>,
        scope: RollbackScope,
    ) -> Result<Option<BTreeSet<Topic>>, StoreError> {
        statements.run("BEGIN IMMEDIATE")?;
        let committed = self.run_jobs(statements, batch, scope).and_then(|topics| {
            if topics.is_some() {
                self.flush.time(|| self.flush(statements))?;
            }
            Ok(topics)
        });
        if !statements.is_autocommit() {
            let _ = statements.run("ROLLBACK");
        }
        committed
    }

    /// Commits the transaction. Returns whether the commit has written pages.
    fn flush(&self, statements: &mut Statements) -> Result<bool, StoreError> {
        // The WAL hook sets the counter only if the commit writes pages.
        self.wal_pages.store(0, Ordering::Relaxed);
        statements.run("COMMIT")?;
        self.checkpoint(statements)?;
        Ok(self.wal_pages.load(Ordering::Relaxed) > 0)
    }

    /// If the log is long, moves it into the database file and flushes the file. The checkpoint is part of
    /// the commit: if the checkpoint fails, the callers get an error.
    fn checkpoint(&self, statements: &mut Statements) -> Result<(), StoreError> {
        let wal_pages = self.wal_pages.load(Ordering::Relaxed);
        if let Some(log) = &self.archived_log {
            return log.after_commit(statements, wal_pages);
        }
        if wal_pages < CHECKPOINT_PAGES {
            return Ok(());
        }
        match statements.query("PRAGMA wal_checkpoint(PASSIVE)", &[]) {
            Err(StoreError::Unavailable(_)) | Ok(_) => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    /// Runs the jobs of a batch. Returns the topics to notify, or `None` if the batch must be rolled back because one
    /// job failed.
    fn run_jobs(
        &self,
        statements: &mut Statements,
        batch: &mut Vec<Box<dyn WriteJob>>,
        scope: RollbackScope,
    ) -> Result<Option<BTreeSet<Topic>>, StoreError> {
        let mut topics = BTreeSet::new();
        let mut tally_changes = TallyChanges::default();
        let mut changes = PendingChanges::default();
        let (mut next, mut runs) = (0, 1);
        while next < batch.len() {
            if scope == RollbackScope::Job {
                statements.run("SAVEPOINT job")?;
            }
            statements.take_changed();
            statements.take_conflicted();
            let policy = self.context.policy.get();
            let mut tx = WriteTx::new(statements, &self.context, &policy, Some(&tally_changes));
            let commit = batch[next].run(&mut tx);
            if commit {
                let finished = tx.finish()?;
                topics.extend(finished.topics);
                tally_changes.merge(finished.tallies);
                changes.merge(finished.changes);
            } else if statements.take_changed() {
                match scope {
                    RollbackScope::Batch => return Ok(None),
                    RollbackScope::Job => statements.run("ROLLBACK TO job")?,
                }
            }
            // After some errors, SQLite itself rolls back the transaction. Each later statement would then commit by
            // itself.
            if statements.is_autocommit() {
                let text = "the database has rolled back the whole transaction";
                return Err(StoreError::Unavailable(text.to_owned()));
            }
            if scope == RollbackScope::Job {
                statements.run("RELEASE job")?;
            }
            if !commit && statements.take_conflicted() && runs < MAX_CONFLICT_RUNS {
                runs += 1;
                continue;
            }
            (next, runs) = (next + 1, 1);
            if next == batch.len() && next < self.max_batch_jobs {
                batch.extend(self.jobs.try_recv().ok());
            }
        }
        tally_changes.write(statements)?;
        changes.write(statements)?;
        Ok(Some(topics))
    }
}

/// Moves the whole log into the database file. After a shutdown, the file alone is then a complete backup. If
/// this fails, no data is lost, because SQLite reads the log at the next start.
fn truncate_wal(statements: &mut Statements) {
    if let Err(cause) = statements.query("PRAGMA wal_checkpoint(TRUNCATE)", &[]) {
        tracing::warn!(error = %cause, "wal checkpoint failed");
    }
}

fn complete_all(batch: Vec<Box<dyn WriteJob>>, ended: impl Fn() -> Result<(), StoreError>) {
    for job in batch {
        job.complete(ended());
    }
}

/// Whether an error means that the data on disk may differ from the data that was written.
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
