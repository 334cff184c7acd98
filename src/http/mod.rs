//! How it is spoken: the operation table, paths, JSON shapes, status codes.
//!
//! A handler reads the request, runs one rule in one transaction and shapes the answer; it
//! decides nothing. What every answer has in common is added in `answering`.

mod access;
mod accounts;
mod answer;
pub(crate) mod answering;
mod app;
mod apps;
pub(crate) mod attachments;
pub(crate) mod body;
mod canned_replies;
mod configs;
pub(crate) mod cookies;
mod desk;
mod docs;
mod entities;
pub(crate) mod error;
mod events;
pub(crate) mod extract;
pub(crate) mod fields;
mod grants;
mod health;
mod icon;
mod images;
mod instances;
mod interfaces;
mod json;
pub mod limits;
pub(crate) mod load;
pub(crate) mod logins;
pub mod metrics;
pub(crate) mod oauth;
mod oauth_clients;
mod oauth_tokens;
pub mod operations;
pub(crate) mod pages;
mod paths;
mod plans;
mod profile;
mod proxies;
mod regions;
mod replies;
pub mod server;
mod subnets;
mod tickets;
pub mod tls;
mod tokens;
mod upload;
mod users;
mod vpc_ips;
mod vpcs;
mod wire;

pub use app::{App, Options, WireNames};
pub use desk::{DeskTicketView, HistoryView};
pub use docs::openapi_json;
pub use proxies::Network;
pub use replies::ReplyView;
pub use vpcs::VpcView;
