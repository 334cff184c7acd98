//! VPCs, subnets and their addresses.

pub mod ips;
mod subnets;
pub mod vpc_ips;
pub mod vpcs;
