//! A subnet of a VPC.

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::label::Label;
use crate::model::range_request::RangeRequest;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subnet {
    pub id: SubnetId,
    pub vpc: VpcId,
    pub label: Label,
    pub ipv4: Cidr,
    /// A part of the IPv6 range of the VPC; `None` if the subnet has only IPv4 addresses.
    pub ipv6: Option<Cidr6>,
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
    pub ipv6: Option<RangeRequest>,
}

/// `None` leaves a field unchanged.
#[derive(Clone, Debug)]
pub struct SubnetChange {
    pub label: Option<Label>,
}
