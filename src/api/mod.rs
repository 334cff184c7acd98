//! The JSON API: the operation table and the views of the resources.
//!
//! A handler reads the request, runs one rule in one transaction and builds the response. All decisions are
//! in the rules.

mod account;
mod compute;
pub(crate) mod docs;
pub(crate) mod entity_urls;
mod handlers;
pub(crate) mod health;
mod hosting;
pub(crate) mod icon;
mod identity;
mod jobs;
mod network;
pub mod operations;
mod other_products;
pub(crate) mod service;
mod support;

pub(crate) use compute::{instances, interfaces};
pub(crate) use identity::oauth;
pub(crate) use network::{ips, ranges, subnets, vpc_ips, vpcs};
pub(crate) use support::{
    desk, history, mail_counts, mail_templates, outgoing_mails, replies, reports, saved_views,
    suppressed_addresses, tickets,
};

pub use desk::DeskTicketView;
pub use docs::openapi_json;
pub use handlers::ViewContext;
pub use history::HistoryView;
pub use hosting::encryption::EncryptionView;
pub use hosting::hosts::HostView;
pub use hosting::traces::TraceView;
pub use operations::router;
pub use replies::ReplyView;
pub use vpcs::VpcView;
