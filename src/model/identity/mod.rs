//! Users, what they may do, and what they prove it with.

pub mod device;
pub mod grant;
pub mod oauth;
pub mod oauth_grant;
pub mod proof;
pub mod scope;
pub mod token;
pub mod user;
