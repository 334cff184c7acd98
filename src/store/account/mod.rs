//! Queries for accounts, events and tags.

pub mod account_networks;
pub mod account_usage;
pub mod accounts;
pub mod announcements;
pub mod branding;
pub mod events;
pub mod tags;
