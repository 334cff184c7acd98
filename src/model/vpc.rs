//! A virtual private cloud.

use super::id::VpcId;
use super::label::Label;
use super::region::RegionId;
use super::subnet::{NewSubnet, Subnet};
use super::text::Description;
use super::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vpc {
    pub id: VpcId,
    pub label: Label,
    pub description: Description,
    pub region: RegionId,
    pub subnets: Vec<Subnet>,
    pub created: Time,
    pub updated: Time,
}

#[derive(Clone, Debug)]
pub struct NewVpc {
    pub label: Label,
    pub region: RegionId,
    pub description: Description,
    pub subnets: Vec<NewSubnet>,
}

/// What is `None` stays as it is.
#[derive(Clone, Debug)]
pub struct VpcChange {
    pub label: Option<Label>,
    pub description: Option<Description>,
}
