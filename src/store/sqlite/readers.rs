//! Connections that look: one of each thread that asks, and those of the reader threads (decision 0020).

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

/// How many steps of SQLite's machine a statement may take on the thread that asks: about a millisecond.
const AT_ONCE: i32 = 50_000;

self_cell!(
    struct Reader {
        owner: Connection,
        #[covariant]
        dependent: Statements,
    }
);

/// The connection to a store that a thread has for itself, so that its pages and statements stay in that core's cache.
struct Near {
    /// The store's own copy of its path: it tells the store from others, and when it has ended.
    store: Weak<PathBuf>,
    reader: Reader,
    /// Whether it has interrupted what took too long.
    interrupted: Arc<AtomicBool>,
}

thread_local! {
    static MINE: RefCell<Vec<Near>> = const { RefCell::new(Vec::new()) };
}

impl Near {
    fn open(file: &Arc<PathBuf>) -> Result<Self, StoreError> {
        let mut connection = open_reader(file)?;
        let interrupted = Arc::new(AtomicBool::new(false));
        let interrupt = interrupted.clone();
        let too_long = move || {
            interrupt.store(true, Ordering::Relaxed);
            true
        };
        connection
            .progress_handler(AT_ONCE, Some(too_long))
            .map_err(database)?;
        Ok(Self {
            store: Arc::downgrade(file),
            reader: Reader::new(connection, |connection| Statements::on(connection)),
            interrupted,
        })
    }

    fn is_to(&self, file: &Arc<PathBuf>) -> bool {
        std::ptr::eq(self.store.as_ptr(), Arc::as_ptr(file))
    }

    fn run(&mut self, job: &mut dyn ReadJob, context: &StoreContext) -> bool {
        self.interrupted.store(false, Ordering::Relaxed);
        let look = |_: &Connection, statements: &mut Statements| look(statements, job, context);
        let ended = self.reader.with_dependent_mut(look);
        ended.is_ok() && !self.interrupted.load(Ordering::Relaxed)
    }
}

/// Runs a job on the thread that asks: true if it was over in no time.
pub fn read_here(file: &Arc<PathBuf>, job: &mut dyn ReadJob, context: &StoreContext) -> bool {
    let read = |mine: &RefCell<Vec<Near>>| {
        // Whoever asks in the middle of asking finds the thread's connection taken.
        let mut mine = mine.try_borrow_mut().ok()?;
        let at = match mine.iter().position(|near| near.is_to(file)) {
            Some(at) => at,
            None => {
                mine.retain(|near| near.store.strong_count() > 0);
                mine.push(Near::open(file).ok()?);
                mine.len() - 1
            }
        };
        Some(mine[at].run(job, context))
    };
    MINE.try_with(read).ok().flatten().unwrap_or(false)
}

/// What a reader thread does.
pub fn read_loop(connection: &Connection, jobs: &Receiver<Box<dyn ReadJob>>, context: &StoreContext) {
    let mut statements = Statements::on(connection);
    for mut job in jobs {
        if job.is_wanted() {
            let ended = look(&mut statements, &mut *job, context);
            job.answer(ended);
        }
    }
}

/// Runs a job in a transaction of its own.
fn look(
    statements: &mut Statements,
    job: &mut dyn ReadJob,
    context: &StoreContext,
) -> Result<(), StoreError> {
    let ended = statements.run("BEGIN").and_then(|()| {
        job.run(&mut ReadTx::new(statements, context));
        statements.run("COMMIT")
    });
    if ended.is_err() && !statements.is_at_rest() {
        let _ = statements.run("ROLLBACK");
    }
    ended
}
