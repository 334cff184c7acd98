//! What may happen to accounts, and their events.

pub mod accounts;
pub mod events;
