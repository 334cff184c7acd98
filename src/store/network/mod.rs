//! Queries for VPCs, subnets, addresses and VLANs.

pub mod free_ranges;
pub mod ips;
pub mod ipv6_prefixes;
pub mod stored_family;
pub mod subnet_names;
pub mod subnets;
pub mod vlans;
pub mod vpc_ips;
pub mod vpcs;
