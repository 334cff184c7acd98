//! Rules for instances, configs and interfaces.

pub mod configs;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod loading;
pub mod plans;
pub mod power;
pub mod regions;
