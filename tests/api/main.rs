//! The behavior of Garth through HTTP, on a fresh store with a fixed clock.
//!
//! Every response, and every accepted request, is validated against `openapi.yaml`.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that unwraps nothing fails its test, as it should"
)]

mod engine;
mod harness;
mod openapi;
mod rows;
#[path = "../s3/stored_files.rs"]
mod stored_files;

#[expect(dead_code, reason = "two test programs share it, and each uses a part")]
#[path = "../mail/smtp_server.rs"]
mod smtp_server;

mod backup;
mod browser;

mod access;
mod account;
mod check;
mod compute;
mod conditional;
mod console;

mod docs;
mod docs_pages;
mod engine_equality;
mod field_validation;
mod filterable_fields;
mod filters;
mod hosting;
mod identity;
mod jobs;
mod lists;
mod long_lists;
mod malicious_files;
mod network;
mod other_products;
mod plain_http_login;
mod races;
mod rate_limits;
mod requests;
mod revisions;
mod scenario;
mod support;
mod test_control;
mod upgrades;
