//! Read connections: one for each thread that calls the store, and one for each reader thread (decision 0020).

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use crossbeam_channel::Receiver;
use rusqlite::Connection;
use self_cell::self_cell;

use super::opening::open_reader;
use super::statements::{Statements, database};
use crate::store::context::StoreContext;
use crate::store::error::StoreError;
use crate::store::task::ReadJob;
use crate::store::tx::ReadTx;

/// SQLite interrupts a statement on the caller's thread after this number of virtual machine instructions.
/// They take about a millisecond.
const MAX_INLINE_INSTRUCTIONS: i32 = 50_000;

self_cell!(
    struct Reader {
        owner: Connection,
        #[covariant]
        dependent: Statements,
    }
);

/// The connection of one thread to a store. Each thread has its own connection, so that the pages and
/// statements of the connection remain in the cache of a core.
struct ThreadReader {
    /// Identifies the store, and shows whether the store was dropped.
    store: Weak<PathBuf>,
    reader: Reader,
    /// Whether SQLite interrupted the last read.
    interrupted: Arc<AtomicBool>,
}

thread_local! {
    static THREAD_READERS: RefCell<Vec<ThreadReader>> = const { RefCell::new(Vec::new()) };
}

impl ThreadReader {
    fn open(file: &Arc<PathBuf>) -> Result<Self, StoreError> {
        let mut connection = open_reader(file)?;
        let interrupted = Arc::new(AtomicBool::new(false));
        let interrupt = interrupted.clone();
        let on_limit = move || {
            interrupt.store(true, Ordering::Relaxed);
            true
        };
        connection
            .progress_handler(MAX_INLINE_INSTRUCTIONS, Some(on_limit))
            .map_err(database)?;
        Ok(Self {
            store: Arc::downgrade(file),
            reader: Reader::new(connection, |connection| Statements::on(connection)),
            interrupted,
        })
    }

    fn is_for(&self, file: &Arc<PathBuf>) -> bool {
        std::ptr::eq(self.store.as_ptr(), Arc::as_ptr(file))
    }

    /// Runs a job. Returns false if SQLite interrupted the job, or if the transaction failed.
    fn run(&mut self, job: &mut dyn ReadJob, context: &StoreContext) -> bool {
        self.interrupted.store(false, Ordering::Relaxed);
        let read = |_: &Connection, statements: &mut Statements| run_read(statements, job, context);
        let ended = self.reader.with_dependent_mut(read);
        ended.is_ok() && !self.interrupted.load(Ordering::Relaxed)
    }
}

/// Runs a job on the thread of the caller. Returns false if SQLite interrupted the job, or if the thread's connection
/// is not available.
pub fn try_read_inline(file: &Arc<PathBuf>, job: &mut dyn ReadJob, context: &StoreContext) -> bool {
    let read = |readers: &RefCell<Vec<ThreadReader>>| {
        // The borrow fails if this thread is already running a read.
        let mut readers = readers.try_borrow_mut().ok()?;
        let at = match readers.iter().position(|reader| reader.is_for(file)) {
            Some(at) => at,
            None => {
                readers.retain(|reader| reader.store.strong_count() > 0);
                readers.push(ThreadReader::open(file).ok()?);
                readers.len() - 1
            }
        };
        Some(readers[at].run(job, context))
    };
    THREAD_READERS.try_with(read).ok().flatten().unwrap_or(false)
}

/// Runs queued reads on a reader thread until the store is dropped.
pub fn read_loop(connection: &Connection, jobs: &Receiver<Box<dyn ReadJob>>, context: &StoreContext) {
    let mut statements = Statements::on(connection);
    for mut job in jobs {
        if !job.is_canceled() {
            let ended = run_read(&mut statements, &mut *job, context);
            job.complete(ended);
        }
    }
}

/// Runs a job in a read transaction. After a read of a damaged page, the transaction cannot be committed. The result of
/// the job is valid nevertheless, because it changes nothing and has its own error.
pub fn run_read(
    statements: &mut Statements,
    job: &mut dyn ReadJob,
    context: &StoreContext,
) -> Result<(), StoreError> {
    statements.run("BEGIN")?;
    let policy = context.policy.get();
    job.run(&mut ReadTx::new(statements, context, &policy));
    match statements.run("COMMIT") {
        Err(_) if !statements.is_autocommit() => statements.run("ROLLBACK"),
        _ => Ok(()),
    }
}
