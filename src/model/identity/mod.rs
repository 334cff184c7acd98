//! Users, grants, tokens and OAuth.

pub mod device;
pub mod grant;
pub mod login_record;
pub mod oauth;
pub mod oauth_grant;
pub mod proof;
pub mod scope;
pub mod ssh_key;
pub mod staff_role;
pub mod time_zone;
pub mod token;
pub mod user;
