//! The database layer: runs SQL statements and returns values of the model.
//!
//! A rule is synchronous code that uses a transaction. The store runs the rule, usually on a thread of the
//! store, and returns the result. Rules, not the store, decide about permissions, changes and events. Only
//! `sqlite` and `postgres` have code that is specific to a database.

mod account;
pub mod catalog;
pub mod changes;
pub mod check;
mod compute;
pub mod context;
mod current_policy;
pub mod database;
pub mod diagnosis;
mod engine;
mod entity_columns;
pub mod error;
pub mod filter;
mod hosting;
mod identity;
pub mod jobs;
pub mod list;
pub mod log_archive;
mod migrate;
mod model_rows;
mod network;
pub mod notifier;
#[cfg(feature = "postgres")]
mod postgres;
pub mod restore_target;
pub mod revisions;
pub mod search;
pub mod server_secrets;
pub mod snapshot;
mod sql;
mod sqlite;
mod support;
pub mod table_snapshot;
mod tables;
mod tallies;
mod task;
pub mod transfer;
mod tx;
pub mod unfinished_restore;
pub mod value;
mod virtual_clock;
pub mod write_lock;

pub use account::{account_networks, account_usage, accounts, announcements, branding, events, tags};
pub use compute::{configs, disks, instances, interface_ranges, interfaces, plans, regions};
pub use hosting::{
    encryption, host_credentials, host_reports, host_revisions, hosts, placements, port_details, ports,
    removed_ports, traffic,
};
pub use identity::{
    grants, login_records, logins, oauth_clients, oauth_grants, object_grants, sessions, ssh_keys, staff,
    tokens, users,
};
pub use network::{
    free_ranges, ips, ipv6_prefixes, stored_family, subnet_names, subnets, vlans, vpc_ips, vpcs,
};
pub use support::{
    attachment_checks, attachments, canned_replies, desk, entities, history, mail_counts, mail_templates,
    notes, outgoing_mails, received_mails, replies, reports, saved_views, staff_mail_choices,
    suppressed_addresses, targets, ticket_tags, tickets, viewers,
};

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

pub use context::StoreContext;
pub use current_policy::CurrentPolicy;
pub use database::Database;
pub use engine::CheckDepth;
pub use error::StoreError;
pub use migrate::{Migration, Schema, checksum_of};
pub use sqlite::check_file as check_embedded_file;
pub use tables::{OTHER_TABLES, TABLES, Table};
pub use tx::{PendingQuery, ReadTx, WriteTx};
pub use virtual_clock::VirtualClock;
pub use write_lock::WriteLock;

use crate::model::id::AccountId;
use crate::model::policy::Policy;
use catalog::CatalogChanges;
use engine::Engine;
use log_archive::{ArchiveStart, LogCopier};
use notifier::Notifier;
use task::Task;

/// A handle to the store. Clones share the store.
#[derive(Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    context: Arc<StoreContext>,
    notifier: Arc<Notifier>,
    catalog: Arc<CatalogChanges>,
    /// The number of this build's newest migration.
    schema: i64,
}

impl Store {
    /// Opens the embedded store in a folder. Creates the folder and the store if they do not exist.
    pub fn open_embedded(folder: &Path, context: StoreContext) -> Result<Self, StoreError> {
        Self::open_embedded_batching(folder, context, sqlite::MAX_BATCH_JOBS)
    }

    /// Opens an embedded store with the schema of another build.
    pub fn open_embedded_with(
        folder: &Path,
        schema: &Schema,
        context: StoreContext,
    ) -> Result<Self, StoreError> {
        Self::embedded(folder, schema, context, sqlite::MAX_BATCH_JOBS)
    }

    /// Opens an embedded store with another maximum number of writes per commit, for benchmarks.
    pub fn open_embedded_batching(
        folder: &Path,
        context: StoreContext,
        max_batch_jobs: usize,
    ) -> Result<Self, StoreError> {
        Self::embedded(folder, &Schema::current(), context, max_batch_jobs)
    }

    fn embedded(
        folder: &Path,
        schema: &Schema,
        context: StoreContext,
        max_batch_jobs: usize,
    ) -> Result<Self, StoreError> {
        let (store, _) = Self::embedded_archiving(folder, schema, context, max_batch_jobs, None)?;
        Ok(store)
    }

    /// Opens an embedded store that copies its write-ahead log to a continuous archive.
    pub fn open_archived(
        folder: &Path,
        context: StoreContext,
        archive: ArchiveStart,
    ) -> Result<(Self, Arc<LogCopier>), StoreError> {
        let schema = Schema::current();
        let opened =
            Self::embedded_archiving(folder, &schema, context, sqlite::MAX_BATCH_JOBS, Some(archive))?;
        let (store, copier) = opened;
        Ok((store, copier.expect("a store with an archive has a copier")))
    }

    fn embedded_archiving(
        folder: &Path,
        schema: &Schema,
        context: StoreContext,
        max_batch_jobs: usize,
        archive: Option<ArchiveStart>,
    ) -> Result<(Self, Option<Arc<LogCopier>>), StoreError> {
        let context = Arc::new(context);
        let notifier = Arc::new(Notifier::default());
        let (engine, copier) = sqlite::Sqlite::open(
            folder,
            schema,
            context.clone(),
            notifier.clone(),
            max_batch_jobs,
            archive,
        )?;
        let store = Self {
            engine: Arc::new(engine),
            context,
            catalog: Arc::new(CatalogChanges::new(&notifier)),
            notifier,
            schema: schema.newest(),
        };
        store.load_catalog();
        Ok((store, copier))
    }

    /// Opens the store in a database that several nodes share.
    pub fn open_shared(database: &Database, context: StoreContext) -> Result<Self, StoreError> {
        Self::open_shared_with(database, &Schema::current(), context)
    }

    /// Opens a shared store with the schema of another build.
    #[cfg(feature = "postgres")]
    pub fn open_shared_with(
        database: &Database,
        schema: &Schema,
        context: StoreContext,
    ) -> Result<Self, StoreError> {
        let context = Arc::new(context);
        let notifier = Arc::new(Notifier::default());
        let engine = postgres::Postgres::open(database, schema, &context, &notifier)?;
        let store = Self {
            engine: Arc::new(engine),
            context,
            catalog: Arc::new(CatalogChanges::new(&notifier)),
            notifier,
            schema: schema.newest(),
        };
        store.load_catalog();
        Ok(store)
    }

    #[cfg(not(feature = "postgres"))]
    pub fn open_shared_with(_: &Database, _: &Schema, _: StoreContext) -> Result<Self, StoreError> {
        Err(StoreError::Schema(
            "this Garth was built without PostgreSQL".to_owned(),
        ))
    }

    /// Runs a read on one snapshot of the store. If the read takes a long time, the store can run it again
    /// from the beginning.
    pub async fn read<T, E>(
        &self,
        work: impl FnMut(&mut ReadTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let mut task = Task::new(work);
        if self.engine.try_read_inline(&mut task) {
            return task.into_result();
        }
        let (reply, result) = oneshot::channel();
        self.engine.read(Box::new(task.with_reply(reply)))?;
        result.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Runs a read exactly once, on a thread of the store. Use this for reads that take a long time or have
    /// side effects.
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
        let (reply, result) = oneshot::channel();
        self.engine.read(Box::new(Task::new(once).with_reply(reply)))?;
        result.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Checks that the database responds, and that no other node has migrated it to a schema that is incompatible with
    /// this build. Waits for other probes, but not for other reads.
    pub async fn probe(&self) -> Result<(), StoreError> {
        let schema = self.schema;
        let work = move |tx: &mut ReadTx<'_>| migrate::refuse_incompatible(tx, schema);
        let (reply, result) = oneshot::channel();
        self.engine.probe(Box::new(Task::new(work).with_reply(reply)))?;
        result.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// The time since the current flush started, if the store is flushing.
    pub fn flushing(&self) -> Option<Duration> {
        self.engine.flushing()
    }

    /// Runs a write atomically and durably.
    ///
    /// The store can run `work` several times, for example after a conflict, so `work` must have no effects outside the
    /// transaction. The write runs to completion even if the caller is canceled.
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

    /// Runs a write that changes one account. Other writes to this account wait for it. Without an account,
    /// this function is the same as `write`.
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

    /// Runs a write that takes a lock before its transaction begins, and holds the lock until the commit.
    pub async fn write_with<T, E>(
        &self,
        lock: Option<WriteLock>,
        work: impl FnMut(&mut WriteTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, result) = oneshot::channel();
        let task = Task::new(work).with_reply(reply);
        self.engine.write(Box::new(task), lock)?;
        let written = result.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))?;
        // The next request of the same client must see the regions and plans that this write has changed.
        self.refresh_catalog().await;
        Ok(written)
    }

    /// Moves the write-ahead log of an embedded store into the database file. This is optional, because the store is
    /// always consistent.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.engine.close();
        self.write(|_| Ok(())).await
    }

    /// Reads the whole embedded database and returns the errors in its structure. The check does not detect wrong
    /// values.
    pub async fn check(&self, depth: CheckDepth) -> Result<Vec<String>, StoreError> {
        let engine = self.engine.clone();
        let checking = tokio::task::spawn_blocking(move || engine.check(depth));
        checking.await.unwrap_or(Err(StoreError::Panicked))
    }

    pub fn context(&self) -> &StoreContext {
        &self.context
    }

    /// The policy in use. A transaction has the policy of its start instead.
    pub fn policy(&self) -> Arc<Policy> {
        self.context.policy.get()
    }

    pub fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    /// Becomes true when a flush has failed and the store can no longer guarantee durability.
    pub fn failed(&self) -> watch::Receiver<bool> {
        self.engine.failed()
    }
}
