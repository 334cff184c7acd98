//! The brand of the provider, as this node has read it last.
//!
//! Every page needs the brand, and log-in pages read nothing else from the store. A notification announces a change on
//! all nodes. Notifications can be lost, so the node also reads the brand again after a short time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::model::branding::Branding;
use crate::rules::branding;
use crate::store::Store;
use crate::store::notifier::Topic;

/// The age at which a node reads the brand again, in case it missed a notification.
const MAX_AGE: Duration = Duration::from_secs(2);
/// If the store needs longer, pages have the last known brand.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

pub struct KnownBrand(Mutex<Known>);

struct Known {
    brand: Arc<Branding>,
    read_at: Option<Instant>,
    changes: watch::Receiver<()>,
}

impl KnownBrand {
    pub fn new(store: &Store) -> Self {
        Self(Mutex::new(Known {
            brand: Arc::default(),
            read_at: None,
            changes: store.notifier().subscribe(Topic::Branding),
        }))
    }

    /// The brand, read again if it was changed or is too old.
    pub async fn refreshed(&self, store: &Store) -> Arc<Branding> {
        {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_fresh = known.read_at.is_some_and(|read_at| read_at.elapsed() < MAX_AGE);
            if is_fresh && !known.changes.has_changed().unwrap_or(false) {
                return known.brand.clone();
            }
            known.changes.mark_unchanged();
            known.read_at = Some(Instant::now());
        }
        let read = tokio::time::timeout(READ_TIMEOUT, store.read(branding::view)).await;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Ok(brand)) = read {
            known.brand = Arc::new(brand);
        }
        known.brand.clone()
    }
}
