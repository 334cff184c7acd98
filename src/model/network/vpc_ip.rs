//! Addresses of VPC interfaces (interface §2.3).

use crate::model::cidr::Cidr;
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
