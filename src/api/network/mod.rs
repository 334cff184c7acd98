//! VPCs, subnets and their addresses on the wire.

pub mod subnets;
pub mod vpc_ips;
pub mod vpcs;
