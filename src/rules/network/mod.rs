//! Rules for VPCs, subnets and addresses.

pub mod address_map;
pub mod addresses;
pub mod default_ranges;
pub mod ips;
pub mod ipv6_prefixes;
pub mod subnet_lists;
pub mod subnet_names;
pub mod subnets;
pub mod vlans;
pub mod vpc_ips;
pub mod vpcs;
