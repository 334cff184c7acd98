//! Tests of the `garth` binary as a child process: crashes, shutdown, disk failures, settings and raw HTTP. `tests/api`
//! tests the operations of the API.
//!
//! Each test has its own folder and stops only the processes that it started. The tests measure only
//! documented timeouts. For all other conditions, they poll.

#![forbid(unsafe_code)]

mod archive;
mod attachments;
mod attack;
mod backup;
mod bootstrap;
mod branding;
mod canary;
mod catalog;
mod check;
mod client;
mod commands;
mod concurrent_commands;
mod connection;
mod corrupt_rows;
mod crash;
mod damaged_files;
mod data_folder;
mod declared;
mod demo;
mod desk;
mod doctor;
mod exchange;
mod expected_state;
mod fsync;
mod harness;
mod hosts;
mod http;
mod invalid_settings;
mod jobs;
mod limits;
mod mail;
mod mail_templates;
mod outgoing_mail;
mod password_reset;
mod process;
mod profiles;
mod provider;
mod proxy;
mod readiness;
mod request_log;
mod request_timeouts;
mod scanning;
mod secrets;
mod settings;
mod shutdown;
#[expect(dead_code, reason = "two test programs share it, and each uses a part")]
#[path = "../mail/smtp_server.rs"]
mod smtp_server;
mod storage_outage;
#[path = "../s3/stored_files.rs"]
mod stored_files;
mod test_control;
mod tls;
mod upload_crash;
mod uploads;
mod walkthrough;
