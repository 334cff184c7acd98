//! The host agent: makes the kernel of one Linux host match the desired state of the server (decision 0030).
//!
//! It uses only the messages of `agent_protocol`. `layout` and `plan` are pure functions.

pub mod capture;
pub mod credential;
pub mod dhcp;
mod encrypted_layout;
pub mod encryption;
pub mod filters;
mod folder_watch;
pub mod hook;
mod host_facts;
pub mod http_client;
pub mod kernel;
pub mod kernel_state;
pub mod layout;
#[cfg(test)]
mod model_kernel;
pub mod names;
pub mod plan;
#[cfg(test)]
mod plan_tests;
pub mod ranges;
pub mod reconcile;
mod remains;
mod restored_ports;
mod retry_delay;
pub mod router_advertisement;
pub mod run;
pub mod server_link;
pub mod state_folder;
pub mod tls_connector;
pub mod uplink_filter;
