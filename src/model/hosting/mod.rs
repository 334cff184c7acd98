//! Hosts, and the ports of instances on them.

pub mod encryption;
pub mod host;
pub mod port;
pub mod trace;
mod trace_result;
#[cfg(test)]
mod trace_tests;
pub mod traffic;
