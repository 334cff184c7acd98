//! Instances, their configs, and the provider's catalog.

mod catalog;
pub mod config;
pub mod disk;
pub mod image;
pub mod instance;
pub mod interface;
pub mod kernel;
pub mod plan;
pub mod region;
pub mod stored_catalog;
pub mod upkeep;
pub mod work;
