//! A subnet of a VPC.

use crate::model::cidr::Cidr;
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::label::Label;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subnet {
    pub id: SubnetId,
    pub vpc: VpcId,
    pub label: Label,
    pub ipv4: Cidr,
    /// The interfaces in the subnet, ordered by instance, config and position.
    pub uses: Vec<SubnetUse>,
    pub created: Time,
    pub updated: Time,
}

/// An interface in a subnet, with its instance and config.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubnetUse {
    pub subnet: SubnetId,
    pub instance: InstanceId,
    pub instance_label: String,
    pub config: ConfigId,
    pub config_label: String,
    pub interface: InterfaceId,
    pub active: bool,
}

#[derive(Clone, Debug)]
pub struct NewSubnet {
    pub label: Label,
    pub ipv4: Cidr,
}

/// `None` leaves a field unchanged.
#[derive(Clone, Debug)]
pub struct SubnetChange {
    pub label: Option<Label>,
}
