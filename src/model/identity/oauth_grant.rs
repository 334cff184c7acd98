//! Authorizations of OAuth clients by users.

use crate::model::id::UserId;
use crate::model::oauth::Challenge;
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
    /// The time at which its last valid token expires; `None` if it has no valid token.
    pub expiry: Option<Time>,
}

impl OauthGrant {
    /// Whether the authorization has a valid token. Users see only live authorizations, so only these count as consent.
    pub fn is_live(&self, now: Time) -> bool {
        !self.revoked && self.expiry.is_some_and(|expiry| expiry > now)
    }
}

/// An authorization code, which a client exchanges for tokens once.
#[derive(Clone, Debug)]
pub struct AuthorizationCode {
    pub grant: i64,
    pub redirect_uri: String,
    pub challenge: Option<Challenge>,
    pub expiry: Time,
    pub used: bool,
}

/// A refresh token, which a client exchanges for new tokens once.
#[derive(Clone, Debug)]
pub struct RefreshToken {
    pub grant: i64,
    pub expiry: Time,
    pub used: bool,
}

/// The origin of a token. An access token belongs to an authorization. A personal token belongs to an authorization
/// only if an OAuth client created the token.
#[derive(Clone, Copy, Debug)]
pub struct TokenOrigin {
    pub is_access: bool,
    pub grant: Option<i64>,
}
