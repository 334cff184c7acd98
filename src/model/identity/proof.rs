//! The identity that a token or a session proves.

use crate::model::account::status::AccountStatus;
use crate::model::grant::{Global, Permission};
use crate::model::id::{AccountId, TokenId, UserId};
use crate::model::scope::Scopes;
use crate::model::staff_role::StaffRole;
use crate::model::time::Time;
use crate::model::token::TokenHash;
use crate::model::user::{Email, Username};

/// How a user has authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    Token(TokenId),
    /// A browser session.
    Session,
    /// A message whose sender the mail server has verified.
    Mail,
    /// A command of the provider on the machine of the server.
    Terminal,
}

/// An authenticated user with its permissions, as of an identity version.
#[derive(Clone, Debug)]
pub struct Identity {
    pub version: i64,
    pub proof: Proof,
    pub hash: TokenHash,
    pub scopes: Scopes,
    pub expiry: Option<Time>,
    pub user: UserId,
    pub account: Option<AccountId>,
    pub username: Username,
    pub email: Email,
    pub restricted: bool,
    pub account_access: Option<Permission>,
    /// `None` for users of accounts.
    pub role: Option<StaffRole>,
    /// Whether the provider has disabled the user.
    pub disabled: bool,
    /// The status of the user's account; `None` for staff.
    pub account_status: Option<AccountStatus>,
    pub globals: Vec<Global>,
}
