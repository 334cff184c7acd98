//! Where things are kept: SQL in, model out.
//!
//! A rule is plain synchronous Rust over a transaction; the store runs it on a thread of its own
//! and hands back what it made. No rule, no permission and no event is decided here, and only
//! `sqlite.rs` knows which database this is.

pub mod accounts;
pub mod attachments;
pub mod bell;
pub mod canned_replies;
pub mod configs;
pub mod desk;
pub mod due_work;
pub mod entities;
pub mod error;
pub mod events;
pub mod filter;
pub mod free_ranges;
pub mod grants;
pub mod history;
pub mod instances;
pub mod interfaces;
pub mod list;
mod migrate;
pub mod notes;
pub mod replies;
pub mod search;
mod sqlite;
pub mod subnets;
mod task;
pub mod tickets;
pub mod tokens;
mod tx;
pub mod users;
pub mod value;
pub mod vpc_ips;
pub mod vpcs;
pub mod world;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{oneshot, watch};

pub use error::StoreError;
pub use tx::{ReadTx, WriteTx};
pub use world::World;

use bell::Bell;
use task::{ReadJob, Task, WriteJob};

/// A handle to the store; clones share it.
#[derive(Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    world: Arc<World>,
    bell: Arc<Bell>,
}

/// What a database must do for the store.
trait Engine: Send + Sync {
    fn read(&self, job: Box<dyn ReadJob>) -> Result<(), StoreError>;
    fn write(&self, job: Box<dyn WriteJob>) -> Result<(), StoreError>;
    /// Becomes true when the store can no longer promise that what it wrote is kept.
    fn failed(&self) -> watch::Receiver<bool>;
    /// Tidies up with the next write.
    fn close(&self);
}

impl Store {
    /// Opens the embedded store in a folder, making both if they are not there.
    pub fn open_embedded(folder: &Path, world: World) -> Result<Self, StoreError> {
        Self::open_embedded_grouping(folder, world, sqlite::GROUP)
    }

    /// The same with another number of writes that may share a commit, for measuring what that brings.
    pub fn open_embedded_grouping(folder: &Path, world: World, group: usize) -> Result<Self, StoreError> {
        let world = Arc::new(world);
        let bell = Arc::new(Bell::default());
        let engine = sqlite::Sqlite::open(folder, world.clone(), bell.clone(), group)?;
        Ok(Self {
            engine: Arc::new(engine),
            world,
            bell,
        })
    }

    /// Runs work that only looks, all of it at one moment of the store.
    pub async fn read<T, E>(
        &self,
        work: impl FnOnce(&mut ReadTx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (answer, waiting) = oneshot::channel();
        let mut work = Some(work);
        let once = move |tx: &mut ReadTx<'_>| {
            let work = work.take().expect("a read runs once");
            work(tx)
        };
        self.engine.read(Box::new(Task::new(once, answer)))?;
        waiting.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
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
        let (answer, waiting) = oneshot::channel();
        self.engine.write(Box::new(Task::new(work, answer)))?;
        waiting.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Leaves the store as tidy as can be. Nothing depends on it: a store is whole at any moment.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.engine.close();
        self.write(|_| Ok(())).await
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    pub fn failed(&self) -> watch::Receiver<bool> {
        self.engine.failed()
    }
}
