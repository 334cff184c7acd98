//! How it is spoken: the operation table, paths, JSON shapes, status codes.
//!
//! A handler reads the request, runs one rule in one transaction and shapes the answer; it
//! decides nothing. What every answer has in common is added in `answering`.

mod access;
mod accounts;
mod answer;
mod answering;
mod app;
mod attachments;
mod body;
mod canned_replies;
mod configs;
mod desk;
mod docs;
mod entities;
mod error;
mod events;
mod extract;
mod health;
mod images;
mod instances;
mod interfaces;
mod json;
pub mod limits;
pub mod metrics;
pub mod operations;
mod paths;
mod plans;
mod regions;
mod replies;
pub mod server;
mod subnets;
mod tickets;
mod upload;
mod vpc_ips;
mod vpcs;
mod wire;

pub use app::{App, Options, WireNames};
pub use desk::{DeskTicketView, HistoryView};
pub use docs::openapi_json;
pub use replies::ReplyView;
