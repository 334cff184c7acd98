//! Where things are kept: SQL in, model out.
//!
//! A rule is plain synchronous Rust over a transaction; the store runs it on a thread of its own
//! and hands back what it made. No rule, no permission and no event is decided here, and only
//! `sqlite` and `postgres` know which database this is.

mod account;
pub mod changes;
mod compute;
pub mod context;
pub mod copy;
pub mod database;
mod engine;
mod entity_columns;
pub mod error;
pub mod filter;
mod identity;
pub mod jobs;
pub mod list;
mod migrate;
mod network;
pub mod notifier;
#[cfg(feature = "postgres")]
mod postgres;
pub mod revisions;
pub mod search;
pub mod server_secrets;
mod sql;
mod sqlite;
mod support;
mod tallies;
mod task;
mod tx;
pub mod value;
pub mod write_lock;

pub use account::{accounts, events};
pub use compute::{configs, instances, interfaces};
pub use identity::{grants, logins, oauth_clients, oauth_grants, sessions, tokens, users};
pub use network::{free_ranges, subnets, vpc_ips, vpcs};
pub use support::{
    attachments, canned_replies, desk, entities, history, notes, replies, scrub, tickets, viewers,
};

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

pub use context::StoreContext;
pub use database::Database;
pub use error::StoreError;
pub use migrate::{Migration, Schema, TABLES, checksum_of};
pub use tx::{PendingQuery, ReadTx, WriteTx};
pub use write_lock::WriteLock;

use crate::model::id::AccountId;
use engine::Engine;
use notifier::Notifier;
use task::Task;

/// A handle to the store; clones share it.
#[derive(Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    context: Arc<StoreContext>,
    notifier: Arc<Notifier>,
    /// The number of the newest migration that it was opened with.
    schema: i64,
}

impl Store {
    /// Opens the embedded store in a folder, making both if they are not there.
    pub fn open_embedded(folder: &Path, context: StoreContext) -> Result<Self, StoreError> {
        Self::open_embedded_grouping(folder, context, sqlite::GROUP)
    }

    /// The same with the schema of another build.
    pub fn open_embedded_with(
        folder: &Path,
        schema: &Schema,
        context: StoreContext,
    ) -> Result<Self, StoreError> {
        Self::embedded(folder, schema, context, sqlite::GROUP)
    }

    /// The same with another number of writes that may share a commit, for measuring what that brings.
    pub fn open_embedded_grouping(
        folder: &Path,
        context: StoreContext,
        group: usize,
    ) -> Result<Self, StoreError> {
        Self::embedded(folder, &Schema::current(), context, group)
    }

    fn embedded(
        folder: &Path,
        schema: &Schema,
        context: StoreContext,
        group: usize,
    ) -> Result<Self, StoreError> {
        let context = Arc::new(context);
        let notifier = Arc::new(Notifier::default());
        let engine = sqlite::Sqlite::open(folder, schema, context.clone(), notifier.clone(), group)?;
        Ok(Self {
            engine: Arc::new(engine),
            context,
            notifier,
            schema: schema.newest(),
        })
    }

    /// Opens the store that several nodes share.
    pub fn open_shared(database: &Database, context: StoreContext) -> Result<Self, StoreError> {
        Self::open_shared_with(database, &Schema::current(), context)
    }

    /// The same with the schema of another build.
    #[cfg(feature = "postgres")]
    pub fn open_shared_with(
        database: &Database,
        schema: &Schema,
        context: StoreContext,
    ) -> Result<Self, StoreError> {
        let context = Arc::new(context);
        let notifier = Arc::new(Notifier::default());
        let engine = postgres::Postgres::open(database, schema, &context, &notifier)?;
        Ok(Self {
            engine: Arc::new(engine),
            context,
            notifier,
            schema: schema.newest(),
        })
    }

    #[cfg(not(feature = "postgres"))]
    pub fn open_shared_with(_: &Database, _: &Schema, _: StoreContext) -> Result<Self, StoreError> {
        Err(StoreError::Schema(
            "this Garth was built without PostgreSQL".to_owned(),
        ))
    }

    /// Runs work that only looks, all of it at one moment of the store. It may be run a second time, from its
    /// beginning, if it turns out to take long.
    pub async fn read<T, E>(
        &self,
        work: impl FnMut(&mut ReadTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let mut task = Task::new(work);
        if self.engine.read_at_once(&mut task) {
            return task.into_result();
        }
        let (answer, waiting) = oneshot::channel();
        self.engine.read(Box::new(task.answering(answer)))?;
        waiting.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// The same for work that is known to take long, or that does more than look: it runs once, on a thread of
    /// the store's.
    pub async fn read_once<T, E>(
        &self,
        work: impl FnOnce(&mut ReadTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let mut work = Some(work);
        let once = move |tx: &mut ReadTx<'_>| {
            let work = work.take().expect("a read runs once");
            work(tx)
        };
        let (answer, waiting) = oneshot::channel();
        self.engine.read(Box::new(Task::new(once).answering(answer)))?;
        waiting.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Runs a read that shows whether the database answers, and whether no other node has migrated it to a schema that
    /// this build cannot work with. It does not wait for other reads, only for other probes.
    pub async fn probe(&self) -> Result<(), StoreError> {
        let schema = self.schema;
        let work = move |tx: &mut ReadTx<'_>| migrate::refuse_incompatible(tx, schema);
        let (answer, waiting) = oneshot::channel();
        self.engine.probe(Box::new(Task::new(work).answering(answer)))?;
        waiting.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// For how long the flush that runs now has been running, if one runs.
    pub fn flushing(&self) -> Option<Duration> {
        self.engine.flushing()
    }

    /// Runs work that changes things: all of it is kept, durably, or none of it.
    ///
    /// The work may be run again if the database asks for that, so it must touch the world only
    /// through its transaction. It goes on to its end even if nobody waits for it any more.
    pub async fn write<T, E>(
        &self,
        work: impl FnMut(&mut WriteTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.write_with(None, work).await
    }

    /// The same for work that concerns one account, if it is known which: what others do to it at the same
    /// time waits its turn.
    pub async fn write_for<T, E>(
        &self,
        account: Option<AccountId>,
        work: impl FnMut(&mut WriteTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.write_with(account.map(WriteLock::Account), work).await
    }

    /// The same for work that holds a lock from before its transaction begins until it is committed.
    pub async fn write_with<T, E>(
        &self,
        lock: Option<WriteLock>,
        work: impl FnMut(&mut WriteTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (answer, waiting) = oneshot::channel();
        let task = Task::new(work).answering(answer);
        self.engine.write(Box::new(task), lock)?;
        waiting.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Leaves the store as tidy as can be. Nothing depends on it: a store is whole at any moment.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.engine.close();
        self.write(|_| Ok(())).await
    }

    /// Reads all of an embedded database; what is wrong with its structure. It finds no changed values.
    pub async fn check(&self) -> Result<Option<String>, StoreError> {
        let engine = self.engine.clone();
        let checking = tokio::task::spawn_blocking(move || engine.check());
        checking.await.unwrap_or(Err(StoreError::Panicked))
    }

    pub fn context(&self) -> &StoreContext {
        &self.context
    }

    pub fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    pub fn failed(&self) -> watch::Receiver<bool> {
        self.engine.failed()
    }
}
