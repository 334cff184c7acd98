//! The agent of a host as a principal, in addition to tenants and staff.

use crate::model::id::HostId;
use crate::model::token::{TokenHash, TokenText};
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx};

/// Credentials begin with this text, so that they are recognized where a token of a user is expected.
const PREFIX: &str = "garth_host_";
/// Join tokens begin with this text.
const JOIN_PREFIX: &str = "garth_join_";

/// An agent with the credential of its host. It can use only operations for agents, and sees only its own host.
#[derive(Clone, Debug)]
pub struct HostPrincipal {
    pub host: HostId,
    hash: TokenHash,
}

impl HostPrincipal {
    pub fn authenticate(tx: &mut ReadTx, hash: TokenHash) -> Result<Self> {
        let host = store::host_credentials::host_of(tx, &hash)?;
        let host = host.ok_or(Error::Unauthenticated)?;
        Ok(Self { host, hash })
    }

    /// Fails if the credential was replaced or revoked since the request arrived.
    pub fn confirm(&self, tx: &mut ReadTx) -> Result<()> {
        Self::authenticate(tx, self.hash).map(drop)
    }
}

/// Whether a bearer token has the form of a host credential.
pub fn is_credential(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// The text of a new credential.
pub fn new_credential(random: [u8; 32]) -> String {
    format!("{PREFIX}{}", TokenText::from_bytes(random).reveal())
}

/// The text of a new join token.
pub fn new_join_token(random: [u8; 32]) -> String {
    format!("{JOIN_PREFIX}{}", TokenText::from_bytes(random).reveal())
}
