//! What may happen: who may, what must hold, what changes, and which event tells of it.
//!
//! A rule is plain synchronous Rust over a transaction; every `?` before its end undoes
//! everything before it. Rules know nothing of HTTP, SQL or the terminal.

pub mod accounts;
pub mod address_map;
pub mod addresses;
pub mod agent;
pub mod apps;
pub mod attachments;
pub mod caller;
pub mod canned_replies;
pub mod complaints;
pub mod configs;
pub mod desk;
pub mod devices;
pub mod entities;
pub mod error;
pub mod events;
pub mod filters;
pub mod form;
pub mod grants;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod lists;
pub mod oauth;
pub mod oauth_clients;
pub mod oauth_tokens;
pub mod once;
pub mod passwords;
pub mod plans;
pub mod power;
pub mod profile;
pub mod regions;
pub mod replies;
pub mod request;
pub mod scrub;
pub mod sessions;
pub mod subjects;
pub mod subnets;
pub mod tickets;
pub mod tokens;
pub mod transitions;
mod unique;
pub mod users;
pub mod viewers;
pub mod vpc_ips;
pub mod vpcs;

pub use error::{Error, Result};
