//! Rules for accounts and events.

pub mod accounts;
pub mod events;
pub mod settings;
pub mod tags;
