//! Instances, configs, interfaces and the provider's catalog.

mod config_settings;
pub mod configs;
mod deployment;
pub mod disks;
pub mod images;
mod instance_deletion;
pub mod instances;
pub mod interfaces;
pub mod interfaces_ipv6;
pub mod kernels;
mod power;
mod provider_plans;
mod provider_regions;
pub mod regions;
mod upkeep;
pub mod usage;
