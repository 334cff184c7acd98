//! Sends mails: the mail server, the content and the SMTP session (decision 0045).
//!
//! `rules/support/outgoing_mails.rs` decides which mails are sent, and `jobs/mails.rs` runs the attempts.

pub mod message;
pub mod server;
pub mod smtp;
pub mod template;
