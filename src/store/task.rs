//! A piece of work on its way to a store thread and back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};

/// How many writes may wait; the next one is turned away.
pub const MOST_WRITES: usize = 4096;
/// The same of reads. It is the long ones that have to wait, so fewer of them are as long a wait.
pub const MOST_READS: usize = 1024;

/// How many reads may wait that show whether the database answers.
pub const MAX_PROBES: usize = 16;

/// Work that looks.
pub trait ReadJob: Send {
    fn run(&mut self, tx: &mut ReadTx<'_>);
    /// Whether somebody still waits for the result.
    fn is_wanted(&self) -> bool;
    /// Sends the result, or the reason why there can be none.
    fn answer(self: Box<Self>, ended: Result<(), StoreError>);
}

/// Work that changes things.
pub trait WriteJob: Send {
    /// True if what was changed is to be kept.
    fn run(&mut self, tx: &mut WriteTx<'_>) -> bool;
    /// Sends the result once it is known whether the changes are kept.
    fn answer(self: Box<Self>, ended: Result<(), StoreError>);
}

pub struct Task<F, T, E> {
    work: F,
    result: Option<Result<T, E>>,
    waiting: Option<oneshot::Sender<Result<T, E>>>,
}

impl<F, T, E: From<StoreError>> Task<F, T, E> {
    pub fn new(work: F) -> Self {
        Self {
            work,
            result: None,
            waiting: None,
        }
    }

    /// Somebody waits elsewhere for the result.
    pub fn answering(self, waiting: oneshot::Sender<Result<T, E>>) -> Self {
        let waiting = Some(waiting);
        Self { waiting, ..self }
    }

    /// The result of work that has run.
    pub fn into_result(self) -> Result<T, E> {
        self.result.expect("work that is over has a result")
    }

    fn finish(self, ended: Result<(), StoreError>) {
        let result = match ended {
            Ok(()) => self.result.expect("work that ended well has run"),
            // The caller's own mistake is the better answer, whatever befell the batch.
            Err(reason) => match self.result {
                Some(Err(refusal)) => Err(refusal),
                _ => Err(reason.into()),
            },
        };
        if let Some(waiting) = self.waiting {
            // Nobody there any more is fine: a caller that hung up still had its request carried out.
            let _ = waiting.send(result);
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

    fn is_wanted(&self) -> bool {
        self.waiting.as_ref().is_none_or(|waiting| !waiting.is_closed())
    }

    fn answer(self: Box<Self>, ended: Result<(), StoreError>) {
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
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, ended: Result<(), StoreError>) {
        self.finish(ended);
    }
}
