//! The provider's policy in use: the settings, with the regions and plans that staff have stored (decision 0043).
//!
//! A transaction uses one policy from its start to its end. Test control can replace the settings while the server
//! runs (decision 0035).

use std::sync::{Arc, PoisonError, RwLock};

use crate::model::policy::Policy;
use crate::model::stored_catalog::StoredCatalog;

pub struct CurrentPolicy(RwLock<Parts>);

struct Parts {
    configured: Policy,
    /// The policy that replaces the configured one.
    replacement: Option<Policy>,
    stored: StoredCatalog,
    /// The result: the configured policy or its replacement, with the stored regions and plans.
    in_use: Arc<Policy>,
}

impl Parts {
    fn combine(&mut self) {
        let settings = self.replacement.as_ref().unwrap_or(&self.configured);
        self.in_use = Arc::new(settings.with_stored(&self.stored));
    }
}

impl CurrentPolicy {
    pub fn get(&self) -> Arc<Policy> {
        let parts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        parts.in_use.clone()
    }

    /// Whether the settings have a region with this ID. Staff may have changed it.
    pub fn configures_region(&self, id: &str) -> bool {
        self.with_settings(|settings| settings.regions.iter().any(|region| region.id == id))
    }

    /// Whether the settings have a plan with this ID. Staff may have changed it.
    pub fn configures_plan(&self, id: &str) -> bool {
        self.with_settings(|settings| settings.plans.iter().any(|plan| plan.id == id))
    }

    fn with_settings<T>(&self, read: impl FnOnce(&Policy) -> T) -> T {
        let parts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        read(parts.replacement.as_ref().unwrap_or(&parts.configured))
    }

    /// Replaces the configured policy, or returns to it.
    pub fn replace(&self, policy: Option<Policy>) {
        let mut parts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        parts.replacement = policy;
        parts.combine();
    }

    pub fn set_stored(&self, stored: StoredCatalog) {
        let mut parts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if parts.stored != stored {
            parts.stored = stored;
            parts.combine();
        }
    }
}

impl From<Policy> for CurrentPolicy {
    fn from(configured: Policy) -> Self {
        Self(RwLock::new(Parts {
            in_use: Arc::new(configured.clone()),
            configured,
            replacement: None,
            stored: StoredCatalog::default(),
        }))
    }
}
