//! A range of addresses inside a VPC.

use super::cidr::Cidr;
use super::id::{SubnetId, VpcId};
use super::label::Label;
use super::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subnet {
    pub id: SubnetId,
    pub vpc: VpcId,
    pub label: Label,
    pub ipv4: Cidr,
    pub created: Time,
    pub updated: Time,
}

#[derive(Clone, Debug)]
pub struct NewSubnet {
    pub label: Label,
    pub ipv4: Cidr,
}

/// What is `None` stays as it is.
#[derive(Clone, Debug)]
pub struct SubnetChange {
    pub label: Option<Label>,
}
