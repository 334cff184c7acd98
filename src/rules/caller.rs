//! Who is asking, and what they may do.

use std::sync::Arc;

use super::error::{Error, Result};
use super::events::Author;
use super::sessions;
use crate::model::grant::{Global, Granted, Permission};
use crate::model::id::{AccountId, UserId};
use crate::model::proof::{Identity, Proof};
use crate::model::scope::Scope;
use crate::model::token::TokenHash;
use crate::store::ReadTx;
use crate::store::grants;
use crate::store::list::Visibility;
use crate::store::tokens;

/// A user of an account, with a token that may be used for what it is about to do.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    identity: Arc<Identity>,
    needed: Option<Scope>,
}

/// Somebody who asks with a token or in a browser: a tenant, or one of the staff.
pub trait Asker: Clone + Send + Sized + 'static {
    /// The asker behind an identity, if it is on the right side.
    fn of(identity: Arc<Identity>, needed: Option<Scope>) -> Result<Self>;
    fn identity(&self) -> &Arc<Identity>;
    /// The scope that what it is about to do takes.
    fn needed(&self) -> Option<Scope>;

    /// Lets someone in whose token has the scope, if they are on the right side.
    fn admit(identity: Arc<Identity>, needed: Option<Scope>) -> Result<Self> {
        match needed {
            Some(needed) if !identity.scopes.allow(needed) => {
                let held = identity.scopes.clone();
                Err(Error::ScopeMissing { needed, held })
            }
            _ => Self::of(identity, needed),
        }
    }

    /// Runs work that only looks, for the asker as the transaction sees it. Whether it is still who it was is asked
    /// together with what the work asks; what was found for somebody who is not is thrown away.
    fn look<T>(self, tx: &mut ReadTx, work: impl Fn(&mut ReadTx, &Self) -> Result<T>) -> Result<(T, Self)> {
        if self.identity().proof == Proof::Session {
            let asker = self.confirm(tx)?;
            return Ok((work(tx, &asker)?, asker));
        }
        let asked = tokens::send_version_query(tx, self.identity().account);
        let found = work(tx, &self);
        if tokens::receive_version(tx, asked)? == self.identity().version {
            unexpired(tx, self.identity())?;
            return Ok((found?, self));
        }
        let asker = Self::admit(authenticate(tx, self.identity().hash)?, self.needed())?;
        Ok((work(tx, &asker)?, asker))
    }

    /// The same asker as the transaction sees it: tokens, users and grants may have changed since
    /// the request came in.
    fn confirm(self, tx: &mut ReadTx) -> Result<Self> {
        if self.identity().proof == Proof::Session {
            // Logging out changes no version, so a session is always looked at again.
            return Self::admit(sessions::identify(tx, self.identity().hash)?, self.needed());
        }
        if tokens::identity_version(tx, self.identity().account)? == self.identity().version {
            unexpired(tx, self.identity())?;
            return Ok(self);
        }
        Self::admit(authenticate(tx, self.identity().hash)?, self.needed())
    }
}

impl Asker for Caller {
    fn of(identity: Arc<Identity>, needed: Option<Scope>) -> Result<Self> {
        let account = identity.account.ok_or(Error::WrongSide)?;
        Ok(Self {
            account,
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

impl Caller {
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
            user: Some(self.user()),
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

    /// For what no grant opens: managing the account's users.
    pub fn must_be_unrestricted(&self) -> Result<()> {
        match self.identity.restricted {
            true => Err(Error::Forbidden),
            false => Ok(()),
        }
    }

    /// How far the caller may go with the account's own things: tickets, users, settings.
    pub fn account_access(&self) -> Option<Permission> {
        match self.identity.restricted {
            true => self.identity.account_access,
            false => Some(Permission::ReadWrite),
        }
    }

    pub fn gravatar_id(&self) -> String {
        self.identity.email.gravatar_id()
    }

    /// What of the account's things this user gets to see (decision 0007).
    pub fn visibility(&self) -> Visibility {
        match self.identity.restricted {
            true => Visibility::GrantedTo(self.identity.user),
            false => Visibility::All,
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
