//! The provider's staff as principals.

use std::sync::Arc;

use super::caller::{Principal, Requirements};
use super::error::{Error, NoAccess, Result};
use super::users;
use crate::model::id::UserId;
use crate::model::proof::Identity;
use crate::model::staff_role::StaffRole;
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
            None if user.disabled => Err(Error::NoAccess(NoAccess::UserDisabled)),
            None => Ok(Self {
                user: user.id,
                username: user.username,
            }),
            Some(_) => Err(Error::WrongAudience),
        }
    }
}

/// A member of staff whose token has the scope, and who has the role, that the operation needs.
#[derive(Clone, Debug)]
pub struct Staff {
    pub agent: Agent,
    identity: Arc<Identity>,
    needed: Requirements,
}

impl Staff {
    pub fn role(&self) -> StaffRole {
        role_of(&self.identity)
    }
}

/// A member of staff without a role, which `garth check` reports, has the lowest one.
fn role_of(identity: &Identity) -> StaffRole {
    identity.role.unwrap_or(StaffRole::Support)
}

impl Principal for Staff {
    fn from_identity(identity: Arc<Identity>, needed: Requirements) -> Result<Self> {
        if identity.account.is_some() {
            return Err(Error::WrongAudience);
        }
        if let Some(needed) = needed.role
            && role_of(&identity) < needed
        {
            return Err(Error::RoleMissing { needed });
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

    fn needed(&self) -> Requirements {
        self.needed
    }
}
