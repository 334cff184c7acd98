//! Rules for accounts and events.

pub mod account_events;
pub mod account_networks;
pub mod accounts;
pub mod announcements;
pub mod branding;
pub mod event_changes;
pub mod events;
pub mod provider_accounts;
pub mod settings;
pub mod tags;
