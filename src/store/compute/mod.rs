//! Queries for instances, configs and interfaces.

pub mod configs;
pub mod instances;
pub mod interfaces;
