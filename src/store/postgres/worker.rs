//! The worker threads. Each has a connection and takes jobs from the queues.
//!
//! Writes are SERIALIZABLE. If two transactions conflict, PostgreSQL aborts one of them. The worker then
//! retries the aborted transaction, and the caller gets no error. Writes to the same account wait for each
//! other, on all nodes. This only avoids conflicts: correctness does not depend on it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select};

use super::connection::Connection;
use super::failure::{Failure, FailureKind};
use super::node_notifications::{CHANNEL, NodeNotifications};
use super::reconnect::{ReconnectingConnection, sleep_before_retry};
use super::write_queue::{QueuedWrite, WriteQueue};
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::notifier::{Notifier, Topic};
use crate::store::task::{ReadJob, WriteJob};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::write_lock::WriteLock;

const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";
/// The maximum time to wait for a job when no rollback is deferred.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);
const MAX_WRITE_ATTEMPTS: u32 = 40;
/// A write that fails more than this time after its start is not retried.
const MAX_WRITE_RETRY_TIME: Duration = Duration::from_secs(15);
/// A write that has violated a constraint this number of times is not retried again, because the cause is
/// then probably not a concurrent write.
const MAX_CONSTRAINT_ATTEMPTS: u32 = 5;

pub struct Worker {
    pub connection: ReconnectingConnection,
    pub reads: Receiver<Box<dyn ReadJob>>,
    pub writes: Receiver<QueuedWrite>,
    pub write_queue: Arc<WriteQueue>,
    /// Becomes disconnected when the store is dropped.
    pub open: Receiver<()>,
    pub context: Arc<StoreContext>,
    pub notifier: Arc<Notifier>,
    pub node_notifications: Arc<NodeNotifications>,
}

/// The outcome of one attempt of a write.
enum Attempt {
    /// The write has ended with this result.
    Finished(Result<(), StoreError>),
    /// The attempt was rolled back, and a retry may succeed.
    Retry(Failure),
}

impl Worker {
    pub fn run(mut self) {
        loop {
            // A read defers its rollback to the next transaction. If no job is waiting, run the rollback now.
            let timeout = match self.connection.has_deferred_rollback() {
                true => Duration::ZERO,
                false => IDLE_TIMEOUT,
            };
            select! {
                recv(self.reads) -> job => match job {
                    Ok(job) => self.read(job),
                    Err(_) => return,
                },
                recv(self.writes) -> write => match write {
                    Ok(write) => self.write(write),
                    Err(_) => return,
                },
                recv(self.open) -> _ => return,
                default(timeout) => self.run_deferred_rollback(),
            }
        }
    }

    fn run_deferred_rollback(&mut self) {
        let ended = self.connection.run_deferred_rollback();
        self.clean_up_after(ended);
    }

    fn clean_up_after(&mut self, ended: Result<(), Failure>) {
        if let Err(failure) = ended {
            let cause = failure.text;
            tracing::debug!(error = cause, "read transaction not ended");
        }
        self.connection.drop_broken();
    }

    fn read(&mut self, mut job: Box<dyn ReadJob>) {
        if job.is_canceled() {
            return;
        }
        let connection = match self.connection.get() {
            Ok(connection) => connection,
            Err(cause) => return job.complete(Err(cause)),
        };
        connection.begin(BEGIN_READ, &BTreeSet::new());
        let policy = self.context.policy.get();
        job.run(&mut ReadTx::new(connection, &self.context, &policy));
        // The job's result contains any error. The caller does not have to wait for the end of a read transaction.
        job.complete(Ok(()));
        let ended = connection.end_read();
        self.clean_up_after(ended);
    }

    fn write(&mut self, write: QueuedWrite) {
        let QueuedWrite { job, lock } = write;
        self.write_queue.start();
        self.write_with_retries(job, lock);
        self.write_queue.release(lock);
    }

    fn write_with_retries(&mut self, mut job: Box<dyn WriteJob>, lock: Option<WriteLock>) {
        let (started, mut locks) = (Instant::now(), BTreeSet::from_iter(lock));
        for attempt in 1.. {
            match self.try_write(&mut job, &mut locks) {
                Attempt::Finished(result) => return job.complete(result),
                Attempt::Retry(failure) => {
                    metrics::counter!("garth_store_retries_total").increment(1);
                    let max_attempts = if failure.kind == FailureKind::Constraint {
                        MAX_CONSTRAINT_ATTEMPTS
                    } else {
                        MAX_WRITE_ATTEMPTS
                    };
                    if attempt >= max_attempts || started.elapsed() > MAX_WRITE_RETRY_TIME {
                        return job.complete(Err(failure.into_store_error()));
                    }
                    sleep_before_retry(attempt);
                }
            }
        }
    }

    fn try_write(&mut self, job: &mut Box<dyn WriteJob>, locks: &mut BTreeSet<WriteLock>) -> Attempt {
        let connection = match self.connection.get() {
            Ok(connection) => connection,
            Err(cause) => return Attempt::Finished(Err(cause)),
        };
        let outcome = run_transaction(connection, job, locks, &self.context);
        // A retry takes the locks of the accounts with new events before its transaction begins.
        locks.extend(connection.event_locks());
        self.connection.drop_broken();
        match outcome {
            Ok((result, topics)) => {
                self.notifier.notify(topics.iter().copied());
                self.node_notifications.add(topics);
                Attempt::Finished(result)
            }
            Err(failure) => Attempt::Retry(failure),
        }
    }
}

/// Runs a write from BEGIN to COMMIT. Returns the result of the write, and the topics to notify. A `Failure`
/// means that the transaction did not commit and can be retried.
fn run_transaction(
    connection: &mut Connection,
    job: &mut Box<dyn WriteJob>,
    locks: &BTreeSet<WriteLock>,
    context: &StoreContext,
) -> Result<(Result<(), StoreError>, BTreeSet<Topic>), Failure> {
    connection.begin(BEGIN_WRITE, locks);
    let policy = context.policy.get();
    let mut tx = WriteTx::new(connection, context, &policy, None);
    let commit = job.run(&mut tx);
    let finished = match commit {
        true => tx.finish().and_then(|finished| {
            finished.tallies.write(connection)?;
            finished.changes.write(connection)?;
            Ok(finished.topics)
        }),
        false => Ok(BTreeSet::new()),
    };
    if let Some(failure) = connection.failure().cloned() {
        if failure.kind != FailureKind::Lost {
            connection.roll_back()?;
        }
        return match failure.kind {
            FailureKind::Contended | FailureKind::Constraint | FailureKind::Lost => Err(failure),
            // PostgreSQL has ignored all statements after the failure, even if the job has handled the error.
            FailureKind::Busy | FailureKind::Invalid => {
                Ok((Err(failure.into_store_error()), BTreeSet::new()))
            }
        };
    }
    let topics = match finished {
        Ok(topics) if commit => topics,
        finished => {
            connection.roll_back()?;
            return Ok((finished.map(drop), BTreeSet::new()));
        }
    };
    // Changes of permissions are rare and must reach all nodes immediately, so the transaction itself notifies the
    // nodes. Notifications of events are sent after the commit, because PostgreSQL serializes the commits of
    // transactions that notify.
    let notify = match topics.contains(&Topic::Everyone) {
        true => format!("NOTIFY {CHANNEL}, 'all'; "),
        false => String::new(),
    };
    match connection.commit(&notify) {
        Ok(()) => Ok((Ok(()), topics)),
        Err(failure) if matches!(failure.kind, FailureKind::Contended | FailureKind::Constraint) => {
            Err(failure)
        }
        Err(failure) if failure.kind == FailureKind::Lost => {
            tracing::warn!(error = failure.text, "commit outcome unknown");
            let text = format!("the outcome of the commit is unknown: {}", failure.text);
            // Not retried: the transaction may have committed.
            Ok((Err(StoreError::Unavailable(text)), BTreeSet::new()))
        }
        Err(failure) => Ok((Err(failure.into_store_error()), BTreeSet::new())),
    }
}
