//! One connection and the transaction on it, for the thread that owns it.
//!
//! The thread has a runtime of its own, so nothing here may be used or dropped on a thread of another.

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
use super::failure::{Failure, Kind};
use super::locks;
use super::statements::Statements;
use crate::model::id::AccountId;
use crate::store::error::StoreError;
use crate::store::value::Value;
use crate::store::write_lock::WriteLock;

/// Longer than the server lets any statement run, so this ends only what the server never answers.
const ANSWER: Duration = Duration::from_secs(20);

const ROLLBACK: &str = "ROLLBACK; ";

/// The columns of each row of an answer.
pub type Rows = Vec<Vec<Value<'static>>>;

pub struct Connection {
    client: Client,
    statements: Statements,
    /// Sent with the next statement, in front of it, so that it costs no wait of its own.
    before: Vec<Before>,
    /// What was answered to statements that were sent in front of others, by their numbers.
    answers: Vec<Option<Rows>>,
    /// Whether anything of the transaction has been sent.
    begun: bool,
    /// Whether a transaction that only looked is still to be ended: with the next one's beginning, if that
    /// comes at once.
    looking: bool,
    /// The locks that were taken before this transaction began.
    held: BTreeSet<WriteLock>,
    /// Those that were taken because it was about to record an event.
    ordered: BTreeSet<WriteLock>,
    failure: Option<Failure>,
    /// The server is gone, or has not answered: what it does with this session is not known any more.
    useless: bool,
    warned: Arc<AtomicBool>,
    // The last to go: what is above is dropped inside of it.
    runtime: Runtime,
}

/// What is sent in front of a statement.
enum Before {
    /// Words that answer nothing.
    Words(String),
    /// A statement, and the number under which its answer is kept.
    Statement(Statement, Vec<Value<'static>>, usize),
}

impl Connection {
    pub fn open(address: &Address) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|e| Failure {
            kind: Kind::Lost,
            text: e.to_string(),
        })?;
        let warned = Arc::new(AtomicBool::new(false));
        let client = wait(&runtime, ANSWER, async {
            let (client, wire) = address.connect().await?;
            tokio::spawn(look_after(wire, warned.clone()));
            Address::prepare(&client).await?;
            Ok(client)
        })?;
        Ok(Self {
            client,
            statements: Statements::default(),
            before: Vec::new(),
            answers: Vec::new(),
            begun: false,
            looking: false,
            held: BTreeSet::new(),
            ordered: BTreeSet::new(),
            failure: None,
            useless: false,
            warned,
            runtime,
        })
    }

    pub fn is_useless(&self) -> bool {
        self.useless
    }

    /// Whether the connection has ended while nobody used it.
    pub fn has_ended(&self) -> bool {
        // The first turn lets the runtime hear what the socket has to tell, the second lets the wire's
        // task act on it.
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        self.client.is_closed()
    }

    /// Begins a transaction in these words, as soon as it has something to do. No other transaction with one of these
    /// locks begins before it has ended.
    ///
    /// That has to be waited for before it begins: a transaction sees the store as it was when its first
    /// statement was sent, not when it was answered.
    pub fn begin(&mut self, words: &str, wanted: &BTreeSet<WriteLock>) {
        let lock = |lock: &WriteLock| format!("SELECT pg_advisory_lock({})", locks::of_write(*lock));
        let locks: Vec<_> = wanted.iter().map(lock).collect();
        self.before.clear();
        let before = if self.looking { ROLLBACK } else { "" };
        if locks.is_empty() {
            self.before.push(Before::Words(format!("{before}{words}")));
        } else {
            self.before
                .push(Before::Words(format!("{before}{}", locks.join("; "))));
            self.before.push(Before::Words(words.to_owned()));
        }
        self.answers.clear();
        self.held.clone_from(wanted);
        self.begun = false;
        self.failure = None;
        self.ordered.clear();
    }

    /// What went wrong first in the transaction that runs.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The locks of the accounts whose events were put in order by the transaction that runs.
    pub fn ordered(&self) -> &BTreeSet<WriteLock> {
        &self.ordered
    }

    /// Ends the transaction, with its changes kept. `Kind::Lost` leaves it open whether they are.
    pub fn commit(&mut self, and: &str) -> Result<(), Failure> {
        self.warned.store(false, Ordering::SeqCst);
        // A time limit would end the wait for a replica with a warning and a success that is none.
        let words = format!("{and}SET LOCAL statement_timeout = 0; COMMIT");
        if let Err(failure) = self.end(&words) {
            if failure.kind != Kind::Lost {
                self.run(ROLLBACK)?;
            }
            return Err(failure);
        }
        if self.warned.load(Ordering::SeqCst) {
            return Err(Failure {
                kind: Kind::Lost,
                text: "the database warned that the commit may not be on its replica".to_owned(),
            });
        }
        Ok(())
    }

    /// Ends the transaction, with nothing kept of it.
    pub fn roll_back(&mut self) -> Result<(), Failure> {
        self.before.clear();
        self.end(ROLLBACK)
    }

    /// Has a transaction that only looked end as soon as another has something to do, or `look_away` is said. One that
    /// has failed ends at once: nothing can be prepared in it.
    pub fn look_no_more(&mut self) -> Result<(), Failure> {
        self.looking |= self.begun;
        match self.failure {
            Some(_) if !self.useless => self.look_away(),
            _ => Ok(()),
        }
    }

    pub fn is_looking(&self) -> bool {
        self.looking
    }

    /// Ends a transaction that only looked, if that has not happened yet.
    pub fn look_away(&mut self) -> Result<(), Failure> {
        self.begun |= self.looking;
        match self.looking {
            true => self.roll_back(),
            false => Ok(()),
        }
    }

    /// Ends the transaction, if it has begun, and lets those begin who waited for it.
    fn end(&mut self, words: &str) -> Result<(), Failure> {
        self.begun |= self.before.iter().any(|one| matches!(one, Before::Statement(..)));
        if !std::mem::take(&mut self.begun) {
            return Ok(());
        }
        let before = self.take_before();
        let client = &self.client;
        let last = async {
            match self.held.is_empty() {
                true => Ok(()),
                false => client.batch_execute("SELECT pg_advisory_unlock_all()").await,
            }
        };
        let ended = wait(&self.runtime, ANSWER, async {
            // If what goes before fails there is nothing to commit, and the server does not.
            let (sent, (ended, freed)) =
                join(send(client, &before), join(client.batch_execute(words), last)).await;
            sent.and(ended.and(freed)).map_err(|e| Failure::new(&e))
        });
        self.useless |= is_lost(&ended);
        ended
    }

    /// Runs words that answer nothing.
    pub fn run(&mut self, words: &str) -> Result<(), Failure> {
        let (client, runtime) = (&self.client, &self.runtime);
        let ended = wait(runtime, ANSWER, async {
            client.batch_execute(words).await.map_err(|e| Failure::new(&e))
        });
        self.useless |= is_lost(&ended);
        ended
    }

    /// From the next statement on, others wait who are about to tell of events of the account.
    pub fn wait_for_events_of(&mut self, account: AccountId) {
        let lock = WriteLock::Account(account);
        if self.ordered.insert(lock) && !self.held.contains(&lock) {
            let key = locks::of_write(lock);
            let words = format!("SELECT pg_advisory_xact_lock({key})");
            self.before.push(Before::Words(words));
        }
    }

    /// Has a statement sent in front of the next one.
    pub fn send_ahead(&mut self, sql: &str, args: &[Value]) -> Result<usize, StoreError> {
        let statement = self.prepared(sql).map_err(|failure| self.failed(failure))?;
        let number = self.answers.len();
        self.answers.push(None);
        let args = args.iter().map(|value| value.borrowed().into_owned()).collect();
        self.before.push(Before::Statement(statement, args, number));
        Ok(number)
    }

    /// The rows that a statement has found that was sent in front of another, or is about to be.
    pub fn answer_to(&mut self, number: usize) -> Result<Rows, StoreError> {
        let is_due = |one: &Before| matches!(one, Before::Statement(_, _, due) if *due == number);
        if self.before.iter().any(is_due) {
            self.begun = true;
            let before = self.take_before();
            let client = &self.client;
            let sent = wait(&self.runtime, ANSWER, async {
                send(client, &before).await.map_err(|e| Failure::new(&e))
            });
            let sent = sent.map_err(|failure| self.failed(failure))?;
            self.keep_answers(sent);
        }
        let answer = self.answers.get_mut(number).and_then(Option::take);
        answer.ok_or_else(|| StoreError::Unavailable("a question was not answered".to_owned()))
    }

    /// What is to be sent in front of something that is about to be.
    fn take_before(&mut self) -> Vec<Before> {
        self.looking = false;
        std::mem::take(&mut self.before)
    }

    fn keep_answers(&mut self, sent: Vec<(usize, Rows)>) {
        for (number, rows) in sent {
            self.answers[number] = Some(rows);
        }
    }

    fn failed(&mut self, failure: Failure) -> StoreError {
        self.useless |= failure.kind == Kind::Lost;
        self.failure.get_or_insert_with(|| failure.clone());
        failure.into_store_error()
    }

    /// Runs a statement, and in front of it whatever is to go before; its rows, and how many it changed.
    pub fn perform(&mut self, sql: &str, args: &[Value]) -> Result<(Rows, u64), StoreError> {
        self.try_perform(sql, args)
            .map_err(|failure| self.failed(failure))
    }

    fn try_perform(&mut self, sql: &str, args: &[Value]) -> Result<(Rows, u64), Failure> {
        let statement = self.prepared(sql)?;
        let before = self.take_before();
        self.begun = true;
        let client = &self.client;
        let (sent, answer) = wait(&self.runtime, ANSWER, async {
            let (first, second) = join(send(client, &before), gather(client, &statement, args)).await;
            first
                .and_then(|sent| Ok((sent, second?)))
                .map_err(|e| Failure::new(&e))
        })?;
        self.keep_answers(sent);
        Ok(answer)
    }

    fn prepared(&mut self, sql: &str) -> Result<Statement, Failure> {
        if let Some(known) = self.statements.find(sql) {
            return Ok(known);
        }
        let (client, runtime) = (&self.client, &self.runtime);
        let statement = wait(runtime, ANSWER, async {
            client.prepare(sql).await.map_err(|e| Failure::new(&e))
        })?;
        self.statements.keep(sql, statement.clone());
        Ok(statement)
    }
}

/// Sends what goes in front of something, all of it at once; the answers, by their numbers.
async fn send(client: &Client, before: &[Before]) -> Result<Vec<(usize, Rows)>, tokio_postgres::Error> {
    let one = async |one: &Before| match one {
        Before::Words(words) => client.batch_execute(words).await.map(|()| None),
        Before::Statement(statement, args, number) => {
            let (rows, _) = gather(client, statement, args).await?;
            Ok(Some((*number, rows)))
        }
    };
    let sent = try_join_all(before.iter().map(one)).await?;
    Ok(sent.into_iter().flatten().collect())
}

async fn gather(
    client: &Client,
    statement: &Statement,
    args: &[Value<'_>],
) -> Result<(Rows, u64), tokio_postgres::Error> {
    let args = args.iter().take(statement.params().len());
    let mut answer = pin!(client.query_raw(statement, args).await?);
    let mut rows = Vec::new();
    while let Some(row) = answer.next().await {
        let row = row?;
        let columns = (0..row.len()).map(|at| row.try_get::<_, Value>(at));
        rows.push(columns.collect::<Result<_, _>>()?);
    }
    Ok((rows, answer.rows_affected().unwrap_or(0)))
}

/// Moves bytes between the client and its socket for as long as both are there.
async fn look_after(mut wire: Wire, warned: Arc<AtomicBool>) {
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
    ended.as_ref().is_err_and(|failure| failure.kind == Kind::Lost)
}

fn wait<T>(
    runtime: &Runtime,
    within: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    runtime.block_on(async {
        let ended = tokio::time::timeout(within, work).await;
        ended.unwrap_or_else(|_| Err(Failure::too_slow()))
    })
}
