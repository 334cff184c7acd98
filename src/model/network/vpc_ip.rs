//! Addresses of VPC interfaces (interface §2.3).

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId, VpcId};

/// One address or one range of an interface.
#[derive(Clone, Debug)]
pub struct VpcIp {
    /// `None` for a range.
    pub address: Option<u32>,
    pub range: Option<Cidr>,
    pub vpc: VpcId,
    pub subnet: SubnetId,
    pub region: String,
    pub instance: InstanceId,
    pub config: ConfigId,
    pub interface: InterfaceId,
    pub active: bool,
    pub nat_1_1: Option<u32>,
    pub subnet_range: Cidr,
}

/// One IPv6 network of an interface.
#[derive(Clone, Debug)]
pub struct VpcIpv6 {
    pub range: Cidr6,
    /// Whether the instance configures an address in the network; false for a routed network.
    pub is_slaac: bool,
    pub is_public: bool,
    pub vpc: VpcId,
    pub subnet: SubnetId,
    pub region: String,
    pub instance: InstanceId,
    pub config: ConfigId,
    pub interface: InterfaceId,
    pub active: bool,
}
