//! Rules for users, grants, tokens, sessions and OAuth clients.

pub mod account_users;
pub mod apps;
pub mod devices;
pub mod grants;
pub mod last_admin;
pub mod login_records;
pub mod oauth;
pub mod oauth_clients;
pub mod oauth_tokens;
pub mod object_grants;
pub mod password_links;
pub mod passwords;
pub mod permissions;
pub mod profile;
pub mod sessions;
pub mod ssh_keys;
pub mod staff;
pub mod tokens;
pub mod users;
