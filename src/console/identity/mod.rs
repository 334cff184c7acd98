//! Pages of users, grants, tokens and programs.

pub mod apps;
pub mod grants;
pub mod oauth_clients;
pub mod profile;
pub mod tokens;
pub mod users;
