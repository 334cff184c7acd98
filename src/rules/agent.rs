//! The provider's staff as principals.

use std::sync::Arc;

use super::caller::Principal;
use super::error::{Error, Result};
use super::users;
use crate::model::id::UserId;
use crate::model::proof::Identity;
use crate::model::scope::Scope;
use crate::model::user::Username;
use crate::store::ReadTx;

/// A member of staff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub user: UserId,
    pub username: Username,
}

impl Agent {
    /// Loads a member of staff who runs a command on the server's machine, without a token.
    pub fn at_terminal(tx: &mut ReadTx, username: &str) -> Result<Self> {
        let user = users::load(tx, username)?;
        match user.account {
            None => Ok(Self {
                user: user.id,
                username: user.username,
            }),
            Some(_) => Err(Error::WrongAudience),
        }
    }
}

/// A member of staff whose token has the scope that the operation needs.
#[derive(Clone, Debug)]
pub struct Staff {
    pub agent: Agent,
    identity: Arc<Identity>,
    needed: Option<Scope>,
}

impl Principal for Staff {
    fn from_identity(identity: Arc<Identity>, needed: Option<Scope>) -> Result<Self> {
        if identity.account.is_some() {
            return Err(Error::WrongAudience);
        }
        let agent = Agent {
            user: identity.user,
            username: identity.username.clone(),
        };
        Ok(Self {
            agent,
            identity,
            needed,
        })
    }

    fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    fn needed(&self) -> Option<Scope> {
        self.needed
    }
}
