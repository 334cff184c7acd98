//! The settings of an account.

use crate::model::upkeep::MaintenancePolicy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountSettings {
    /// Whether new configs enable the network helper.
    pub network_helper: bool,
    /// The maintenance policy of new instances.
    pub maintenance_policy: MaintenancePolicy,
}

impl AccountSettings {
    /// The kind of interfaces that new instances have. Garth supports no other kind.
    pub const INTERFACES_FOR_NEW_LINODES: &str = "legacy_config_only";
    /// Garth has no object storage.
    pub const OBJECT_STORAGE: &str = "disabled";
}
