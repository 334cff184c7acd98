//! VPCs, subnets and their addresses.

pub mod ips;
pub mod ipv6;
mod ipv6_races;
pub mod subnets;
pub mod vlans;
pub mod vpc_ips;
pub mod vpcs;
mod wire_extras;
