//! Receives messages by LMTP (RFC 2033) from the provider's mail server.
//!
//! `session` is the protocol, without I/O. `connection` reads, writes and calls the desk. LMTP has no authentication, so
//! `listener` accepts only addresses of this machine unless a setting permits others.

mod command_lines;
mod connection;
mod desk;
mod listener;
mod message_data;
mod reply;
mod session;
#[cfg(test)]
mod session_tests;
mod socket;

pub use connection::Timeouts;
pub use listener::{Limits, serve};
pub use reply::Reply;
pub use session::{Action, RecipientVerdict, Session};
pub use socket::{LmtpAddress, LmtpSocket};
