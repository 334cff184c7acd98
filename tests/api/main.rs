//! What Garth does, seen from outside: through HTTP, on a fresh store, with a fixed clock.
//!
//! Every answer a test sees is held to `openapi.yaml`, and so is every request that was accepted.

mod engine;
mod harness;
#[path = "../s3/kept.rs"]
mod kept;
mod promise;

mod browser;

mod access;
mod accounts;
mod attachment_quota;
mod attachments;
mod conditional;
mod configs;
mod console;
mod console_account;
mod console_conflicts;
mod console_desk;
mod console_desk_customers;
mod console_desk_writing;
mod console_live;
mod console_tickets;
mod console_tokens;
mod console_users;
mod console_vpcs;
mod copy;
mod desk;
mod docs;
mod equality;
mod events;
mod filters;
mod grants;
mod hostile;
mod images;
mod insecure;
mod instances;
mod interfaces;
mod lists;
mod login_throttle;
mod logins;
mod long_lists;
mod oauth;
mod oauth_clients;
mod oauth_endings;
mod oauth_tokens;
mod profile;
mod races;
mod rate_limits;
mod regions;
mod replies;
mod requests;
mod scenario;
mod stream;
mod subnets;
mod tables;
mod ticket_races;
mod tickets;
mod tokens;
mod uploads;
mod users;
mod vpc_ips;
mod vpcs;
