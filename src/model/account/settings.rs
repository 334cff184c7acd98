//! The settings of an account.

use crate::model::upkeep::MaintenancePolicy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountSettings {
    /// Whether new configs enable the network helper.
    pub network_helper: bool,
    /// The policy of new instances.
    pub maintenance_policy: MaintenancePolicy,
}

impl AccountSettings {
    /// The generation of the interfaces of new instances. There is no other.
    pub const INTERFACES_FOR_NEW_LINODES: &str = "legacy_config_only";
    /// Garth has no object storage.
    pub const OBJECT_STORAGE: &str = "disabled";
}
