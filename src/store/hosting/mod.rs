//! Queries for hosts, their secrets, the instances on them and their desired state.

pub mod encryption;
pub mod host_credentials;
pub mod host_reports;
pub mod host_revisions;
pub mod hosts;
pub mod placements;
pub mod port_details;
pub mod ports;
pub mod removed_ports;
pub mod traffic;
