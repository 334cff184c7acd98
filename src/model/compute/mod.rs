//! Instances, what they boot from, and what the provider offers.

pub mod config;
pub mod image;
pub mod instance;
pub mod interface;
pub mod plan;
pub mod power;
pub mod region;
