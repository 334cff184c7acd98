//! Hosts, and the ports of instances on them.

pub mod agent_runs;
pub mod encryption;
pub mod host;
pub mod host_warning;
pub mod port;
pub mod trace;
mod trace_result;
#[cfg(test)]
mod trace_tests;
pub mod traffic;
