//! State that all handlers share.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use serde_json::value::RawValue;
use tokio::sync::{OnceCell, watch};

use crate::files::{Files, Scanner};
use crate::model::device::DeviceKey;
use crate::model::proof::{Identity, Proof};
use crate::model::token::TokenHash;
use crate::rules::caller::{Principal, authenticate};
use crate::rules::host_principal::HostPrincipal;
use crate::rules::request::{Prepared, Request};
use crate::rules::{Error, Result, devices};
use crate::store::{ReadTx, Store, StoreError, WriteTx};
use crate::uploads::Uploads;
use crate::web::answer;
use crate::web::client_address::ClientAddress;
use crate::web::connections::MaxConnections;
use crate::web::hashing::{HashingQueue, PermitRequest};
use crate::web::known_brand::KnownBrand;
use crate::web::limits::Limits;
use crate::web::login_names::LoginNames;
use crate::web::login_throttle::LoginThrottle;
use crate::web::proxies::Network;
use crate::web::readiness::Readiness;
use crate::web::response_memory::ResponseMemory;
use crate::web::taken_names::TakenNames;

/// The capacity of the identity cache, in tokens.
const MAX_CACHED_IDENTITIES: usize = 10_000;

#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    store: Store,
    files: Files,
    identities: Cache<TokenHash, Arc<Identity>>,
    limits: Option<Limits>,
    options: Options,
    response_memory: ResponseMemory,
    hashing: HashingQueue,
    login_throttle: LoginThrottle,
    taken_names: TakenNames,
    device_key: OnceCell<DeviceKey>,
    stopping: watch::Receiver<bool>,
    known_brand: KnownBrand,
    readiness: Readiness,
    default_ranges: Arc<RawValue>,
}

/// The default of `min_free_bytes`: 256 MiB.
pub const MIN_FREE_BYTES: u64 = 256 << 20;

/// Settings of the HTTP server.
#[derive(Clone, Debug)]
pub struct Options {
    pub names: WireNames,
    pub rate_limits: bool,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    /// The interval of heartbeats on an idle event stream.
    pub heartbeat: Duration,
    /// The virus scanner for attachments.
    pub scanner: Option<Scanner>,
    /// The public base URL without a trailing slash. If it is `None`, the server uses the URL that the client used.
    pub public_url: Option<String>,
    /// An additional path prefix for the OAuth endpoints, for example `/login`; empty for none.
    pub oauth_prefix: String,
    /// Proxies whose `X-Forwarded-*` headers are trusted.
    pub trusted_proxies: Vec<Network>,
    pub max_connections: MaxConnections,
    /// The maximum number of response bytes that wait to be sent.
    pub response_memory: usize,
    /// How log lines show the client address.
    pub client_address: ClientAddress,
    /// How log lines show the username of a failed log-in.
    pub login_names: LoginNames,
    /// The minimum free disk space. With less, the server is not ready.
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
            response_memory: 256 * 1024 * 1024,
            client_address: ClientAddress::default(),
            login_names: LoginNames::default(),
            min_free_bytes: MIN_FREE_BYTES,
        }
    }
}

/// Which names responses use for fields that have two names. Requests can use either name (decision 0001).
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
        let identities = Cache::new(MAX_CACHED_IDENTITIES);
        let response_memory = ResponseMemory::new(options.response_memory);
        let default_ranges = answer::ranges_json(&store.policy().default_ranges);
        let known_brand = KnownBrand::new(&store);
        Self(Arc::new(Shared {
            store,
            files,
            identities,
            limits,
            options,
            response_memory,
            hashing: HashingQueue::default(),
            login_throttle: LoginThrottle::default(),
            taken_names: TakenNames::default(),
            device_key: OnceCell::new(),
            stopping,
            readiness: Readiness::default(),
            known_brand,
            default_ranges,
        }))
    }

    /// The ranges in which the subnets of a VPC can be, as JSON. Every VPC shows them, so they are written once.
    pub fn default_ranges(&self) -> Arc<RawValue> {
        self.0.default_ranges.clone()
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn files(&self) -> &Files {
        &self.0.files
    }

    /// A handle to the upload pipeline.
    pub fn uploads(&self) -> Uploads {
        Uploads {
            store: self.store().clone(),
            files: self.files().clone(),
            scanner: self.0.options.scanner.clone(),
        }
    }

    /// Whether Garth sends mail.
    pub fn sends_mail(&self) -> bool {
        self.store().policy().outgoing_mail.is_some()
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

    pub fn response_memory(&self) -> &ResponseMemory {
        &self.0.response_memory
    }

    pub(in crate::web) fn known_brand(&self) -> &KnownBrand {
        &self.0.known_brand
    }

    pub(in crate::web) fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    /// Becomes true when the server begins to shut down.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.0.stopping.clone()
    }

    pub fn login_throttle(&self) -> &LoginThrottle {
        &self.0.login_throttle
    }

    pub fn taken_names(&self) -> &TakenNames {
        &self.0.taken_names
    }

    /// The key that signs device cookies.
    pub async fn device_key(&self) -> Result<&DeviceKey> {
        let find_or_create = || self.store().write(devices::key);
        self.0.device_key.get_or_try_init(find_or_create).await
    }

    /// Hashes a password on a blocking thread, after waiting for a permit of the hashing queue.
    pub async fn hash<T: Send + 'static>(
        &self,
        request: PermitRequest,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let permit = self.0.hashing.permit(request).await;
        let permit = permit.ok_or(Error::Store(StoreError::Full))?;
        let task = tokio::task::spawn_blocking(move || {
            // The thread holds the permit until the work ends, even if the client has disconnected.
            let _permit = permit;
            work()
        });
        task.await.map_err(|_| Error::Store(StoreError::Stopped))
    }

    /// Converts a request to the input of a rule. This also parses the lists in the body, so that the writer
    /// thread does not have to parse them.
    pub fn prepare<I: Prepared>(&self, request: Request) -> I {
        I::prepare(request, &self.store().policy())
    }

    /// The identity of a token. It can be outdated, because it can come from the cache. `read` and `write` confirm it
    /// in their transactions.
    pub async fn identify(&self, hash: TokenHash) -> Result<Arc<Identity>> {
        if let Some(identity) = self.0.identities.get(&hash) {
            let now = self.store().context().clock.now();
            return match identity.expiry {
                Some(expiry) if expiry <= now => Err(Error::Unauthenticated),
                _ => Ok(identity),
            };
        }
        self.identify_again(hash).await
    }

    /// The user of a token, without the cache.
    pub async fn identify_again(&self, hash: TokenHash) -> Result<Arc<Identity>> {
        let identity = self.store().read(move |tx| authenticate(tx, hash)).await?;
        self.0.identities.insert(hash, identity.clone());
        Ok(identity)
    }

    /// The agent of a host. Each request reads the credential, so that a revocation takes effect immediately.
    pub async fn identify_host(&self, hash: TokenHash) -> Result<HostPrincipal> {
        self.store()
            .read(move |tx| HostPrincipal::authenticate(tx, hash))
            .await
    }

    /// Runs a rule that reads. The same transaction confirms the identity of the principal.
    pub async fn read<C: Principal, T: Send + 'static>(
        &self,
        caller: C,
        work: impl Fn(&mut ReadTx, &C) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let known_version = caller.identity().version;
        let confirm_and_run = move |tx: &mut ReadTx| caller.clone().run_read(tx, &work);
        let (result, caller) = self.store().read(confirm_and_run).await?;
        self.cache_identity(known_version, &caller);
        Ok(result)
    }

    /// Runs a rule that writes. The same transaction confirms the identity of the principal.
    pub async fn write<C: Principal, T: Send + 'static>(
        &self,
        caller: C,
        work: impl Fn(&mut WriteTx, &C) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (known_version, account) = (caller.identity().version, caller.identity().account);
        let confirm_and_run = move |tx: &mut WriteTx| caller.clone().run_write(tx, &work);
        let (result, caller) = self.store().write_for(account, confirm_and_run).await?;
        self.cache_identity(known_version, &caller);
        Ok(result)
    }

    /// Caches the identity of a principal, if the transaction had to load it again. Called after the commit.
    /// The identity of a session is never cached, because a session must not be usable as a token.
    fn cache_identity(&self, known_version: i64, caller: &impl Principal) {
        let identity = caller.identity();
        if identity.version != known_version && matches!(identity.proof, Proof::Token(_)) {
            self.0.identities.insert(identity.hash, identity.clone());
        }
    }
}
