//! The engine for several nodes that share a PostgreSQL database (decision 0016).
//!
//! Worker threads, each with a connection, take jobs from the queues. Some of the workers only read, so that reads
//! continue while writes wait for each other. A crash of a node loses no data, because all data is in the database.
//! Only this folder has code that is specific to PostgreSQL.

mod address;
mod connection;
mod diagnosis;
mod failure;
mod locks;
mod node_notifications;
mod reconnect;
mod restore_target;
mod schema;
mod sql;
mod statements;
mod tls;
mod values;
mod worker;
mod write_queue;

use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Sender, TrySendError, bounded, never};
use tokio::sync::watch;

use self::address::Address;
use self::node_notifications::NodeNotifications;
use self::reconnect::ReconnectingConnection;
use self::worker::Worker;
use self::write_queue::WriteQueue;
use super::context::StoreContext;
use super::database::Database;
use super::engine::Engine;
use super::error::StoreError;
use super::migrate::Schema;
use super::notifier::Notifier;
use super::task::{MAX_QUEUED_PROBES, MAX_QUEUED_READS, MAX_QUEUED_WRITES, ReadJob, WriteJob};
use super::write_lock::WriteLock;
pub use restore_target::{MarkedDatabase, target_state};

pub struct Postgres {
    reads: Sender<Box<dyn ReadJob>>,
    probes: Sender<Box<dyn ReadJob>>,
    write_queue: Arc<WriteQueue>,
    node_notifications: Arc<NodeNotifications>,
    /// Dropping this sender ends the threads.
    _open: Sender<()>,
    /// Never true: the server is responsible for the durability of commits.
    failed: watch::Sender<bool>,
}

impl Postgres {
    pub fn open(
        database: &Database,
        schema: &Schema,
        context: &Arc<StoreContext>,
        notifier: &Arc<Notifier>,
    ) -> Result<Self, StoreError> {
        let address = Arc::new(Address::new(database)?);
        on_own_thread(|| schema::migrate_shared(&address, schema, context.clock.now()))?;

        let (reads, queued_reads) = bounded(MAX_QUEUED_READS);
        let (write_queue, ready_writes) = WriteQueue::new(MAX_QUEUED_WRITES);
        let write_queue = Arc::new(write_queue);
        let (open, open_receiver) = bounded(0);
        let node_notifications = Arc::new(NodeNotifications::default());
        let (probes, queued_probes) = bounded(MAX_QUEUED_PROBES);
        let connections = database.connections.max(2);
        let read_only_workers = (connections / 4).max(1);
        let worker = |reads, writes| Worker {
            connection: ReconnectingConnection::new(address.clone()),
            reads,
            writes,
            write_queue: write_queue.clone(),
            open: open_receiver.clone(),
            context: context.clone(),
            notifier: notifier.clone(),
            node_notifications: node_notifications.clone(),
        };
        for number in 0..connections {
            let writes = match number < read_only_workers {
                true => never(),
                false => ready_writes.clone(),
            };
            let worker = worker(queued_reads.clone(), writes);
            spawn(format!("store-{number}"), move || worker.run())?;
        }
        let prober = worker(queued_probes, never());
        spawn("store-probe".to_owned(), move || prober.run())?;
        let (receiving, sending) = (notifier.clone(), node_notifications.clone());
        spawn("store-announce".to_owned(), move || {
            node_notifications::run(&address, &receiving, &sending)
        })?;
        Ok(Self {
            reads,
            probes,
            write_queue,
            node_notifications,
            _open: open,
            failed: watch::Sender::new(false),
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.node_notifications.close();
    }
}

impl Engine for Postgres {
    fn read(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError> {
        submit(&self.reads, job)
    }

    fn probe(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError> {
        submit(&self.probes, job)
    }

    fn write(&self, job: Box<dyn WriteJob>, lock: Option<WriteLock>) -> Result<(), StoreError> {
        self.write_queue.push(job, lock)
    }

    fn failed(&self) -> watch::Receiver<bool> {
        self.failed.subscribe()
    }

    fn close(&self) {}
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

/// Runs work on a new thread and waits for the result. The caller's thread may run a Tokio runtime, and a
/// connection must not be used on such a thread.
fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, StoreError> + Send) -> Result<T, StoreError> {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or(Err(StoreError::Panicked)))
}
