//! What only the real program can prove: `garth` runs here as child processes, is killed, stopped,
//! starved of its disk and talked to byte by byte. What the interface does is tested in `tests/api`.
//!
//! Every test has a folder of its own and ends only the processes it started. Nothing is timed but
//! what the server itself promises to time; everything else is waited for.

#![forbid(unsafe_code)]

mod attachments;
mod attack;
mod away;
mod beside;
mod bootstrap;
mod canary;
mod client;
mod commands;
mod connection;
mod corrupt_rows;
mod crash;
mod damaged;
mod data_folder;
mod demo;
mod desk;
mod fsync;
mod harness;
mod jobs;
#[path = "../s3/kept.rs"]
mod kept;
mod ledger;
mod limits;
mod process;
mod profiles;
mod proxy;
mod readiness;
mod request_log;
mod scanning;
mod secrets;
mod settings;
mod slow;
mod stopping;
mod storm;
mod tls;
mod uploads;
mod walkthrough;
mod wire;
mod wrong_settings;
