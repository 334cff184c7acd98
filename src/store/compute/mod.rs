//! Queries for instances, disks, configs and interfaces.

pub mod configs;
pub mod disks;
pub mod instances;
pub mod interface_ranges;
pub mod interfaces;
pub mod plans;
pub mod regions;
mod upkeep;
