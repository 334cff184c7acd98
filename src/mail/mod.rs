//! Mail: reads incoming messages and delivers them to the desk, and sends mails.
//!
//! `inbound` only parses. `lmtp` receives messages from a mail server. The rules that act on a parsed message are in
//! `rules/support/received_mails.rs`.

#[cfg(test)]
mod damaged;
pub mod delivery;
pub mod inbound;
pub mod lmtp;
pub mod outbound;
