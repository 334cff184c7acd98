//! Several servers on one PostgreSQL behave like one server, and each of them can fail.
//!
//! Each test starts its own PostgreSQL and Garth servers, and stops only these.

#![forbid(unsafe_code)]

#[path = "../process/client.rs"]
#[allow(dead_code, reason = "tests/process uses the rest")]
mod client;
#[path = "../process/connection.rs"]
#[allow(dead_code, reason = "tests/process uses the rest")]
mod connection;
#[path = "../process/harness.rs"]
#[allow(dead_code, reason = "tests/process uses the rest")]
mod folder;
#[path = "../process/process.rs"]
#[allow(dead_code, reason = "tests/process uses the rest")]
mod process;
#[path = "../s3/stored_files.rs"]
#[allow(dead_code, reason = "tests/process uses the rest")]
mod stored_files;

mod backup;
mod branding;
mod catalog;
mod check;
#[path = "../process/backup/content.rs"]
mod content;
mod copy;
mod database_security;
mod declared;
mod doctor;
mod events;
mod failover;
mod harness;
mod jobs;
mod postgres;
mod proxy;
mod races;
mod readiness;
mod revocation;
mod versions;
mod write_log;
