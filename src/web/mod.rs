//! The HTTP server: connections, TLS, authentication, limits, and the code that all requests and responses share.
//!
//! Code for single resources is in `api` and `console`, which use this module. The exceptions are IDs in paths,
//! attachments and log-in.

pub(crate) mod access;
pub(crate) mod answering;
mod answers;
pub(crate) mod app;
pub(crate) mod brand;
pub(crate) mod client_address;
mod connection;
pub(crate) mod cookies;
pub(crate) mod error;
pub(crate) mod event_stream;
pub(crate) mod extract;
mod incoming;
pub(crate) mod insecure;
pub(crate) mod known_brand;
pub mod limits;
pub(crate) mod load;
mod login;
pub mod metrics;
pub(crate) mod ongoing_condition;
pub mod operation;
pub(crate) mod origin;
pub(crate) mod pages;
pub(crate) mod proxies;
pub(crate) mod readiness;
pub mod server;

pub use answers::answer::ranges_json;
pub(crate) use answers::{answer, chunks, common_headers, downloads, entity_tags, response_memory};
pub use connection::{connections, tls};
pub(crate) use connection::{cut, head_lines, refusals, sending, timed_connection, unread, write_stall};
pub(crate) use incoming::{body, fields, file_names, host, json, part_heads, paths, upload, upload_body};
pub(crate) use login::{
    hashing, log_in_form, login_attempts, login_names, login_throttle, taken_names, throttle, user_names,
};

pub use app::{App, MIN_FREE_BYTES, Options, WireNames};
pub use client_address::ClientAddress;
pub use login::login_names::LoginNames;
pub use proxies::Network;
