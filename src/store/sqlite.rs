//! The embedded engine: SQLite, many readers, one writer that commits in groups.
//!
//! Most reads are over in a few microseconds, less than it takes to wake another thread and be woken by it:
//! these run where they are asked for, on a connection that is free. One that takes longer is interrupted
//! and run again by a reader thread, of which each owns a read-only connection. The writer takes whatever waits, gives each
//! job a savepoint of its own and commits them together, so that one flush of the disk serves
//! many callers. Nobody is answered before that flush has returned. When it fails, the store
//! stops for good: the system may have dropped what it could not write, and a second try would
//! report success for data that is gone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use tokio::sync::watch;

use super::Engine;
use super::bell::Bell;
use super::error::StoreError;
use super::migrate::{Dialect, migrate};
use super::tallies::Changes;
use super::task::{MOST_READS, MOST_WRITES, ReadJob, WriteJob};
use super::tx::{ReadTx, Sql, WriteTx};
use super::value::{Row, Value};
use super::world::World;
use crate::model::id::AccountId;

const FILE: &str = "garth.db";
pub(super) const DIALECT: Dialect = Dialect {
    identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
    keyed: " WITHOUT ROWID",
    text: "TEXT",
    search_table: "CREATE VIRTUAL TABLE ticket_text \
        USING fts5 (ticket UNINDEXED, body, tokenize = 'unicode61 remove_diacritics 0')",
};
/// How many jobs share a commit at most.
pub const GROUP: usize = 256;
/// How many pages the log may hold before they are moved into the database file.
const LOG_PAGES: i32 = 1000;
/// 3.51.3 mends a fault of the write-ahead log that could lose a commit.
const OLDEST: i32 = 3_051_003;

/// How many steps of SQLite's machine a statement may take on the thread that asks: about a millisecond.
const AT_ONCE: i32 = 50_000;

pub struct Sqlite {
    /// Connections for reads that are over at once.
    idle: (Sender<IdleReader>, Receiver<IdleReader>),
    world: Arc<World>,
    reads: Sender<Box<dyn ReadJob>>,
    writes: Sender<Box<dyn WriteJob>>,
    stopped: Arc<AtomicBool>,
    closing: Arc<AtomicBool>,
    failed: watch::Receiver<bool>,
}

/// A connection that waits for somebody who has little to ask.
struct IdleReader {
    connection: Connection,
    /// Whether it has interrupted what took too long.
    interrupted: Arc<AtomicBool>,
}

impl IdleReader {
    fn open(file: &Path) -> Result<Self, StoreError> {
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
            connection,
            interrupted,
        })
    }
}

impl Sqlite {
    pub fn open(folder: &Path, world: Arc<World>, bell: Arc<Bell>, group: usize) -> Result<Self, StoreError> {
        make_private_folder(folder)?;
        let file = folder.join(FILE);
        make_private_file(&file)?;
        let mut writer = open_writer(&file)?;
        migrate_embedded(&mut writer, &world)?;

        let (reads, waiting_reads) = bounded::<Box<dyn ReadJob>>(MOST_READS);
        let readers = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let idle = bounded(readers);
        for number in 0..readers {
            let _ = idle.0.send(IdleReader::open(&file)?);
            let (connection, jobs, world) = (open_reader(&file)?, waiting_reads.clone(), world.clone());
            spawn(format!("store-read-{number}"), move || {
                read_loop(&connection, &jobs, &world);
            })?;
        }

        let (writes, jobs) = bounded::<Box<dyn WriteJob>>(MOST_WRITES);
        let (failing, failed) = watch::channel(false);
        let stopped = Arc::new(AtomicBool::new(false));
        let closing = Arc::new(AtomicBool::new(false));
        let log_pages = Arc::new(AtomicI32::new(0));
        let counted = log_pages.clone();
        let count = move |_: &mut rusqlite::hooks::Wal, pages| {
            counted.store(pages, Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(count)).map_err(database)?;
        let writer = Writer {
            connection: writer,
            jobs,
            world: world.clone(),
            bell,
            stopped: stopped.clone(),
            closing: closing.clone(),
            failing,
            group,
            log_pages,
        };
        spawn("store-write".to_owned(), move || writer.run())?;
        Ok(Self {
            idle,
            world,
            reads,
            writes,
            stopped,
            closing,
            failed,
        })
    }
}

impl Engine for Sqlite {
    fn read_at_once(&self, job: &mut dyn ReadJob) -> bool {
        let (idle, waiting) = &self.idle;
        let Ok(reader) = waiting.try_recv() else {
            return false;
        };
        reader.interrupted.store(false, Ordering::Relaxed);
        let ended = look(&reader.connection, job, &self.world);
        let over = ended.is_ok() && !reader.interrupted.load(Ordering::Relaxed);
        let _ = idle.send(reader);
        over
    }

    fn read(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError> {
        submit(&self.reads, job)
    }

    fn write(&self, job: Box<dyn WriteJob>, _: Option<AccountId>) -> Result<(), StoreError> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(StoreError::Stopped);
        }
        submit(&self.writes, job)
    }

    fn failed(&self) -> watch::Receiver<bool> {
        self.failed.clone()
    }

    fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }
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

fn read_loop(connection: &Connection, jobs: &Receiver<Box<dyn ReadJob>>, world: &World) {
    for mut job in jobs {
        if job.is_wanted() {
            let ended = look(connection, &mut *job, world);
            job.answer(ended);
        }
    }
}

/// Runs a job in a transaction of its own.
fn look(connection: &Connection, job: &mut dyn ReadJob, world: &World) -> Result<(), StoreError> {
    let ended = run_command(connection, "BEGIN").and_then(|()| {
        job.run(&mut ReadTx::new(&mut &*connection, world));
        run_command(connection, "COMMIT")
    });
    if ended.is_err() && !connection.is_autocommit() {
        let _ = run_command(connection, "ROLLBACK");
    }
    ended
}

struct Writer {
    connection: Connection,
    jobs: Receiver<Box<dyn WriteJob>>,
    world: Arc<World>,
    bell: Arc<Bell>,
    stopped: Arc<AtomicBool>,
    /// The server is about to end: the log is emptied with the next commit.
    closing: Arc<AtomicBool>,
    failing: watch::Sender<bool>,
    group: usize,
    /// How many pages the log had after the last commit.
    log_pages: Arc<AtomicI32>,
}

impl Writer {
    fn run(self) {
        while let Ok(first) = self.jobs.recv() {
            let mut batch = vec![first];
            match self.commit_together(&mut batch) {
                Ok(()) => {
                    if self.closing.load(Ordering::SeqCst) {
                        self.empty_log();
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
    fn commit_together(&self, batch: &mut Vec<Box<dyn WriteJob>>) -> Result<(), StoreError> {
        run_command(&self.connection, "BEGIN IMMEDIATE")?;
        let done = self.run_jobs(batch).and_then(|touched| {
            run_command(&self.connection, "COMMIT")?;
            self.shorten_log()?;
            Ok(touched)
        });
        match done {
            Ok(touched) => {
                metrics::histogram!("garth_store_batch_jobs").record(batch.len() as f64);
                self.bell.ring(touched);
                Ok(())
            }
            Err(cause) => {
                if !self.connection.is_autocommit() {
                    let _ = run_command(&self.connection, "ROLLBACK");
                }
                Err(cause)
            }
        }
    }

    /// Leaves a store that is whole in its one file, for whoever copies it after a stop. If that does
    /// not succeed nothing is lost: the log is read again at the next start.
    fn empty_log(&self) {
        if let Err(cause) = (&self.connection).query("PRAGMA wal_checkpoint(TRUNCATE)", &[]) {
            tracing::warn!(%cause, "could not move the log into the database file");
        }
    }

    /// Moves the log into the database file when it has grown long. That flushes the file, so it
    /// belongs to the commit: if it fails, the commit is not acknowledged.
    fn shorten_log(&self) -> Result<(), StoreError> {
        if self.log_pages.load(Ordering::Relaxed) < LOG_PAGES {
            return Ok(());
        }
        match (&self.connection).query("PRAGMA wal_checkpoint(PASSIVE)", &[]) {
            Err(StoreError::Unavailable(_)) | Ok(_) => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    fn run_jobs(
        &self,
        batch: &mut Vec<Box<dyn WriteJob>>,
    ) -> Result<std::collections::BTreeSet<AccountId>, StoreError> {
        let mut touched = std::collections::BTreeSet::new();
        let mut tallied = Changes::default();
        let mut next = 0;
        while next < batch.len() {
            run_command(&self.connection, "SAVEPOINT job")?;
            let mut connection = &self.connection;
            let mut tx = WriteTx::new(&mut connection, &self.world, Some(&tallied));
            if batch[next].run(&mut tx) {
                let (whose, changes) = tx.finish()?;
                touched.extend(whose);
                tallied.merge(changes);
            } else {
                run_command(&self.connection, "ROLLBACK TO job")?;
            }
            run_command(&self.connection, "RELEASE job")?;
            next += 1;
            if next == batch.len() && next < self.group {
                batch.extend(self.jobs.try_recv().ok());
            }
        }
        tallied.keep(&mut &self.connection)?;
        Ok(touched)
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

fn open_writer(file: &Path) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < OLDEST {
        let text = format!(
            "SQLite {} is too old: 3.51.3 or later is needed",
            rusqlite::version()
        );
        return Err(StoreError::Schema(text));
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(file, flags)?;
    pragma(&connection, "journal_mode", "wal", Some("wal"))?;
    pragma(&connection, "synchronous", "full", Some("2"))?;
    pragma(&connection, "foreign_keys", "on", Some("1"))?;
    // SQLite's own checkpoint after a commit swallows its errors; a flush that fails must not be.
    pragma(&connection, "wal_autocheckpoint", "0", Some("0"))?;
    Ok(connection)
}

fn open_reader(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(file, flags)?;
    pragma(&connection, "query_only", "on", Some("1"))?;
    Ok(connection)
}

fn open(file: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(file, flags).map_err(database)?;
    connection
        .busy_timeout(Duration::from_secs(10))
        .map_err(database)?;
    connection.set_prepared_statement_cache_capacity(256);
    // Plans do not depend on arguments: else SQLite prepares a cached statement anew for each.
    let config = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(config, true).map_err(database)?;
    pragma(&connection, "trusted_schema", "off", Some("0"))?;
    pragma(&connection, "mmap_size", "1073741824", None)?;
    pragma(&connection, "cache_size", "-65536", None)?;
    Ok(connection)
}

/// Sets a pragma and, where it matters, makes sure it took.
fn pragma(connection: &Connection, name: &str, value: &str, wanted: Option<&str>) -> Result<(), StoreError> {
    connection.pragma_update(None, name, value).map_err(database)?;
    let Some(wanted) = wanted else { return Ok(()) };
    let read_back = |row: &rusqlite::Row<'_>| {
        Ok(match row.get_ref(0)? {
            ValueRef::Integer(number) => number.to_string(),
            other => other.as_str().unwrap_or_default().to_owned(),
        })
    };
    let is: String = connection
        .pragma_query_value(None, name, read_back)
        .map_err(database)?;
    if is != wanted {
        let text = format!("SQLite would not set {name} to {value}: it is {is}");
        return Err(StoreError::Schema(text));
    }
    Ok(())
}

fn migrate_embedded(connection: &mut Connection, world: &World) -> Result<(), StoreError> {
    run_command(connection, "BEGIN IMMEDIATE")?;
    let migrated = migrate(&mut &*connection, &DIALECT, world.clock.now());
    run_command(connection, if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(|e| StoreError::Files(format!("making the data folder {}", folder.display()), e))
}

/// Whoever else may look into the folder may not read the store; its log gets the same mode.
fn make_private_file(file: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let made = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(file);
    made.map(drop)
        .map_err(|e| StoreError::Files(format!("making {}", file.display()), e))
}

fn run_command(connection: &Connection, command: &str) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(command).map_err(database)?;
    statement.raw_execute().map(drop).map_err(database)
}

impl Sql for &Connection {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        let mut found = Vec::new();
        let mut hold = |row: &mut Row| {
            if let Row::Passing(columns) = row {
                found.push(Row::held(columns.collect()));
            }
            Ok(())
        };
        self.each(sql, args, &mut hold)?;
        Ok(found)
    }

    fn each(
        &mut self,
        sql: &str,
        args: &[Value],
        see: &mut dyn FnMut(&mut Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = bound(self, sql, args)?;
        let width = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(database)? {
            let column = |at| row.get_ref(at).map_or(Value::Null, Value::from);
            see(&mut Row::Passing(&mut (0..width).map(column)))?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        let changed = bound(self, sql, args)?.raw_execute().map_err(database)?;
        Ok(changed as u64)
    }

    fn matches(&self, argument: usize) -> String {
        format!("ticket_text MATCH ${argument}")
    }

    fn beginning(&self, word: &str) -> String {
        format!("\"{word}\"*")
    }

    fn last_number(&mut self, table: &str) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1";
        let mut rows = self.query(sql, &[table.into()])?;
        rows.first_mut().map_or(Ok(0), Row::take)
    }

    fn set_last_number(&mut self, table: &str, number: i64) -> Result<(), StoreError> {
        self.execute("DELETE FROM sqlite_sequence WHERE name = $1", &[table.into()])?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)";
        self.execute(sql, &[table.into(), number.into()]).map(drop)
    }

    fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        let sql =
            // A full-text index keeps itself in tables of its own.
            "SELECT name FROM sqlite_schema WHERE type = 'table'
                AND name NOT LIKE 'sqlite%' AND name NOT GLOB 'ticket_text_*' ORDER BY name";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
    }
}

/// SQLite takes `$2` for a name and numbers names as they first appear; what comes where is in the names.
fn bound<'c>(
    connection: &'c Connection,
    sql: &str,
    args: &[Value],
) -> Result<rusqlite::CachedStatement<'c>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(database)?;
    for place in 1..=statement.parameter_count() {
        let name = statement.parameter_name(place).unwrap_or_default();
        let number = name
            .strip_prefix('$')
            .and_then(|number| number.parse::<usize>().ok());
        let value = number.and_then(|number| args.get(number.checked_sub(1)?));
        let value =
            value.ok_or_else(|| StoreError::Unexpected(format!("no argument for {name} in {sql}")))?;
        statement.raw_bind_parameter(place, value).map_err(database)?;
    }
    Ok(statement)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Integer(number) => Value::Int(number),
            ValueRef::Text(bytes) => Value::Text(match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => String::from_utf8_lossy(bytes).into_owned(),
            }),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
        }
    }
}

fn database(cause: rusqlite::Error) -> StoreError {
    match cause.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::Conflict(cause.to_string()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
            StoreError::Unavailable(cause.to_string())
        }
        _ => StoreError::Database(Box::new(cause)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::cli::{Settings, policy_of};
    use crate::store::error::StoreError;
    use crate::store::tx::ReadTx;
    use crate::store::value::args;
    use crate::store::world::{Chance, Clock, World};
    use crate::store::{Store, sqlite};

    fn count_to(tx: &mut ReadTx, end: i64) -> Result<i64, StoreError> {
        let sql = "WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < $1)
            SELECT count(*) FROM count";
        tx.one(sql, args![end])?.take()
    }

    fn empty_store(name: &str) -> (Store, PathBuf) {
        let folder = std::env::temp_dir().join(format!("garth-{name}-{}", std::process::id()));
        let world = World {
            clock: Clock::System,
            chance: Chance::System,
            policy: policy_of(&Settings::default()).unwrap(),
        };
        let store = Store::open_embedded_grouping(&folder, world, sqlite::GROUP).unwrap();
        (store, folder)
    }

    #[tokio::test]
    async fn a_read_that_takes_long_is_run_again_elsewhere_and_a_short_one_is_not() {
        let (store, folder) = empty_store("reads");
        for (end, runs) in [(10, 1), (1_000_000, 2), (10, 1)] {
            let counted = Arc::new(AtomicUsize::new(0));
            let count = counted.clone();
            let here = std::thread::current().id();
            let read = store.read(move |tx| {
                count.fetch_add(1, Ordering::SeqCst);
                Ok::<_, StoreError>((count_to(tx, end)?, std::thread::current().id() == here))
            });
            assert_eq!(read.await.unwrap(), (end, runs == 1));
            assert_eq!(counted.load(Ordering::SeqCst), runs);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_that_nobody_waits_for_any_more_is_not_run() {
        let (store, folder) = empty_store("unwanted");
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let (hold, held) = crossbeam_channel::bounded::<()>(0);
        let busy: Vec<_> = (0..threads)
            .map(|_| {
                let (store, held) = (store.clone(), held.clone());
                tokio::spawn(async move {
                    let read = store.read_once(move |_| {
                        let _ = held.recv();
                        Ok::<_, StoreError>(())
                    });
                    read.await
                })
            })
            .collect();
        let counted = Arc::new(AtomicUsize::new(0));
        let ask = || {
            let (store, count) = (store.clone(), counted.clone());
            tokio::spawn(async move {
                let read = store.read_once(move |_| {
                    count.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, StoreError>(())
                });
                read.await
            })
        };
        let gone = ask();
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        let patient = ask();
        drop(hold);
        for read in busy.into_iter().chain([patient]) {
            read.await.unwrap().unwrap();
        }
        assert_eq!(counted.load(Ordering::SeqCst), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
