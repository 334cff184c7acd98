//! Private networks: VPCs, subnets and addresses.

pub mod address_map;
pub mod cidr;
pub mod family;
pub mod ip;
pub mod ipv6_pool;
pub mod network_map;
pub mod range_placement;
pub mod range_request;
pub mod subnet;
pub mod subnet_name;
pub mod vlan;
pub mod vpc;
pub mod vpc_ip;
