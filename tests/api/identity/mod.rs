//! Users, grants, tokens, OAuth clients and log-in.

pub mod account_mails;
mod account_users;
pub mod grants;
pub mod login_records;
pub mod login_throttle;
pub mod logins;
pub mod oauth;
pub mod oauth_clients;
mod oauth_redirects;
pub mod oauth_revocation;
mod oauth_settings;
pub mod oauth_tokens;
mod password_resets;
pub mod permissions;
pub mod profile;
pub mod ssh_keys;
mod staff;
pub mod tokens;
pub mod users;
