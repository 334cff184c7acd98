//! The embedded engine: SQLite, with many readers and one writer that commits in batches (group commit).
//!
//! - **Reads**: most reads take a few microseconds, less than a switch to another thread. So a read runs on the thread
//!   of the caller, which has its own connection. If the read takes longer, it is interrupted, and a reader thread
//!   runs it again.
//! - **Writes**: the writer commits all queued writes together, so that many callers share one flush. It sends the
//!   results after the flush.
//! - **A failed flush** stops the store permanently. The kernel may have dropped the pages that it could not write, so
//!   a second flush could report success although data is lost.

mod archived_log;
mod changed_pages;
mod flush_timer;
mod frame_replay;
mod log_copier;
mod memory_copy;
mod opening;
mod readers;
mod restore_target;
mod statements;
mod wal_file;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Sender, TrySendError, bounded};
use tokio::sync::watch;

use super::context::StoreContext;
use super::engine::{CheckDepth, DatabaseCopy, Engine};
use super::error::StoreError;
use super::log_archive::ArchiveStart;
use super::migrate::Schema;
use super::notifier::Notifier;
use super::task::{MAX_QUEUED_PROBES, MAX_QUEUED_READS, MAX_QUEUED_WRITES, ReadJob, WriteJob};
use super::write_lock::WriteLock;
use archived_log::ArchivedLog;
use flush_timer::FlushTimer;
pub use frame_replay::FrameReplay;
pub use log_copier::LogCopier;
use memory_copy::MemoryCopy;
use opening::{make_private_file, make_private_folder, migrate_embedded, open_reader, open_writer};
pub use restore_target::{mark_target, remove_database, target_state};
use writer::{Writer, count_wal_pages};
#[cfg(test)]
pub(super) use {opening::DIALECT, statements::Statements};

const FILE: &str = "garth.db";
/// The maximum number of writes that share a commit.
pub const MAX_BATCH_JOBS: usize = 256;

pub struct Sqlite {
    /// The database file. Each thread that reads has its own connection to it.
    file: Arc<PathBuf>,
    context: Arc<StoreContext>,
    reads: Sender<Box<dyn ReadJob>>,
    probes: Sender<Box<dyn ReadJob>>,
    writes: Sender<Box<dyn WriteJob>>,
    flush: Arc<FlushTimer>,
    /// Whether a flush has failed. The store then refuses writes.
    stopped: Arc<AtomicBool>,
    /// Whether the server is shutting down.
    closing: Arc<AtomicBool>,
    failed: watch::Receiver<bool>,
}

impl Sqlite {
    pub fn open(
        folder: &Path,
        schema: &Schema,
        context: Arc<StoreContext>,
        notifier: Arc<Notifier>,
        max_batch_jobs: usize,
        archive: Option<ArchiveStart>,
    ) -> Result<(Self, Option<Arc<LogCopier>>), StoreError> {
        make_private_folder(folder)?;
        let file = Arc::new(folder.join(FILE));
        make_private_file(&file)?;
        let mut connection = open_writer(&file)?;
        let archived_log = match archive {
            Some(start) => Some(ArchivedLog::open(&file, start, context.clone())?),
            None => None,
        };
        let copier = archived_log.as_ref().map(|log| log.copier.clone());
        migrate_embedded(&connection, schema, &context)?;

        let (reads, queued_reads) = bounded::<Box<dyn ReadJob>>(MAX_QUEUED_READS);
        let readers = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        for number in 0..readers {
            let (connection, jobs, context) = (open_reader(&file)?, queued_reads.clone(), context.clone());
            spawn(format!("store-read-{number}"), move || {
                readers::read_loop(&connection, &jobs, &context);
            })?;
        }

        let (probes, queued_probes) = bounded::<Box<dyn ReadJob>>(MAX_QUEUED_PROBES);
        let (probe_connection, probe_context) = (open_reader(&file)?, context.clone());
        spawn("store-probe".to_owned(), move || {
            readers::read_loop(&probe_connection, &queued_probes, &probe_context);
        })?;

        let (writes, jobs) = bounded::<Box<dyn WriteJob>>(MAX_QUEUED_WRITES);
        let (failing, failed) = watch::channel(false);
        let flush = Arc::new(FlushTimer::default());
        let stopped = Arc::new(AtomicBool::new(false));
        let closing = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            jobs,
            context: context.clone(),
            notifier,
            stopped: stopped.clone(),
            closing: closing.clone(),
            failing,
            max_batch_jobs,
            wal_pages: count_wal_pages(&mut connection)?,
            flush: flush.clone(),
            archived_log,
        };
        spawn("store-write".to_owned(), move || writer.run(&connection))?;
        let engine = Self {
            file,
            context,
            reads,
            probes,
            writes,
            flush,
            stopped,
            closing,
            failed,
        };
        Ok((engine, copier))
    }
}

impl Engine for Sqlite {
    fn try_read_inline(&self, job: &mut dyn ReadJob) -> bool {
        readers::try_read_inline(&self.file, job, &self.context)
    }

    fn read(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError> {
        submit(&self.reads, job)
    }

    fn probe(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError> {
        submit(&self.probes, job)
    }

    fn flushing(&self) -> Option<Duration> {
        self.flush.running_for()
    }

    fn write(&self, job: Box<dyn WriteJob>, _: Option<WriteLock>) -> Result<(), StoreError> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(StoreError::Stopped);
        }
        submit(&self.writes, job)
    }

    fn check(&self, depth: CheckDepth) -> Result<Vec<String>, StoreError> {
        opening::check(&self.file, depth)
    }

    fn copy(&self) -> Result<Option<Box<dyn DatabaseCopy>>, StoreError> {
        Ok(Some(Box::new(MemoryCopy::of(&self.file)?)))
    }

    fn failed(&self) -> watch::Receiver<bool> {
        self.failed.clone()
    }

    fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }
}

/// Reads the database file in a folder and returns the errors in its structure, even if the store cannot be opened.
pub fn check_file(folder: &Path) -> Result<Vec<String>, StoreError> {
    opening::check_unopened(&folder.join(FILE))
}

fn submit<J>(queue: &Sender<J>, job: J) -> Result<(), StoreError> {
    queue.try_send(job).map_err(|refused| match refused {
        TrySendError::Full(_) => StoreError::Full,
        TrySendError::Disconnected(_) => StoreError::Stopped,
    })
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
    let spawned = thread::Builder::new().name(name).spawn(work);
    spawned
        .map(drop)
        .map_err(|e| StoreError::Files("starting a store thread".to_owned(), e))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::cli::{Settings, policy_of};
    use crate::store::context::{Clock, RandomSource, StoreContext};
    use crate::store::error::StoreError;
    use crate::store::tx::{ReadTx, WriteTx};
    use crate::store::value::args;
    use crate::store::{Store, sqlite};

    /// Counts to `end` in SQL. With a large `end`, the read takes a long time.
    fn count_to(tx: &mut ReadTx, end: i64) -> Result<i64, StoreError> {
        let sql = "WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < $1)
            SELECT count(*) FROM count";
        tx.one(sql, args![end])?.take()
    }

    fn empty_store(name: &str) -> (Store, PathBuf) {
        let folder = std::env::temp_dir().join(format!("garth-{name}-{}", std::process::id()));
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&Settings::default()).unwrap().into(),
        };
        let store = Store::open_embedded_batching(&folder, context, sqlite::MAX_BATCH_JOBS).unwrap();
        (store, folder)
    }

    #[tokio::test]
    async fn a_long_read_runs_again_on_a_reader_thread_and_a_short_read_runs_once() {
        let (store, folder) = empty_store("reads");
        for (end, runs) in [(10, 1), (1_000_000, 2), (10, 1)] {
            let counted = Arc::new(AtomicUsize::new(0));
            let count = counted.clone();
            let caller = std::thread::current().id();
            let read = store.read(move |tx| {
                count.fetch_add(1, Ordering::SeqCst);
                Ok::<_, StoreError>((count_to(tx, end)?, std::thread::current().id() == caller))
            });
            assert_eq!(read.await.unwrap(), (end, runs == 1));
            assert_eq!(counted.load(Ordering::SeqCst), runs);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_canceled_read_does_not_run() {
        let (store, folder) = empty_store("canceled");
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let (begin, begun) = crossbeam_channel::bounded(threads);
        let (hold, held) = crossbeam_channel::bounded::<()>(0);
        let busy: Vec<_> = (0..threads)
            .map(|_| {
                let (store, begin, held) = (store.clone(), begin.clone(), held.clone());
                tokio::spawn(async move {
                    let read = store.read_once(move |_| {
                        begin.send(()).unwrap();
                        let _ = held.recv();
                        Ok::<_, StoreError>(())
                    });
                    read.await
                })
            })
            .collect();
        begun.iter().take(threads).for_each(drop);
        let counted = Arc::new(AtomicUsize::new(0));
        let read = || {
            let (store, count) = (store.clone(), counted.clone());
            tokio::spawn(async move {
                let read = store.read_once(move |_| {
                    count.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, StoreError>(())
                });
                read.await
            })
        };
        let canceled = read();
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        canceled.abort();
        assert!(canceled.await.unwrap_err().is_cancelled());
        let awaited = read();
        drop(hold);
        for read in busy.into_iter().chain([awaited]) {
            read.await.unwrap().unwrap();
        }
        assert_eq!(counted.load(Ordering::SeqCst), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_refused_write_is_rolled_back_and_the_other_writes_of_its_batch_commit() {
        let (store, folder) = empty_store("refused");
        let table = store.write(|tx| tx.execute("CREATE TABLE thing (number BIGINT)", args![]));
        table.await.unwrap();
        let (begin, begun) = crossbeam_channel::unbounded();
        let (hold, held) = crossbeam_channel::bounded::<()>(0);
        let first = tokio::spawn({
            let store = store.clone();
            let write = move |_: &mut WriteTx<'_>| {
                begin.send(()).unwrap();
                let _ = held.recv();
                Ok::<_, StoreError>(())
            };
            async move { store.write(write).await }
        });
        begun.recv().unwrap();
        let counted = Arc::new(AtomicUsize::new(0));
        let writes: Vec<_> = (0..9)
            .map(|number: i64| {
                let (store, count) = (store.clone(), counted.clone());
                let write = move |tx: &mut WriteTx<'_>| {
                    count.fetch_add(1, Ordering::SeqCst);
                    tx.execute("INSERT INTO thing VALUES ($1)", args![number])?;
                    match number % 3 {
                        1 => Err(StoreError::Unexpected("refused".to_owned())),
                        _ => Ok(()),
                    }
                };
                tokio::spawn(async move { store.write(write).await })
            })
            .collect();
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        drop(hold);

        first.await.unwrap().unwrap();
        for (number, write) in writes.into_iter().enumerate() {
            assert_eq!(write.await.unwrap().is_ok(), number % 3 != 1, "{number}");
        }
        assert!(
            counted.load(Ordering::SeqCst) > 9,
            "the writes were not in one batch"
        );
        let read = store.read(|tx| {
            let sql = "SELECT number FROM thing ORDER BY number";
            tx.read(sql, args![], |row| row.take::<i64>())
        });
        assert_eq!(read.await.unwrap(), [0, 2, 3, 5, 6, 8]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn writes_report_whether_they_were_committed_after_sqlite_has_rolled_back_their_batch() {
        let (store, folder) = empty_store("ended");
        let table = store.write(|tx| tx.execute("CREATE TABLE thing (number BIGINT)", args![]));
        table.await.unwrap();
        let (begin, begun) = crossbeam_channel::unbounded();
        let (hold, held) = crossbeam_channel::bounded::<()>(0);
        let ended = tokio::spawn({
            let store = store.clone();
            // After some errors, such as an I/O error, SQLite itself rolls back the transaction.
            let write = move |tx: &mut WriteTx<'_>| {
                begin.send(()).unwrap();
                let _ = held.recv();
                tx.execute("ROLLBACK", args![]).map(drop)
            };
            async move { store.write(write).await }
        });
        begun.recv().unwrap();
        let next = tokio::spawn({
            let store = store.clone();
            let write = |tx: &mut WriteTx<'_>| tx.execute("INSERT INTO thing VALUES (1)", args![]);
            async move { store.write(write).await }
        });
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        drop(hold);

        assert!(ended.await.unwrap().is_err());
        let reported = next.await.unwrap().is_ok();
        assert_eq!(
            count_things(&store).await == 1,
            reported,
            "the result of a write shows whether it was committed"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_that_violates_a_constraint_is_retried() {
        let (store, folder) = empty_store("conflict");
        let table = store.write(|tx| tx.execute("CREATE TABLE thing (number BIGINT PRIMARY KEY)", args![]));
        table.await.unwrap();
        let mut next = 0_i64;
        let insert = move |from: i64| {
            let mut number = from;
            move |tx: &mut WriteTx<'_>| {
                number += 1;
                tx.execute("INSERT INTO thing VALUES ($1)", args![number])
            }
        };
        store.write(insert(0)).await.unwrap();
        store.write(insert(1)).await.unwrap();
        // The numbers of the first two runs are already in the table.
        store.write(insert(0)).await.unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let count = runs.clone();
        let conflicting = store.write(move |tx: &mut WriteTx<'_>| {
            count.fetch_add(1, Ordering::SeqCst);
            next += 100;
            tx.execute("INSERT INTO thing VALUES ($1)", args![next])?;
            tx.execute("INSERT INTO thing VALUES (1)", args![])
        });
        assert!(matches!(conflicting.await, Err(StoreError::Conflict(_))));
        assert!((2..10).contains(&runs.load(Ordering::SeqCst)));
        assert_eq!(count_things(&store).await, 3, "a failed run leaves no rows");
        std::fs::remove_dir_all(folder).unwrap();
    }

    async fn count_things(store: &Store) -> i64 {
        let count = store.read(|tx| tx.one("SELECT count(*) FROM thing", args![])?.take());
        count.await.unwrap()
    }
}
