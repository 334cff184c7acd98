//! What only the real program can prove: `garth` runs here as child processes, is killed, stopped,
//! starved of its disk and talked to byte by byte. What the interface does is tested in `tests/api`.
//!
//! Every test has a folder of its own and ends only the processes it started. Nothing is timed but
//! what the server itself promises to time; everything else is waited for.

#![forbid(unsafe_code)]

mod attachments;
mod attack;
mod bootstrap;
mod canary;
mod client;
mod commands;
mod concurrent_commands;
mod connection;
mod corrupt_rows;
mod crash;
mod damaged_files;
mod data_folder;
mod demo;
mod desk;
mod expected_state;
mod fsync;
mod harness;
mod http;
mod invalid_settings;
mod jobs;
mod limits;
mod process;
mod profiles;
mod proxy;
mod readiness;
mod request_log;
mod request_timeouts;
mod scanning;
mod secrets;
mod settings;
mod shutdown;
mod storage_outage;
#[path = "../s3/stored_files.rs"]
mod stored_files;
mod tls;
mod upload_crash;
mod uploads;
mod walkthrough;
