//! Principals: authentication and permissions.

use std::sync::Arc;

use super::error::{Error, NoAccess, Result};
use super::events::Author;
use super::sessions;
use crate::model::account::status::AccountStatus;
use crate::model::grant::{Global, GrantKind, Permission};
use crate::model::id::{AccountId, UserId};
use crate::model::proof::{Identity, Proof};
use crate::model::scope::{Scope, Scopes};
use crate::model::staff_role::StaffRole;
use crate::model::token::TokenHash;
use crate::model::user::{Email, Username};
use crate::store::accounts;
use crate::store::grants;
use crate::store::list::Visibility;
use crate::store::tokens;
use crate::store::{ReadTx, WriteTx};

/// A user of an account whose token has the scope that the operation needs.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    identity: Arc<Identity>,
    needed: Requirements,
    /// The provider's name, if the caller is the provider and not a user of the account.
    provider: Option<Arc<str>>,
}

/// What an operation requires of its principal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requirements {
    pub scope: Option<Scope>,
    /// The lowest role, for operations of staff.
    pub role: Option<StaffRole>,
}

/// An authenticated principal: a tenant, or a member of staff.
pub trait Principal: Clone + Send + Sized + 'static {
    /// The principal for an identity. Fails if the operation is not for this kind of user (tenant or staff).
    fn from_identity(identity: Arc<Identity>, needed: Requirements) -> Result<Self>;
    fn identity(&self) -> &Arc<Identity>;
    /// The requirements of the operation.
    fn needed(&self) -> Requirements;

    /// Checks that the user has access, that the identity has the scope, and that the operation is for its kind of
    /// user and its role.
    fn admit(identity: Arc<Identity>, needed: Requirements) -> Result<Self> {
        require_access(&identity)?;
        match needed.scope {
            Some(needed) if !identity.scopes.allow(needed) => {
                let held = identity.scopes.clone();
                Err(Error::ScopeMissing { needed, held })
            }
            _ => Self::from_identity(identity, needed),
        }
    }

    /// Runs a read with the principal's permissions as of this transaction.
    ///
    /// For a token, the query of the identity version is pipelined with the read. If the version has changed,
    /// the result is discarded, the identity is loaded again and the read is repeated.
    fn run_read<T>(
        self,
        tx: &mut ReadTx,
        work: impl Fn(&mut ReadTx, &Self) -> Result<T>,
    ) -> Result<(T, Self)> {
        if !matches!(self.identity().proof, Proof::Token(_)) {
            let principal = self.confirm(tx)?;
            return Ok((work(tx, &principal)?, principal));
        }
        let pending_version = tokens::send_version_query(tx, self.identity().account);
        let result = work(tx, &self);
        if tokens::receive_version(tx, pending_version)? == self.identity().version {
            require_unexpired(tx, self.identity())?;
            return Ok((result?, self));
        }
        let principal = Self::admit(authenticate(tx, self.identity().hash)?, self.needed())?;
        Ok((work(tx, &principal)?, principal))
    }

    /// Runs a write with the principal's permissions as of this transaction.
    fn run_write<T>(
        self,
        tx: &mut WriteTx,
        work: impl Fn(&mut WriteTx, &Self) -> Result<T>,
    ) -> Result<(T, Self)> {
        let principal = self.confirm(tx)?;
        Ok((work(tx, &principal)?, principal))
    }

    /// Returns the principal as of this transaction. Its token, user or grants could have changed since the
    /// request arrived.
    fn confirm(self, tx: &mut ReadTx) -> Result<Self> {
        if self.identity().proof == Proof::Session {
            // A log-out does not change the identity version, so a session is always read again.
            return Self::admit(sessions::identify(tx, self.identity().hash)?, self.needed());
        }
        if self.identity().proof == Proof::Mail {
            let identity = tokens::identity_of_sender(tx, self.identity().user)?;
            return Self::admit(Arc::new(identity.ok_or(Error::Unauthenticated)?), self.needed());
        }
        if tokens::identity_version(tx, self.identity().account)? == self.identity().version {
            require_unexpired(tx, self.identity())?;
            return Ok(self);
        }
        Self::admit(authenticate(tx, self.identity().hash)?, self.needed())
    }
}

impl Principal for Caller {
    fn from_identity(identity: Arc<Identity>, needed: Requirements) -> Result<Self> {
        let account = identity.account.ok_or(Error::WrongAudience)?;
        Ok(Self {
            account,
            identity,
            needed,
            provider: None,
        })
    }

    fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    fn needed(&self) -> Requirements {
        self.needed
    }
}

impl Caller {
    /// The user who sent a message, as a caller with all scopes. Fails for staff.
    pub fn by_mail(tx: &mut ReadTx, user: UserId) -> Result<Self> {
        let identity = tokens::identity_of_sender(tx, user)?.ok_or(Error::NotFound)?;
        Self::admit(Arc::new(identity), Requirements::default())
    }

    /// The provider, who runs a command on the machine of the server, with full access to an account. Events show the
    /// provider's name. Fails if the account is closed.
    pub fn provider(tx: &mut ReadTx, account: AccountId) -> Result<Self> {
        let caller = Self::provider_of_any(tx, account)?;
        match caller.identity.account_status {
            Some(AccountStatus::Closed) => Err(Error::NoAccess(NoAccess::AccountClosed)),
            _ => Ok(caller),
        }
    }

    /// Like `provider`, also for a closed account. Only for reads.
    pub fn provider_of_any(tx: &mut ReadTx, account: AccountId) -> Result<Self> {
        let found = accounts::find(tx, account)?.ok_or(Error::NotFound)?;
        let identity = Identity {
            version: 0,
            proof: Proof::Terminal,
            // No token has this hash: it is the hash of a text that is not a token.
            hash: TokenHash::of("terminal"),
            scopes: Scopes::Everything,
            expiry: None,
            // No user has this ID.
            user: UserId(0),
            account: Some(account),
            username: Username::parse("provider").expect("the name is valid"),
            email: Email::parse("provider@localhost").expect("the address is valid"),
            restricted: false,
            account_access: None,
            role: None,
            disabled: false,
            account_status: Some(found.status),
            globals: Vec::new(),
        };
        Ok(Self {
            account,
            identity: Arc::new(identity),
            needed: Requirements::default(),
            provider: Some(tx.policy().support.provider.as_str().into()),
        })
    }

    /// Whether the caller is the provider, not a user of the account.
    pub fn is_provider(&self) -> bool {
        self.provider.is_some()
    }

    pub fn user(&self) -> UserId {
        self.identity.user
    }

    pub fn username(&self) -> &str {
        let provider = self.provider.as_deref();
        provider.unwrap_or(self.identity.username.as_str())
    }

    pub fn author(&self) -> Author<'_> {
        Author {
            account: self.account,
            username: self.username(),
            user: (!self.is_provider()).then(|| self.user()),
        }
    }

    pub fn is_restricted(&self) -> bool {
        self.identity.restricted
    }

    /// Checks that the caller has a permission on one object.
    pub fn require_permission(
        &self,
        tx: &mut ReadTx,
        kind: GrantKind,
        id: i64,
        access: Permission,
    ) -> Result<()> {
        if !self.identity.restricted {
            return Ok(());
        }
        match grants::permission(tx, self.identity.user, kind, id)? {
            None => Err(Error::NotFound),
            Some(granted) if granted < access => Err(Error::Forbidden),
            Some(_) => Ok(()),
        }
    }

    /// Whether the caller can change at least one object of a kind, if it sees any.
    pub fn may_change_any(&self, tx: &mut ReadTx, kind: GrantKind) -> Result<bool> {
        Ok(!self.is_restricted() || grants::may_change_any(tx, self.user(), kind)?)
    }

    pub fn require_global_grant(&self, global: Global) -> Result<()> {
        if !self.identity.restricted || self.identity.globals.contains(&global) {
            Ok(())
        } else {
            Err(Error::Forbidden)
        }
    }

    /// Checks that the caller is unrestricted. For operations that no grant allows, such as managing users.
    pub fn require_unrestricted(&self) -> Result<()> {
        match self.identity.restricted {
            true => Err(Error::Forbidden),
            false => Ok(()),
        }
    }

    /// The caller's permission on the account itself: its settings, OAuth clients and tickets.
    pub fn account_access(&self) -> Option<Permission> {
        match self.identity.restricted {
            true => self.identity.account_access,
            false => Some(Permission::ReadWrite),
        }
    }

    pub fn gravatar_id(&self) -> String {
        self.identity.email.gravatar_id()
    }

    /// The objects of the account that the user can see (decision 0007).
    pub fn visibility(&self) -> Visibility {
        match self.identity.restricted {
            true => Visibility::GrantedTo(self.identity.user),
            false => Visibility::All,
        }
    }
}

/// The identity of a token that exists and is neither revoked nor expired.
pub fn authenticate(tx: &mut ReadTx, hash: TokenHash) -> Result<Arc<Identity>> {
    let identity = tokens::identify(tx, hash)?.ok_or(Error::Unauthenticated)?;
    require_unexpired(tx, &identity)?;
    Ok(Arc::new(identity))
}

/// Fails if the user has no access, for the steps of OAuth, which have no principal.
pub fn require_user_access(tx: &mut ReadTx, user: UserId) -> Result<()> {
    let identity = tokens::identity_of_sender(tx, user)?;
    require_access(&identity.ok_or(Error::NotFound)?)
}

/// Fails if the provider has disabled the user, or has suspended or closed the user's account.
fn require_access(identity: &Identity) -> Result<()> {
    let refused = match identity.account_status {
        _ if identity.disabled => NoAccess::UserDisabled,
        Some(AccountStatus::Suspended) => NoAccess::AccountSuspended,
        Some(AccountStatus::Closed) => NoAccess::AccountClosed,
        Some(AccountStatus::Active) | None => return Ok(()),
    };
    Err(Error::NoAccess(refused))
}

fn require_unexpired(tx: &ReadTx, identity: &Identity) -> Result<()> {
    match identity.expiry {
        Some(expiry) if expiry <= tx.now() => Err(Error::Unauthenticated),
        _ => Ok(()),
    }
}
