//! Pages for VPCs, subnets and their addresses.

pub mod address_map;
pub mod subnets;
pub mod usage;
pub mod vpcs;
