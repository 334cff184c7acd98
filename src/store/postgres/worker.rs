//! The threads that do the work: each owns a line to the database and takes whatever waits.
//!
//! A write is SERIALIZABLE, so of two that cannot both have happened in either order, one is undone by the
//! database; it is run again here, and nobody above learns of it. Writes that are known to concern the same
//! account wait for each other instead, across all nodes. That is for speed; what is right does not hang on it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select};

use super::connection::Connection;
use super::failure::{Failure, Kind};
use super::line::{Line, pause};
use super::node_notifications::NodeNotifications;
use super::turns::{Turn, Turns};
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::notifier::{Notifier, Topic};
use crate::store::task::{ReadJob, WriteJob};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::write_lock::WriteLock;

const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const WRITE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";
/// For how long nothing need be done when there is nothing to do.
const LONG: Duration = Duration::from_secs(3600);
/// How often a write is run at most, and for how long.
const ATTEMPTS: u32 = 40;
const PATIENCE: Duration = Duration::from_secs(15);
/// A constraint that still says no after so many runs was not violated by chance.
const CHANCES: u32 = 5;

pub struct Worker {
    pub line: Line,
    pub reads: Receiver<Box<dyn ReadJob>>,
    pub writes: Receiver<Turn>,
    pub turns: Arc<Turns>,
    /// Ends when the store does.
    pub open: Receiver<()>,
    pub context: Arc<StoreContext>,
    pub notifier: Arc<Notifier>,
    pub node_notifications: Arc<NodeNotifications>,
}

/// How a run of a write ended.
enum Run {
    /// It is over, and this is what to tell.
    Over(Result<(), StoreError>),
    /// Nothing of it was kept, and another run may fare better.
    Again(Failure),
}

impl Worker {
    pub fn run(mut self) {
        loop {
            // Whoever only looked has left the end of that to what comes next. If nothing waits, it is now.
            let patience = match self.line.is_looking() {
                true => Duration::ZERO,
                false => LONG,
            };
            select! {
                recv(self.reads) -> job => match job {
                    Ok(job) => self.read(job),
                    Err(_) => return,
                },
                recv(self.writes) -> turn => match turn {
                    Ok(turn) => self.write(turn),
                    Err(_) => return,
                },
                recv(self.open) -> _ => return,
                default(patience) => self.look_away(),
            }
        }
    }

    fn look_away(&mut self) {
        let ended = self.line.look_away();
        self.tidy_after(ended);
    }

    fn tidy_after(&mut self, ended: Result<(), Failure>) {
        if let Err(failure) = ended {
            let cause = failure.text;
            tracing::debug!(cause, "a transaction that only looked was not ended");
        }
        self.line.tidy();
    }

    fn read(&mut self, mut job: Box<dyn ReadJob>) {
        if !job.is_wanted() {
            return;
        }
        let connection = match self.line.ready() {
            Ok(connection) => connection,
            Err(cause) => return job.answer(Err(cause)),
        };
        connection.begin(READ, &BTreeSet::new());
        job.run(&mut ReadTx::new(connection, &self.context));
        // What went wrong is in the job's own result. What went right does not depend on the end of a
        // transaction that changes nothing, so nobody waits for that.
        job.answer(Ok(()));
        let ended = connection.look_no_more();
        self.tidy_after(ended);
    }

    fn write(&mut self, turn: Turn) {
        let Turn { job, lock } = turn;
        self.turns.begin();
        self.write_until_kept(job, lock);
        self.turns.end(lock);
    }

    fn write_until_kept(&mut self, mut job: Box<dyn WriteJob>, lock: Option<WriteLock>) {
        let (begun, mut locks) = (Instant::now(), BTreeSet::from_iter(lock));
        for attempt in 1.. {
            match self.run_once(&mut job, &mut locks) {
                Run::Over(ended) => return job.answer(ended),
                Run::Again(failure) => {
                    metrics::counter!("garth_store_retries_total").increment(1);
                    let most = if failure.kind == Kind::Constraint {
                        CHANCES
                    } else {
                        ATTEMPTS
                    };
                    if attempt >= most || begun.elapsed() > PATIENCE {
                        return job.answer(Err(failure.into_store_error()));
                    }
                    pause(attempt);
                }
            }
        }
    }

    fn run_once(&mut self, job: &mut Box<dyn WriteJob>, locks: &mut BTreeSet<WriteLock>) -> Run {
        let connection = match self.line.ready() {
            Ok(connection) => connection,
            Err(cause) => return Run::Over(Err(cause)),
        };
        let run = run_on(connection, job, locks, &self.context);
        // If it has to be run again, it waits from the beginning for all it got to know of.
        locks.extend(connection.ordered());
        self.line.tidy();
        match run {
            Ok((ended, topics)) => {
                self.notifier.notify(topics.iter().copied());
                self.node_notifications.add(topics);
                Run::Over(ended)
            }
            Err(failure) => Run::Again(failure),
        }
    }
}

/// One run from begin to commit; an error means that nothing was kept.
fn run_on(
    connection: &mut Connection,
    job: &mut Box<dyn WriteJob>,
    locks: &BTreeSet<WriteLock>,
    context: &StoreContext,
) -> Result<(Result<(), StoreError>, BTreeSet<Topic>), Failure> {
    connection.begin(WRITE, locks);
    let mut tx = WriteTx::new(connection, context, None);
    let keep = job.run(&mut tx);
    let finished = match keep {
        true => tx.finish().and_then(|finished| {
            finished.tallies.write(connection)?;
            finished.changes.write(connection)?;
            Ok(finished.topics)
        }),
        false => Ok(BTreeSet::new()),
    };
    if let Some(failure) = connection.failure().cloned() {
        if failure.kind != Kind::Lost {
            connection.roll_back()?;
        }
        return match failure.kind {
            Kind::Contended | Kind::Constraint | Kind::Lost => Err(failure),
            // The database took nothing after that, whatever the work made of it.
            Kind::Busy | Kind::Wrong => Ok((Err(failure.into_store_error()), BTreeSet::new())),
        };
    }
    let topics = match finished {
        Ok(topics) if keep => topics,
        finished => {
            connection.roll_back()?;
            return Ok((finished.map(drop), BTreeSet::new()));
        }
    };
    // Changes of who may do what are rare, and no node should hear of them late: they are announced by the
    // commit itself. Events are announced after it, because such commits happen one after another.
    let and = match topics.contains(&Topic::Everyone) {
        true => "NOTIFY garth_bell, 'all'; ",
        false => "",
    };
    match connection.commit(and) {
        Ok(()) => Ok((Ok(()), topics)),
        Err(failure) if matches!(failure.kind, Kind::Contended | Kind::Constraint) => Err(failure),
        Err(failure) if failure.kind == Kind::Lost => {
            tracing::warn!(cause = failure.text, "it is not known whether a commit was kept");
            let text = format!("it is not known whether the change was kept: {}", failure.text);
            // Not to be run again: it may have been kept.
            Ok((Err(StoreError::Unavailable(text)), BTreeSet::new()))
        }
        Err(failure) => Ok((Err(failure.into_store_error()), BTreeSet::new())),
    }
}
