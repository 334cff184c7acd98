//! Sends mails (decision 0045).

pub mod server;
