//! VPCs, subnets and their addresses.

pub mod ips;
pub mod subnets;
pub mod vlans;
pub mod vpc_ips;
pub mod vpcs;
