//! Snapshots of a whole store, in memory, for test control (decision 0035).

use std::sync::Arc;

use super::engine::DatabaseCopy;
use super::error::StoreError;
use super::notifier::Topic;
use super::table_snapshot::TableSnapshot;
use super::task::Task;
use super::tx::{ReadTx, WriteTx};
use super::write_lock::WriteLock;
use super::{Store, attachments, jobs};

/// The content of a store at one moment.
pub struct StoreSnapshot {
    content: Content,
    /// The keys of the files of attachments.
    pub file_keys: Vec<String>,
}

enum Content {
    /// The database itself, which is faster than its rows.
    Database(Box<dyn DatabaseCopy>),
    Rows(TableSnapshot),
}

impl Store {
    pub async fn snapshot(&self) -> Result<StoreSnapshot, StoreError> {
        let engine = self.engine.clone();
        let copying = tokio::task::spawn_blocking(move || engine.copy());
        let Some(copy) = copying.await.unwrap_or(Err(StoreError::Panicked))? else {
            return self.read_once(StoreSnapshot::of_rows).await;
        };
        let mut task = Task::new(|tx: &mut ReadTx<'_>| attachments::file_keys(tx));
        copy.read(&mut task, &self.context)?;
        Ok(StoreSnapshot {
            content: Content::Database(copy),
            file_keys: task.into_result()?,
        })
    }

    /// Replaces the content of the store. The next IDs are those that followed the snapshot. No job has a lease. The
    /// caller ensures that no other code uses the store.
    pub async fn restore(&self, snapshot: Arc<StoreSnapshot>) -> Result<(), StoreError> {
        let copied = snapshot.clone();
        let copying = tokio::task::spawn_blocking(move || copied.restore_database());
        copying.await.unwrap_or(Err(StoreError::Panicked))?;
        let write = move |tx: &mut WriteTx<'_>| {
            if let Content::Rows(rows) = &snapshot.content {
                rows.restore(tx)?;
            }
            tx.notify_on_commit(Topic::Catalog);
            jobs::release_all(tx)
        };
        self.write_with(Some(WriteLock::Bootstrap), write).await
    }
}

impl StoreSnapshot {
    fn of_rows(tx: &mut ReadTx) -> Result<Self, StoreError> {
        Ok(Self {
            content: Content::Rows(TableSnapshot::read(tx)?),
            file_keys: attachments::file_keys(tx)?,
        })
    }

    fn restore_database(&self) -> Result<(), StoreError> {
        match &self.content {
            Content::Database(copy) => copy.restore(),
            Content::Rows(_) => Ok(()),
        }
    }
}
