//! Queries for users, grants, tokens, sessions and OAuth clients.

pub mod grants;
pub mod login_records;
pub mod logins;
pub mod oauth_clients;
pub mod oauth_grants;
pub mod object_grants;
pub mod sessions;
pub mod ssh_keys;
pub mod staff;
pub mod tokens;
pub mod users;
