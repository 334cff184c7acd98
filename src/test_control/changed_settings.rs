//! Settings that can be changed while the server runs: those that only the policy contains.

use serde_json::{Map, Value};

use crate::model::policy::Policy;
use crate::rules::Result;
use crate::store::Store;

/// Builds the policy from the settings of the server and the changed settings, by their names in the settings file.
pub type PolicyChange = Box<dyn Fn(&Map<String, Value>) -> Result<Policy> + Send>;

pub struct ChangedSettings {
    settings: Map<String, Value>,
    change_policy: PolicyChange,
}

impl ChangedSettings {
    pub fn new(change_policy: PolicyChange) -> Self {
        Self {
            settings: Map::new(),
            change_policy,
        }
    }

    /// All changed settings.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// Changes settings. `null` returns to the value of the server.
    pub fn change(&mut self, changes: &Map<String, Value>, store: &Store) -> Result<()> {
        let mut settings = self.settings.clone();
        for (name, value) in changes {
            match value {
                Value::Null => drop(settings.shift_remove(name)),
                value => drop(settings.insert(name.clone(), value.clone())),
            }
        }
        let policy = (self.change_policy)(&settings)?;
        store.context().policy.replace(Some(policy));
        self.settings = settings;
        Ok(())
    }

    /// Returns to the settings of the server.
    pub fn clear(&mut self, store: &Store) {
        self.settings.clear();
        store.context().policy.replace(None);
    }
}
