//! Accounts and their events.

pub mod accounts;
pub mod events;
pub mod settings;
pub mod stream;
mod tags;
