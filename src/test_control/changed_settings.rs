//! Settings that can be changed while the server runs: those that only the policy contains.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::model::policy::Policy;
use crate::rules::Result;
use crate::store::Store;

/// Builds the policy from the settings of the server and the changed settings, by their names in the settings file.
pub type PolicyChange = Box<dyn Fn(&Map<String, Value>) -> Result<Policy> + Send>;

pub struct ChangedSettings {
    settings: Map<String, Value>,
    change_policy: PolicyChange,
    /// A policy cannot be freed, so the same changes use the same policy again.
    policies: HashMap<String, &'static Policy>,
}

impl ChangedSettings {
    pub fn new(change_policy: PolicyChange) -> Self {
        Self {
            settings: Map::new(),
            change_policy,
            policies: HashMap::new(),
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
        let key = Value::Object(settings.clone()).to_string();
        let policy = match self.policies.get(&key) {
            Some(policy) => policy,
            None => {
                let policy: &'static Policy = Box::leak(Box::new((self.change_policy)(&settings)?));
                self.policies.insert(key, policy);
                policy
            }
        };
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
