//! A VLAN. It exists as long as an interface has its label.

use crate::model::id::InstanceId;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    pub label: String,
    pub region: String,
    /// The instances with an interface in the VLAN, in ascending order.
    pub instances: Vec<InstanceId>,
    /// The creation time of the oldest config with an interface in the VLAN.
    pub created: Time,
}
