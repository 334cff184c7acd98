//! Connections: limits, timeouts and TLS.

pub mod connections;
pub mod cut;
pub mod head_lines;
pub mod refusals;
pub mod sending;
pub mod timed_connection;
pub mod tls;
pub mod unread;
pub mod write_stall;
