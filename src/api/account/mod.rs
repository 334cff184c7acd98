//! Accounts and events on the wire.

pub mod accounts;
pub mod events;
