//! Snapshots of the store, in memory, and the rows of a first start.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::time::Time;
use crate::rules::Result;
use crate::store::Store;
use crate::store::snapshot::StoreSnapshot;
use crate::store::table_snapshot::{StoredToken, TableSnapshot};

pub struct Snapshots {
    /// The rows of a store that no server has used. `None` if the server does not have the operations under `/_test`.
    empty: Option<Arc<TableSnapshot>>,
    /// The token of the first start.
    pub first_token: Arc<Option<StoredToken>>,
    by_name: Mutex<BTreeMap<String, Snapshot>>,
}

#[derive(Clone)]
pub struct Snapshot {
    pub created: Time,
    pub content: Arc<StoreSnapshot>,
}

impl Snapshots {
    /// Remembers the token of the first start, because a reset creates it again.
    pub async fn start(store: &Store, empty: Option<TableSnapshot>) -> Result<Self> {
        Ok(Self {
            empty: empty.map(Arc::new),
            first_token: Arc::new(store.read(StoredToken::of_first_user).await?),
            by_name: Mutex::default(),
        })
    }

    /// The rows of a store that no server has used.
    pub fn empty(&self) -> Arc<TableSnapshot> {
        let empty = self.empty.clone();
        empty.expect("a server with the operations under /_test has an empty snapshot")
    }

    pub fn by_name(&self) -> MutexGuard<'_, BTreeMap<String, Snapshot>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn find(&self, name: &str) -> Option<Snapshot> {
        self.by_name().get(name).cloned()
    }

    /// The keys of all files to which snapshots refer.
    pub fn file_keys(&self) -> HashSet<String> {
        let snapshots = self.by_name();
        let keys = snapshots
            .values()
            .flat_map(|snapshot| &snapshot.content.file_keys);
        keys.cloned().collect()
    }
}
