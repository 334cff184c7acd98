//! The provider's policy in use. Test control can replace it while the server runs (decision 0035).

use std::ops::{Deref, DerefMut};
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::model::policy::Policy;

pub struct CurrentPolicy {
    configured: Policy,
    /// The policy that replaces the configured one. It is set only by test control, so a server without test control
    /// takes no lock. Transactions borrow the policy for as long as they run, so a replacement is never freed.
    replacement: OnceLock<RwLock<Option<&'static Policy>>>,
}

impl CurrentPolicy {
    /// Replaces the configured policy, or returns to it.
    pub fn replace(&self, policy: Option<&'static Policy>) {
        let replacement = self.replacement.get_or_init(RwLock::default);
        *replacement.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }
}

impl From<Policy> for CurrentPolicy {
    fn from(configured: Policy) -> Self {
        Self {
            configured,
            replacement: OnceLock::new(),
        }
    }
}

impl Deref for CurrentPolicy {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        let replacement = self.replacement.get();
        let replaced = replacement.and_then(|policy| *policy.read().unwrap_or_else(PoisonError::into_inner));
        replaced.unwrap_or(&self.configured)
    }
}

impl DerefMut for CurrentPolicy {
    fn deref_mut(&mut self) -> &mut Policy {
        &mut self.configured
    }
}
