//! What every handler shares.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::sync::watch;

use super::limits::Limits;
use crate::files::{Files, Scanner};
use crate::model::token::TokenHash;
use crate::rules::caller::{Asker, authenticate};
use crate::rules::{Error, Result};
use crate::store::tokens::Identity;
use crate::store::{ReadTx, Store, WriteTx};

/// How many tokens' identities are remembered.
const REMEMBERED: usize = 10_000;

#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    store: Store,
    files: Files,
    identities: Cache<TokenHash, Arc<Identity>>,
    limits: Option<Limits>,
    options: Options,
    stopping: watch::Receiver<bool>,
}

/// How this server speaks.
#[derive(Clone, Debug)]
pub struct Options {
    pub names: WireNames,
    pub rate_limits: bool,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    /// How often an idle event stream says that it is still there.
    pub heartbeat: Duration,
    /// What looks at attached files before they are kept.
    pub scanner: Option<Scanner>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            names: WireNames::Both,
            rate_limits: false,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            scanner: None,
        }
    }
}

/// Which spelling of the fields that have two is sent; either is always understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireNames {
    Both,
    Compute,
    Linode,
}

impl WireNames {
    pub fn compute<T>(self, value: T) -> Option<T> {
        (self != WireNames::Linode).then_some(value)
    }

    pub fn linode<T>(self, value: T) -> Option<T> {
        (self != WireNames::Compute).then_some(value)
    }
}

impl App {
    pub fn new(store: Store, files: Files, options: Options, stopping: watch::Receiver<bool>) -> Self {
        let limits = options.rate_limits.then(Limits::default);
        let identities = Cache::new(REMEMBERED);
        Self(Arc::new(Shared {
            store,
            files,
            identities,
            limits,
            options,
            stopping,
        }))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn files(&self) -> &Files {
        &self.0.files
    }

    pub fn scanner(&self) -> Option<&Scanner> {
        self.0.options.scanner.as_ref()
    }

    pub fn options(&self) -> &Options {
        &self.0.options
    }

    pub fn names(&self) -> WireNames {
        self.0.options.names
    }

    pub fn limits(&self) -> Option<&Limits> {
        self.0.limits.as_ref()
    }

    /// Becomes true when the server is about to stop.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.0.stopping.clone()
    }

    /// The identity behind a token, perhaps as it was a moment ago: whoever acts on it does so
    /// through `read` or `write`, which confirm it.
    pub async fn identify(&self, hash: TokenHash) -> Result<Arc<Identity>> {
        if let Some(identity) = self.0.identities.get(&hash) {
            let now = self.store().world().clock.now();
            return match identity.expiry {
                Some(expiry) if expiry <= now => Err(Error::Unauthenticated),
                _ => Ok(identity),
            };
        }
        let identity = self.store().read(move |tx| authenticate(tx, hash)).await?;
        self.0.identities.insert(hash, identity.clone());
        Ok(identity)
    }

    /// Runs a rule that looks, for a caller who is confirmed in the same transaction.
    pub async fn read<C: Asker, T: Send + 'static>(
        &self,
        caller: C,
        work: impl FnOnce(&mut ReadTx, &C) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let known = caller.identity().version;
        let confirmed = move |tx: &mut ReadTx| {
            let caller = caller.confirm(tx)?;
            Ok::<_, Error>((work(tx, &caller)?, caller))
        };
        let (made, caller) = self.store().read(confirmed).await?;
        self.remember(known, &caller);
        Ok(made)
    }

    /// Runs a rule that changes things, for a caller who is confirmed in the same transaction.
    pub async fn write<C: Asker, T: Send + 'static>(
        &self,
        caller: C,
        work: impl Fn(&mut WriteTx, &C) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (known, account) = (caller.identity().version, caller.identity().account);
        let confirmed = move |tx: &mut WriteTx| {
            let caller = caller.clone().confirm(tx)?;
            Ok::<_, Error>((work(tx, &caller)?, caller))
        };
        let (made, caller) = self.store().write_for(account, confirmed).await?;
        self.remember(known, &caller);
        Ok(made)
    }

    /// Keeps an identity that was read anew. Only what was committed comes this far.
    fn remember(&self, known: i64, caller: &impl Asker) {
        let identity = caller.identity();
        if identity.version != known {
            self.0.identities.insert(identity.hash, identity.clone());
        }
    }
}
