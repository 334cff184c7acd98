//! The provider's staff: who of them is asking.

use std::sync::Arc;

use super::caller::Asker;
use super::error::{Error, Result};
use super::users;
use crate::model::id::UserId;
use crate::model::proof::Identity;
use crate::model::scope::Scope;
use crate::model::user::Username;
use crate::store::ReadTx;

/// One of the staff at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub user: UserId,
    pub username: Username,
}

impl Agent {
    /// One of the staff at a terminal with the store before them.
    pub fn at_terminal(tx: &mut ReadTx, username: &str) -> Result<Self> {
        let user = users::load(tx, username)?;
        match user.account {
            None => Ok(Self {
                user: user.id,
                username: user.username,
            }),
            Some(_) => Err(Error::WrongSide),
        }
    }
}

/// One of the staff with a token that may be used for what it is about to do.
#[derive(Clone, Debug)]
pub struct Staff {
    pub agent: Agent,
    identity: Arc<Identity>,
    needed: Option<Scope>,
}

impl Asker for Staff {
    fn of(identity: Arc<Identity>, needed: Option<Scope>) -> Result<Self> {
        if identity.account.is_some() {
            return Err(Error::WrongSide);
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
