//! The host agent: makes the kernel of one Linux host match the desired state of the server (decision 0030).
//!
//! It uses only the messages of `agent_protocol`. `layout` and `plan` are pure functions.

pub mod dhcp;
pub mod filters;
pub mod kernel;
pub mod kernel_state;
pub mod layout;
#[cfg(test)]
mod model_kernel;
pub mod names;
pub mod plan;
#[cfg(test)]
mod plan_tests;
pub mod reconcile;
pub mod run;
pub mod state_folder;
