//! Queries for instances, disks, configs and interfaces.

pub mod configs;
pub mod disks;
pub mod instances;
mod interface_ranges;
pub mod interfaces;
mod upkeep;
