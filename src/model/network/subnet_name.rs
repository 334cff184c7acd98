//! The names of VPCs and subnets, for links and lists of choices.

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::id::{SubnetId, VpcId};
use crate::model::label::Label;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VpcName {
    pub id: VpcId,
    pub label: Label,
    pub region: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetName {
    pub id: SubnetId,
    pub vpc: VpcId,
    pub vpc_label: Label,
    pub label: Label,
    pub ipv4: Cidr,
    pub ipv6: Option<Cidr6>,
    /// The region of the VPC.
    pub region: String,
}
