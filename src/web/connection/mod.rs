//! Connections: limits, timeouts and TLS.

pub mod connections;
pub mod head_lines;
pub mod refusals;
pub mod sending;
pub mod tls;
pub mod unread;
pub mod wire;
pub mod write_stall;
