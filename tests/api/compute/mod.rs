//! Instances, configs, interfaces and the provider's catalog.

pub mod configs;
pub mod disks;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod kernels;
pub mod regions;
pub mod usage;
