//! Declarative documents: the networks, instances and users of one account as a file (decision 0039).
//!
//! `garth export` writes the `current` state of an account as a `document`. For `garth apply`, `read` parses and checks
//! a file, `plan` compares it with the current state (a pure function), and `execute` runs the steps of the plan through
//! the rules, in one transaction. This module knows no SQL and no options.

mod account_export;
mod apply;
mod bodies;
mod current;
mod description;
mod document;
mod execute;
mod fault;
mod fields;
mod interface_match;
mod plan;
#[cfg(test)]
mod plan_tests;
mod read;
mod step;
mod yaml;

pub use account_export::{AccountExport, export_account};
pub use apply::{Applied, ApplyError, Options, apply, export};
pub use description::{Action, ChangeLine};
pub use document::Document;
pub use fault::Fault;
pub use read::read;
pub use yaml::to_yaml;
