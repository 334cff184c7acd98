//! Instances, configs, interfaces and what the provider offers.

pub mod configs;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod regions;
