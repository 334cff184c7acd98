//! Rules for hosts, their agents and the placement of instances.

pub mod desired_state;
pub mod drain;
pub mod encryption;
pub mod host_principal;
pub mod host_status;
pub mod hosts;
pub mod placements;
pub mod ports;
pub mod traces;
