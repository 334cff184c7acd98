//! Rules for VPCs, subnets and addresses.

pub mod address_map;
pub mod addresses;
pub mod ips;
pub mod subnets;
pub mod vpc_ips;
pub mod vpcs;
