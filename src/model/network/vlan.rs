//! A VLAN. It exists while an interface names it.

use crate::model::id::InstanceId;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    pub label: String,
    pub region: String,
    /// The instances with an interface on it, in ascending order.
    pub instances: Vec<InstanceId>,
    /// When the oldest config with such an interface was created.
    pub created: Time,
}
