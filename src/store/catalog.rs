//! Keeps the regions and plans of the policy equal to the stored ones (decision 0043).
//!
//! A notification announces a change on all nodes. Notifications can be lost, so a server also reads the tables again
//! at an interval.

use std::time::Duration;

use tokio::sync::{Mutex, oneshot, watch};

use super::Store;
use super::error::StoreError;
use super::notifier::{Notifier, Topic};
use super::task::Task;
use super::tx::ReadTx;
use super::{plans, regions};
use crate::model::stored_catalog::StoredCatalog;

/// The interval at which a server reads the regions and plans, in case it missed a notification.
const INTERVAL: Duration = Duration::from_secs(2);

/// The notifications of changes. The lock is held while the tables are read, so that a caller that waits for it finds
/// the result, and an older result never replaces a newer one.
pub struct CatalogChanges(Mutex<watch::Receiver<()>>);

impl CatalogChanges {
    pub fn new(notifier: &Notifier) -> Self {
        Self(Mutex::new(notifier.subscribe(Topic::Catalog)))
    }
}

/// The stored regions and plans.
pub fn load(tx: &mut ReadTx) -> Result<StoredCatalog, StoreError> {
    Ok(StoredCatalog {
        regions: regions::list(tx)?.into_iter().map(|(region, _)| region).collect(),
        plans: plans::list(tx)?.into_iter().map(|(plan, _)| plan).collect(),
    })
}

/// The stored regions and plans; none if the store has an older schema.
pub fn load_if_present(tx: &mut ReadTx) -> Result<StoredCatalog, StoreError> {
    match tx.tables()?.iter().any(|table| table == "catalog_plan") {
        true => load(tx),
        false => Ok(StoredCatalog::default()),
    }
}

impl Store {
    /// Reads the regions and plans when the store is opened. After an error, the policy has those of the settings, so
    /// that `garth check` can open a damaged store.
    pub(super) fn load_catalog(&self) {
        match self.load_blocking() {
            Ok(stored) => self.context().policy.set_stored(stored),
            Err(cause) => tracing::error!(error = %cause, "regions and plans not read"),
        }
    }

    fn load_blocking(&self) -> Result<StoredCatalog, StoreError> {
        let (reply, result) = oneshot::channel();
        let task = Task::new(|tx: &mut ReadTx<'_>| load_if_present(tx)).with_reply(reply);
        self.engine.read(Box::new(task))?;
        // The caller's thread may run an async runtime. Such a thread must not wait for a message.
        let received = std::thread::scope(|scope| scope.spawn(|| result.blocking_recv()).join());
        let stored = received.map_err(|_| StoreError::Panicked)?;
        stored.map_err(|_| StoreError::Stopped)?
    }

    /// Reads the regions and plans again, if they were changed.
    pub(super) async fn refresh_catalog(&self) {
        let mut changes = self.catalog.0.lock().await;
        if changes.has_changed().unwrap_or(false) {
            self.read_catalog(&mut changes).await;
        }
    }

    /// Reads the regions and plans after each change, and at an interval, until `stopping` is true.
    pub async fn watch_catalog(self, mut stopping: watch::Receiver<bool>) {
        let mut notified = self.notifier().subscribe(Topic::Catalog);
        loop {
            tokio::select! {
                _ = stopping.wait_for(|stopping| *stopping) => return,
                _ = notified.changed() => {}
                () = tokio::time::sleep(INTERVAL) => {}
            }
            let mut changes = self.catalog.0.lock().await;
            self.read_catalog(&mut changes).await;
        }
    }

    async fn read_catalog(&self, changes: &mut watch::Receiver<()>) {
        changes.mark_unchanged();
        match self.read(load).await {
            Ok(stored) => self.context().policy.set_stored(stored),
            Err(cause) => {
                changes.mark_changed();
                tracing::debug!(error = %cause, "regions and plans not read");
            }
        }
    }
}
