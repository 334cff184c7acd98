//! Users, grants, tokens, programs and logging in, on the wire.

pub mod apps;
pub mod grants;
pub mod logins;
pub mod oauth;
pub mod oauth_clients;
pub mod oauth_tokens;
pub mod profile;
pub mod tokens;
pub mod users;
