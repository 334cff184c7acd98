//! Jobs for the threads of the store, and their results.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};

/// The maximum number of queued writes. The store refuses more.
pub const MAX_QUEUED_WRITES: usize = 4096;
/// The maximum number of queued reads. The store refuses more. The limit is lower than for writes, because only long
/// reads are queued.
pub const MAX_QUEUED_READS: usize = 1024;
/// The maximum number of queued probes. The store refuses more.
pub const MAX_QUEUED_PROBES: usize = 16;

pub trait ReadJob: Send {
    fn run(&mut self, tx: &mut ReadTx<'_>);
    /// Whether the caller no longer waits for the result.
    fn is_canceled(&self) -> bool;
    /// Sends the result of the job. If `ended` is an error, the transaction has failed.
    fn complete(self: Box<Self>, ended: Result<(), StoreError>);
}

pub trait WriteJob: Send {
    /// Runs the job. Returns whether to commit its changes.
    fn run(&mut self, tx: &mut WriteTx<'_>) -> bool;
    /// Sends the result of the job. If `ended` is an error, the transaction was not committed.
    fn complete(self: Box<Self>, ended: Result<(), StoreError>);
}

pub struct Task<F, T, E> {
    work: F,
    result: Option<Result<T, E>>,
    reply: Option<oneshot::Sender<Result<T, E>>>,
}

impl<F, T, E: From<StoreError>> Task<F, T, E> {
    pub fn new(work: F) -> Self {
        Self {
            work,
            result: None,
            reply: None,
        }
    }

    /// Sets the channel to which the result is sent.
    pub fn with_reply(self, reply: oneshot::Sender<Result<T, E>>) -> Self {
        let reply = Some(reply);
        Self { reply, ..self }
    }

    /// The result of a task that has run.
    pub fn into_result(self) -> Result<T, E> {
        self.result.expect("the task has run")
    }

    fn finish(self, ended: Result<(), StoreError>) {
        let result = match ended {
            Ok(()) => self.result.expect("a task that has succeeded has run"),
            // The error of the task itself takes precedence over the error of its batch.
            Err(batch_error) => match self.result {
                Some(Err(task_error)) => Err(task_error),
                _ => Err(batch_error.into()),
            },
        };
        if let Some(reply) = self.reply {
            // Sending fails if the caller no longer waits. This is not an error: the task is complete.
            let _ = reply.send(result);
        }
    }
}

impl<F, T, E> ReadJob for Task<F, T, E>
where
    F: FnMut(&mut ReadTx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut ReadTx<'_>) {
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(tx)));
        self.result = Some(result.unwrap_or_else(|_| Err(StoreError::Panicked.into())));
    }

    fn is_canceled(&self) -> bool {
        self.reply.as_ref().is_some_and(oneshot::Sender::is_closed)
    }

    fn complete(self: Box<Self>, ended: Result<(), StoreError>) {
        self.finish(ended);
    }
}

impl<F, T, E> WriteJob for Task<F, T, E>
where
    F: FnMut(&mut WriteTx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut WriteTx<'_>) -> bool {
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(tx)));
        let result = result.unwrap_or_else(|_| Err(StoreError::Panicked.into()));
        let commit = result.is_ok();
        self.result = Some(result);
        commit
    }

    fn complete(self: Box<Self>, ended: Result<(), StoreError>) {
        self.finish(ended);
    }
}
