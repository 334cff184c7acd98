//! Rules for instances, disks, configs and interfaces.

pub mod configs;
pub mod deployment;
pub mod disks;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod kernels;
pub mod loading;
pub mod maintenance_policies;
pub mod plans;
pub mod power;
pub mod provider_plans;
pub mod provider_regions;
pub mod refusals;
pub mod regions;
pub mod usage;
pub mod work;
