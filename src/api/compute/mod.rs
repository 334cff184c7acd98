//! Instances, configs, interfaces and what the provider offers, on the wire.

pub mod configs;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod plans;
pub mod regions;
