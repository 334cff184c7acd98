//! The engine for several nodes: PostgreSQL, which all of them share (decision 0016).
//!
//! Threads with a connection each take whatever waits; some of them only look, so that looking goes on while
//! writers wait for each other. Nothing is remembered here: a node may be killed at any moment, and another
//! started. What other databases call by other names is in this folder and nowhere else.

mod address;
mod connection;
mod failure;
mod line;
mod locks;
mod node_notifications;
mod schema;
mod sql;
mod statements;
mod tls;
mod turns;
mod values;
mod worker;

use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Sender, TrySendError, bounded, never};
use tokio::sync::watch;

use self::address::Address;
use self::line::Line;
use self::node_notifications::NodeNotifications;
use self::turns::Turns;
use self::worker::Worker;
use super::context::StoreContext;
use super::database::Database;
use super::engine::Engine;
use super::error::StoreError;
use super::migrate::Schema;
use super::notifier::Notifier;
use super::task::{MAX_PROBES, MOST_READS, MOST_WRITES, ReadJob, WriteJob};
use super::write_lock::WriteLock;

pub struct Postgres {
    reads: Sender<Box<dyn ReadJob>>,
    probes: Sender<Box<dyn ReadJob>>,
    turns: Arc<Turns>,
    node_notifications: Arc<NodeNotifications>,
    /// The threads end when it is dropped.
    _open: Sender<()>,
    /// Never true: what the server has committed is the server's to keep.
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
        on_own_thread(|| schema::ready(&address, schema, context.clock.now()))?;

        let (reads, waiting_reads) = bounded(MOST_READS);
        let (turns, waiting_writes) = Turns::new(MOST_WRITES);
        let turns = Arc::new(turns);
        let (open, is_open) = bounded(0);
        let node_notifications = Arc::new(NodeNotifications::default());
        let (probes, waiting_probes) = bounded(MAX_PROBES);
        let connections = database.connections.max(2);
        let only_reading = (connections / 4).max(1);
        let worker = |reads, writes| Worker {
            line: Line::new(address.clone()),
            reads,
            writes,
            turns: turns.clone(),
            open: is_open.clone(),
            context: context.clone(),
            notifier: notifier.clone(),
            node_notifications: node_notifications.clone(),
        };
        for number in 0..connections {
            let writes = match number < only_reading {
                true => never(),
                false => waiting_writes.clone(),
            };
            let worker = worker(waiting_reads.clone(), writes);
            spawn(format!("store-{number}"), move || worker.run())?;
        }
        let probing = worker(waiting_probes, never());
        spawn("store-probe".to_owned(), move || probing.run())?;
        let (receiving, sending) = (notifier.clone(), node_notifications.clone());
        spawn("store-announce".to_owned(), move || {
            node_notifications::run(&address, &receiving, &sending)
        })?;
        Ok(Self {
            reads,
            probes,
            turns,
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
        self.turns.join(job, lock)
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

/// Whoever opens a store may be inside of a runtime, where a connection must not be used.
fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, StoreError> + Send) -> Result<T, StoreError> {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or(Err(StoreError::Panicked)))
}
