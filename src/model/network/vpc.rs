//! A virtual private cloud.

use crate::model::cidr::Cidr6;
use crate::model::id::VpcId;
use crate::model::label::Label;
use crate::model::range_request::RangeRequest;
use crate::model::region::RegionId;
use crate::model::subnet::{NewSubnet, Subnet};
use crate::model::text::Description;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vpc {
    pub id: VpcId,
    pub label: Label,
    pub description: Description,
    pub region: RegionId,
    /// `None` if the VPC has only IPv4 subnets.
    pub ipv6: Option<Cidr6>,
    pub subnets: Vec<Subnet>,
    pub created: Time,
    pub updated: Time,
}

impl Vpc {
    /// The only type of VPC.
    pub const TYPE: &str = "regular";
}

#[derive(Clone, Debug)]
pub struct NewVpc {
    pub label: Label,
    pub region: RegionId,
    pub description: Description,
    pub ipv6: Option<RangeRequest>,
    pub subnets: Vec<NewSubnet>,
}

/// `None` leaves a field unchanged.
#[derive(Clone, Debug)]
pub struct VpcChange {
    pub label: Option<Label>,
    pub description: Option<Description>,
}
