//! Instances, their configs, and the provider's catalog.

pub mod config;
pub mod image;
pub mod instance;
pub mod interface;
pub mod plan;
pub mod power;
pub mod region;
