//! Who is asking, and what they may do.

use std::sync::Arc;

use super::error::{Error, Result};
use super::events::Author;
use crate::model::grant::{Global, Granted, Permission};
use crate::model::id::{AccountId, UserId};
use crate::model::scope::Scope;
use crate::model::token::TokenHash;
use crate::store::ReadTx;
use crate::store::grants;
use crate::store::list::Sight;
use crate::store::tokens::{self, Identity};

/// A user of an account, with a token that may be used for what it is about to do.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    identity: Arc<Identity>,
    needed: Option<Scope>,
}

impl Caller {
    /// Lets someone in whose token has the scope, if they belong to an account.
    pub fn admit(identity: Arc<Identity>, needed: Option<Scope>) -> Result<Self> {
        if let Some(needed) = needed
            && !identity.scopes.allow(needed)
        {
            let held = identity.scopes.clone();
            return Err(Error::ScopeMissing { needed, held });
        }
        let account = identity.account.ok_or(Error::WrongSide)?;
        Ok(Self {
            account,
            identity,
            needed,
        })
    }

    /// The same caller as the transaction sees it: tokens, users and grants may have changed
    /// since the request came in.
    pub fn confirm(self, tx: &mut ReadTx) -> Result<Self> {
        if tokens::identity_version(tx)? == self.identity.version {
            unexpired(tx, &self.identity)?;
            return Ok(self);
        }
        Self::admit(authenticate(tx, self.identity.hash)?, self.needed)
    }

    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    pub fn user(&self) -> UserId {
        self.identity.user
    }

    pub fn username(&self) -> &str {
        self.identity.username.as_str()
    }

    pub fn author(&self) -> Author<'_> {
        Author {
            account: self.account,
            username: self.username(),
        }
    }

    pub fn is_restricted(&self) -> bool {
        self.identity.restricted
    }

    /// Whether the caller may do that much with one thing: an error says why not.
    pub fn may(&self, tx: &mut ReadTx, kind: Granted, id: i64, access: Permission) -> Result<()> {
        if !self.identity.restricted {
            return Ok(());
        }
        match grants::permission(tx, self.identity.user, kind, id)? {
            None => Err(Error::NotFound),
            Some(granted) if granted < access => Err(Error::Forbidden),
            Some(_) => Ok(()),
        }
    }

    pub fn must_hold(&self, global: Global) -> Result<()> {
        if !self.identity.restricted || self.identity.globals.contains(&global) {
            Ok(())
        } else {
            Err(Error::Forbidden)
        }
    }

    /// What of the account's things this user gets to see.
    pub fn sight(&self) -> Sight {
        match self.identity.restricted {
            true => Sight::OnlyGrantedTo(self.identity.user),
            false => Sight::Everything,
        }
    }
}

/// The identity behind a token that is known, not revoked and not expired.
pub fn authenticate(tx: &mut ReadTx, hash: TokenHash) -> Result<Arc<Identity>> {
    let identity = tokens::identify(tx, hash)?.ok_or(Error::Unauthenticated)?;
    unexpired(tx, &identity)?;
    Ok(Arc::new(identity))
}

fn unexpired(tx: &ReadTx, identity: &Identity) -> Result<()> {
    match identity.expiry {
        Some(expiry) if expiry <= tx.now() => Err(Error::Unauthenticated),
        _ => Ok(()),
    }
}
