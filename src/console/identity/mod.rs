//! Pages for users, grants, tokens, applications and OAuth clients.

pub mod apps;
pub mod grants;
pub mod oauth_clients;
pub mod profile;
pub mod tokens;
pub mod users;
