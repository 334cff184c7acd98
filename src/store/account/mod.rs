//! Queries for accounts, events and tags.

pub mod accounts;
pub mod events;
pub mod tags;
