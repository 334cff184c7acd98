//! A connection and the transaction on it.
//!
//! Each connection has its own Tokio runtime. So a connection must not be used or dropped on a thread that runs another
//! Tokio runtime.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{join, try_join_all};
use futures_util::stream::{StreamExt, poll_fn};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Statement};

use super::address::{Address, Wire};
use super::failure::{Failure, FailureKind};
use super::locks;
use super::statements::Statements;
use crate::model::id::AccountId;
use crate::store::error::StoreError;
use crate::store::value::Value;
use crate::store::write_lock::WriteLock;

/// The timeout of a response. It is longer than the server's statement timeout, so it applies only if the server does
/// not respond at all.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// The timeout of a statement in a transaction that reads whole tables.
const LONG_TIMEOUT: Duration = Duration::from_secs(3600);

const ROLLBACK: &str = "ROLLBACK; ";

/// The columns of each row of a result.
pub type Rows = Vec<Vec<Value<'static>>>;

pub struct Connection {
    client: Client,
    statements: Statements,
    /// The commands to send before the next statement, in the same round trip.
    pipeline: Vec<Pipelined>,
    /// The rows of pipelined statements. The index is the number of the response.
    responses: Vec<Option<Rows>>,
    /// Whether a command of the current transaction was sent.
    begun: bool,
    /// Whether the last read transaction still has to be rolled back. The rollback is sent with the next BEGIN, or when
    /// the worker has no other job.
    deferred_rollback: bool,
    /// The locks that were taken before this transaction began.
    held_locks: BTreeSet<WriteLock>,
    /// The locks of the accounts for which this transaction inserts events.
    event_locks: BTreeSet<WriteLock>,
    /// The timeout of a response in the current transaction.
    response_timeout: Duration,
    failure: Option<Failure>,
    /// Whether the connection is closed or a response is missing. The state of the session is then unknown.
    broken: bool,
    /// Whether the server has sent a warning since `commit` began.
    warned: Arc<AtomicBool>,
    // The last field, so that the other fields are dropped before the runtime that they use.
    runtime: Runtime,
}

/// A command that is sent before a statement.
enum Pipelined {
    /// SQL without a result.
    Command(String),
    /// A statement, and the number of its response.
    Statement(Statement, Vec<Value<'static>>, usize),
}

impl Connection {
    pub fn open(address: &Address) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|e| Failure {
            kind: FailureKind::Lost,
            text: e.to_string(),
        })?;
        let warned = Arc::new(AtomicBool::new(false));
        let client = wait(&runtime, RESPONSE_TIMEOUT, async {
            let (client, wire) = address.connect().await?;
            tokio::spawn(drive(wire, warned.clone()));
            Address::prepare(&client).await?;
            Ok(client)
        })?;
        Ok(Self {
            client,
            statements: Statements::default(),
            pipeline: Vec::new(),
            responses: Vec::new(),
            begun: false,
            deferred_rollback: false,
            held_locks: BTreeSet::new(),
            event_locks: BTreeSet::new(),
            response_timeout: RESPONSE_TIMEOUT,
            failure: None,
            broken: false,
            warned,
            runtime,
        })
    }

    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether the connection was closed while it was idle.
    pub fn is_closed(&self) -> bool {
        // The first yield lets the runtime poll the socket, the second runs the task that drives the connection.
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        self.client.is_closed()
    }

    /// Begins a transaction with this BEGIN command, which is sent together with the first statement. No other
    /// transaction with one of these locks begins before this transaction has ended.
    ///
    /// The locks are taken before BEGIN, because the first statement of a transaction determines its
    /// snapshot. If the first statement took the lock, the snapshot could be older than the commit of the
    /// previous holder.
    pub fn begin(&mut self, begin: &str, locks: &BTreeSet<WriteLock>) {
        let lock = |lock: &WriteLock| format!("SELECT pg_advisory_lock({})", locks::of_write(*lock));
        let lock_commands: Vec<_> = locks.iter().map(lock).collect();
        self.pipeline.clear();
        let rollback = if self.deferred_rollback { ROLLBACK } else { "" };
        if lock_commands.is_empty() {
            self.pipeline
                .push(Pipelined::Command(format!("{rollback}{begin}")));
        } else {
            let lock_all = format!("{rollback}{}", lock_commands.join("; "));
            self.pipeline.push(Pipelined::Command(lock_all));
            self.pipeline.push(Pipelined::Command(begin.to_owned()));
        }
        self.responses.clear();
        self.held_locks.clone_from(locks);
        self.begun = false;
        self.failure = None;
        self.event_locks.clear();
        self.response_timeout = RESPONSE_TIMEOUT;
    }

    /// Raises the timeouts of the statements in the current transaction. The session's timeouts apply again after it.
    pub fn extend_timeouts(&mut self) {
        let seconds = LONG_TIMEOUT.as_secs();
        self.pipeline.push(Pipelined::Command(format!(
            "SET LOCAL statement_timeout = '{seconds}s'; SET LOCAL idle_in_transaction_session_timeout = '{seconds}s'"
        )));
        self.response_timeout = LONG_TIMEOUT + RESPONSE_TIMEOUT;
    }

    /// The first failure of the current transaction.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The locks of the accounts for which the current transaction inserts events.
    pub fn event_locks(&self) -> &BTreeSet<WriteLock> {
        &self.event_locks
    }

    /// Runs the commands in `first` and commits the transaction. After `FailureKind::Lost`, the outcome is unknown.
    pub fn commit(&mut self, first: &str) -> Result<(), Failure> {
        self.warned.store(false, Ordering::SeqCst);
        // The commit has no statement timeout. If a timeout ended the wait for a synchronous replica,
        // PostgreSQL would report success with only a warning.
        let commands = format!("{first}SET LOCAL statement_timeout = 0; COMMIT");
        if let Err(failure) = self.end(&commands) {
            if failure.kind != FailureKind::Lost {
                self.run(ROLLBACK)?;
            }
            return Err(failure);
        }
        if self.warned.load(Ordering::SeqCst) {
            return Err(Failure {
                kind: FailureKind::Lost,
                text: "the database warned that the commit may not be on its replica".to_owned(),
            });
        }
        Ok(())
    }

    pub fn roll_back(&mut self) -> Result<(), Failure> {
        self.pipeline.clear();
        self.end(ROLLBACK)
    }

    /// Ends a read transaction. The rollback is deferred until the connection is used again. A failed transaction is
    /// rolled back immediately, because PostgreSQL cannot prepare statements in it.
    pub fn end_read(&mut self) -> Result<(), Failure> {
        self.deferred_rollback |= self.begun;
        match self.failure {
            Some(_) if !self.broken => self.run_deferred_rollback(),
            _ => Ok(()),
        }
    }

    pub fn has_deferred_rollback(&self) -> bool {
        self.deferred_rollback
    }

    /// Runs the deferred rollback, if there is one.
    pub fn run_deferred_rollback(&mut self) -> Result<(), Failure> {
        self.begun |= self.deferred_rollback;
        match self.deferred_rollback {
            true => self.roll_back(),
            false => Ok(()),
        }
    }

    /// Ends the transaction with `commands` and releases its locks. Does nothing if the transaction has not
    /// begun.
    fn end(&mut self, commands: &str) -> Result<(), Failure> {
        let is_statement = |command: &Pipelined| matches!(command, Pipelined::Statement(..));
        self.begun |= self.pipeline.iter().any(is_statement);
        if !std::mem::take(&mut self.begun) {
            return Ok(());
        }
        let pipeline = self.take_pipeline();
        let client = &self.client;
        let unlock = async {
            match self.held_locks.is_empty() {
                true => Ok(()),
                false => client.batch_execute("SELECT pg_advisory_unlock_all()").await,
            }
        };
        let ended = wait(&self.runtime, RESPONSE_TIMEOUT, async {
            // If a pipelined command fails, the server rolls back instead of committing.
            let (sent, (ended, unlocked)) = join(
                send(client, &pipeline),
                join(client.batch_execute(commands), unlock),
            )
            .await;
            sent.and(ended.and(unlocked)).map_err(|e| Failure::new(&e))
        });
        self.broken |= is_lost(&ended);
        ended
    }

    /// Runs SQL without a result, outside the pipeline.
    pub fn run(&mut self, commands: &str) -> Result<(), Failure> {
        let (client, runtime) = (&self.client, &self.runtime);
        let ended = wait(runtime, RESPONSE_TIMEOUT, async {
            client.batch_execute(commands).await.map_err(|e| Failure::new(&e))
        });
        self.broken |= is_lost(&ended);
        ended
    }

    /// Locks the account before the next statement, so that other transactions that insert events of the account wait.
    pub fn lock_events(&mut self, account: AccountId) {
        let lock = WriteLock::Account(account);
        if self.event_locks.insert(lock) && !self.held_locks.contains(&lock) {
            let key = locks::of_write(lock);
            let command = format!("SELECT pg_advisory_xact_lock({key})");
            self.pipeline.push(Pipelined::Command(command));
        }
    }

    /// Adds a statement to the pipeline. Returns the number of its response.
    pub fn pipeline_statement(&mut self, sql: &str, args: &[Value]) -> Result<usize, StoreError> {
        let statement = self
            .prepare(sql)
            .map_err(|failure| self.record_failure(failure))?;
        let number = self.responses.len();
        self.responses.push(None);
        let args = args.iter().map(|value| value.borrowed().into_owned()).collect();
        self.pipeline.push(Pipelined::Statement(statement, args, number));
        Ok(number)
    }

    /// The rows of a pipelined statement. Sends the pipeline first, if the statement is still in it.
    pub fn receive_rows(&mut self, number: usize) -> Result<Rows, StoreError> {
        let is_unsent =
            |command: &Pipelined| matches!(command, Pipelined::Statement(_, _, unsent) if *unsent == number);
        if self.pipeline.iter().any(is_unsent) {
            self.begun = true;
            let pipeline = self.take_pipeline();
            let client = &self.client;
            let sent = wait(&self.runtime, self.response_timeout, async {
                send(client, &pipeline).await.map_err(|e| Failure::new(&e))
            });
            let responses = sent.map_err(|failure| self.record_failure(failure))?;
            self.add_responses(responses);
        }
        let rows = self.responses.get_mut(number).and_then(Option::take);
        rows.ok_or_else(|| StoreError::Unavailable("a query has no response".to_owned()))
    }

    /// Removes all commands from the pipeline and returns them. The caller must send them, because they
    /// include the deferred rollback.
    fn take_pipeline(&mut self) -> Vec<Pipelined> {
        self.deferred_rollback = false;
        std::mem::take(&mut self.pipeline)
    }

    fn add_responses(&mut self, responses: Vec<(usize, Rows)>) {
        for (number, rows) in responses {
            self.responses[number] = Some(rows);
        }
    }

    /// Records the failure, if it is the first of the transaction, and converts it to an error of the store.
    fn record_failure(&mut self, failure: Failure) -> StoreError {
        self.broken |= failure.kind == FailureKind::Lost;
        self.failure.get_or_insert_with(|| failure.clone());
        failure.into_store_error()
    }

    /// Sends the pipeline and a statement. Returns the rows of the statement and the number of rows that it changed.
    pub fn run_statement(&mut self, sql: &str, args: &[Value]) -> Result<(Rows, u64), StoreError> {
        self.try_run_statement(sql, args)
            .map_err(|failure| self.record_failure(failure))
    }

    fn try_run_statement(&mut self, sql: &str, args: &[Value]) -> Result<(Rows, u64), Failure> {
        let statement = self.prepare(sql)?;
        let pipeline = self.take_pipeline();
        self.begun = true;
        let client = &self.client;
        let (responses, result) = wait(&self.runtime, self.response_timeout, async {
            let (sent, result) = join(send(client, &pipeline), fetch(client, &statement, args)).await;
            sent.and_then(|responses| Ok((responses, result?)))
                .map_err(|e| Failure::new(&e))
        })?;
        self.add_responses(responses);
        Ok(result)
    }

    /// Prepares a statement, or takes it from the cache.
    fn prepare(&mut self, sql: &str) -> Result<Statement, Failure> {
        if let Some(cached) = self.statements.find(sql) {
            return Ok(cached);
        }
        let (client, runtime) = (&self.client, &self.runtime);
        let statement = wait(runtime, RESPONSE_TIMEOUT, async {
            client.prepare(sql).await.map_err(|e| Failure::new(&e))
        })?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Sends the pipeline in one round trip. Returns the rows of its statements, each with the number of the response.
async fn send(client: &Client, pipeline: &[Pipelined]) -> Result<Vec<(usize, Rows)>, tokio_postgres::Error> {
    let send_command = async |command: &Pipelined| match command {
        Pipelined::Command(command) => client.batch_execute(command).await.map(|()| None),
        Pipelined::Statement(statement, args, number) => {
            let (rows, _) = fetch(client, statement, args).await?;
            Ok(Some((*number, rows)))
        }
    };
    let sent = try_join_all(pipeline.iter().map(send_command)).await?;
    Ok(sent.into_iter().flatten().collect())
}

/// Runs a statement. Returns its rows and the number of rows that it changed.
async fn fetch(
    client: &Client,
    statement: &Statement,
    args: &[Value<'_>],
) -> Result<(Rows, u64), tokio_postgres::Error> {
    let args = args.iter().take(statement.params().len());
    let mut stream = pin!(client.query_raw(statement, args).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.next().await {
        let row = row?;
        let columns = (0..row.len()).map(|at| row.try_get::<_, Value>(at));
        rows.push(columns.collect::<Result<_, _>>()?);
    }
    Ok((rows, stream.rows_affected().unwrap_or(0)))
}

/// Drives the connection: moves bytes between the client and its socket, and records whether the server sent a warning.
async fn drive(mut wire: Wire, warned: Arc<AtomicBool>) {
    let mut messages = poll_fn(|context| wire.poll_message(context));
    while let Some(Ok(message)) = messages.next().await {
        if let AsyncMessage::Notice(notice) = message
            && notice.parsed_severity() == Some(Severity::Warning)
        {
            warned.store(true, Ordering::SeqCst);
        }
    }
}

fn is_lost(ended: &Result<(), Failure>) -> bool {
    ended
        .as_ref()
        .is_err_and(|failure| failure.kind == FailureKind::Lost)
}

/// Runs `work` on the runtime and waits for its result, but not longer than `timeout`.
fn wait<T>(
    runtime: &Runtime,
    timeout: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    runtime.block_on(async {
        let result = tokio::time::timeout(timeout, work).await;
        result.unwrap_or_else(|_| Err(Failure::timed_out()))
    })
}
