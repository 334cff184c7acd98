//! What every handler shares.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::sync::{OnceCell, watch};

use crate::files::{Files, Scanner};
use crate::model::device::DeviceKey;
use crate::model::proof::{Identity, Proof};
use crate::model::token::TokenHash;
use crate::rules::caller::{Asker, authenticate};
use crate::rules::request::{Prepared, Request};
use crate::rules::{Error, Result, devices};
use crate::store::{ReadTx, Store, StoreError, WriteTx};
use crate::uploads::Uploads;
use crate::web::answer_memory::AnswerMemory;
use crate::web::client_address::ClientAddress;
use crate::web::connections::MaxConnections;
use crate::web::hashing::{HashingQueue, Place};
use crate::web::limits::Limits;
use crate::web::login_names::LoginNames;
use crate::web::login_throttle::LoginThrottle;
use crate::web::proxies::Network;
use crate::web::readiness::Readiness;
use crate::web::taken_names::TakenNames;

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
    answer_memory: AnswerMemory,
    hashing: HashingQueue,
    login_throttle: LoginThrottle,
    taken_names: TakenNames,
    device_key: OnceCell<DeviceKey>,
    stopping: watch::Receiver<bool>,
    readiness: Readiness,
}

/// Free disk space without which a server is not ready, unless set otherwise: 256 MiB.
pub const MIN_FREE_BYTES: u64 = 256 << 20;

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
    /// Where clients find this server, without a slash at the end; as they call it if not set.
    pub public_url: Option<String>,
    /// Under which path the OAuth endpoints are served as well, for example `/login`; empty for none.
    pub oauth_prefix: String,
    /// Whose word is taken for where a request comes from.
    pub trusted_proxies: Vec<Network>,
    pub max_connections: MaxConnections,
    /// How many bytes of answers may wait for clients to read them.
    pub answer_memory: usize,
    /// How log lines show the client's address.
    pub client_address: ClientAddress,
    /// How log lines of failed log-ins show the user name.
    pub login_names: LoginNames,
    /// With less free disk space than this the server is not ready.
    pub min_free_bytes: u64,
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
            public_url: None,
            oauth_prefix: String::new(),
            trusted_proxies: Vec::new(),
            max_connections: MaxConnections::default(),
            answer_memory: 256 * 1024 * 1024,
            client_address: ClientAddress::default(),
            login_names: LoginNames::default(),
            min_free_bytes: MIN_FREE_BYTES,
        }
    }
}

/// Which spelling of the fields that have two is sent; either is always understood (decision 0001).
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
        let answer_memory = AnswerMemory::new(options.answer_memory);
        Self(Arc::new(Shared {
            store,
            files,
            identities,
            limits,
            options,
            answer_memory,
            hashing: HashingQueue::default(),
            login_throttle: LoginThrottle::default(),
            taken_names: TakenNames::default(),
            device_key: OnceCell::new(),
            stopping,
            readiness: Readiness::default(),
        }))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn files(&self) -> &Files {
        &self.0.files
    }

    /// What uploads pass through.
    pub fn uploads(&self) -> Uploads {
        Uploads {
            store: self.store().clone(),
            files: self.files().clone(),
            scanner: self.0.options.scanner.clone(),
        }
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

    pub fn answer_memory(&self) -> &AnswerMemory {
        &self.0.answer_memory
    }

    pub(in crate::web) fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    /// Becomes true when the server is about to stop.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.0.stopping.clone()
    }

    pub fn login_throttle(&self) -> &LoginThrottle {
        &self.0.login_throttle
    }

    pub fn taken_names(&self) -> &TakenNames {
        &self.0.taken_names
    }

    /// The key that signs the cookies of known devices.
    pub async fn device_key(&self) -> Result<&DeviceKey> {
        let read = || self.store().write(devices::key);
        self.0.device_key.get_or_try_init(read).await
    }

    /// Hashes a password, on a thread of its own, when the queue has come to it.
    pub async fn hash<T: Send + 'static>(
        &self,
        place: Place,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let permit = self.0.hashing.permit(place).await;
        let permit = permit.ok_or(Error::Store(StoreError::Full))?;
        let worked = tokio::task::spawn_blocking(move || {
            // The client may be gone; the permit ends with the work.
            let _permit = permit;
            work()
        });
        worked.await.map_err(|_| Error::Store(StoreError::Stopped))
    }

    /// What a rule takes of a request. Lists in a body are read here, and not on the thread of the transaction.
    pub fn prepare<I: Prepared>(&self, request: Request) -> I {
        I::prepare(request, &self.store().context().policy)
    }

    /// The identity behind a token, perhaps as it was a moment ago: whoever acts on it does so
    /// through `read` or `write`, which confirm it.
    pub async fn identify(&self, hash: TokenHash) -> Result<Arc<Identity>> {
        if let Some(identity) = self.0.identities.get(&hash) {
            let now = self.store().context().clock.now();
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
        work: impl Fn(&mut ReadTx, &C) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let known = caller.identity().version;
        let confirmed = move |tx: &mut ReadTx| caller.clone().look(tx, &work);
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

    /// Keeps an identity that was read anew. Only what was committed comes this far. A session's is
    /// never kept: nobody may use a session as a token.
    fn remember(&self, known: i64, caller: &impl Asker) {
        let identity = caller.identity();
        if identity.version != known && identity.proof != Proof::Session {
            self.0.identities.insert(identity.hash, identity.clone());
        }
    }
}
