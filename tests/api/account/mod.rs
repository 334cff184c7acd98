//! Accounts and their events.

mod account_events;
mod account_networks;
pub mod accounts;
pub mod announcements;
mod branding;
mod events;
mod provider_accounts;
pub mod settings;
pub mod stream;
mod tags;
