//! Authorizations of OAuth clients by users.

use crate::model::id::UserId;
use crate::model::scope::Scopes;
use crate::model::time::Time;

/// An authorization of a client by a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OauthGrant {
    pub id: i64,
    pub client: String,
    pub client_label: String,
    pub user: UserId,
    pub scopes: Scopes,
    pub created: Time,
    pub revoked: bool,
    /// When the last of its tokens expires; `None` if it has no valid token.
    pub expiry: Option<Time>,
}

impl OauthGrant {
    /// Whether it has a valid token. Only live grants are shown to the user, so only these count as consent.
    pub fn is_live(&self, now: Time) -> bool {
        !self.revoked && self.expiry.is_some_and(|expiry| expiry > now)
    }
}
