//! A server per test. `user.rs` has the users who send requests to it.

mod call;
mod controlled;
mod reply;
mod user;

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use garth::api;
use garth::cli::{Settings, policy_of};
use garth::console;
use garth::files::Files;
use garth::model::id::{AccountId, TokenId};
use garth::model::policy::Policy;
use garth::model::time::Time;
use garth::model::user::{Email, Membership};
use garth::rules::{self, grants::Grant};
use garth::store::context::{Clock, RandomSource};
use garth::store::{Store, StoreContext};
use garth::web::{App, Options, server};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::engine::{Engine, Home};
use crate::stored_files::{StoredFiles, attachments_url};

pub use call::Call;
pub use reply::Reply;
pub use user::{User, UserBuilder, add_vpcs};

/// The start time of every test.
pub const BEGINNING: &str = "2024-06-01T12:00:00";

pub struct TestApp {
    pub address: SocketAddr,
    pub store: Store,
    /// The default account of users.
    pub account: AccountId,
    /// The content of the attachment storage.
    pub stored_files: StoredFiles,
    client: Client<HttpConnector, UnsyncBoxBody<Bytes, Infallible>>,
    stop: watch::Sender<bool>,
    home: Home,
    /// Whether the test has made changes that violate invariants of the store.
    is_damaged: AtomicBool,
}

impl TestApp {
    pub async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    /// A server with a changed policy and changed options.
    pub async fn with(change: impl FnOnce(&mut Policy, &mut Options)) -> Self {
        Self::with_engine(Engine::chosen(), change).await
    }

    pub async fn with_engine(engine: Engine, change: impl FnOnce(&mut Policy, &mut Options)) -> Self {
        let mut options = Options::default();
        let mut policy = policy_of(&Settings::default()).expect("the defaults are valid");
        change(&mut policy, &mut options);
        let context = StoreContext {
            policy: policy.into(),
            ..context()
        };
        let (store, home) = engine.open(context);
        let email = Email::parse("owner@example.com").expect("an address");
        let account = store
            .write(move |tx| rules::accounts::create(tx, "Example", &email))
            .await;
        let account = account.expect("an account can be created").id;
        Self::with_store(store, home, account, options).await
    }

    /// A server on an existing store.
    pub async fn with_store(store: Store, home: Home, account: AccountId, options: Options) -> Self {
        let (app, stop, serving) = Self::bind(&store, &home, options).await;
        let router = api::router(&app).merge(console::router(&app));
        let address = serving.start(app, router, stop.subscribe());
        Self::assemble(store, home, account, address, stop)
    }

    /// Everything that a server needs, except its router.
    async fn bind(store: &Store, home: &Home, options: Options) -> (App, watch::Sender<bool>, Serving) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (stop, stopping) = watch::channel(false);
        let url = attachments_url(&home.name());
        let files = Files::open(url.as_deref(), &home.folder).expect("the attachment storage");
        let app = App::new(store.clone(), files, options, stopping);
        (app, stop, Serving { listener })
    }

    fn assemble(
        store: Store,
        home: Home,
        account: AccountId,
        address: SocketAddr,
        stop: watch::Sender<bool>,
    ) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let url = attachments_url(&home.name());
        Self {
            address,
            store,
            account,
            stored_files: StoredFiles::new(url, &home.folder),
            client,
            stop,
            home,
            is_damaged: AtomicBool::new(false),
        }
    }

    /// Omits the check of the store at the end of the test.
    pub fn omit_check(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.home.folder
    }

    /// A user of the test's account. It is unrestricted by default; `restricted` and `may` restrict it.
    pub fn user<'a>(&'a self, name: &'a str) -> UserBuilder<'a> {
        UserBuilder {
            app: self,
            name,
            membership: Membership::Account(self.account),
            restricted: false,
            grants: Vec::new(),
            scopes: "*",
            seconds: None,
        }
    }

    pub async fn another_account(&self) -> AccountId {
        let email = Email::parse("other@example.com").expect("an address");
        let created = self
            .store
            .write(move |tx| rules::accounts::create(tx, "Other", &email))
            .await;
        created.expect("an account can be created").id
    }

    /// A client without a token.
    pub fn anonymous(&self) -> User<'_> {
        User {
            app: self,
            token: None,
            token_id: TokenId(0),
        }
    }

    pub fn with_token(&self, token: &str) -> User<'_> {
        User {
            app: self,
            token: Some(token.to_owned()),
            token_id: TokenId(0),
        }
    }

    pub async fn grant(&self, name: &str, grant: Grant) {
        let name = name.to_owned();
        let added = self
            .store
            .write(move |tx| rules::grants::add(tx, &name, &[grant]))
            .await;
        added.expect("the grant can be added");
    }

    pub async fn revoke(&self, token: TokenId) {
        let revoked = self.store.write(move |tx| rules::tokens::revoke(tx, token)).await;
        revoked.expect("the token can be revoked");
    }

    pub fn advance(&self, seconds: i64) {
        self.store.context().clock.advance(seconds);
    }

    /// Sets the system clock without advancing the monotonic clock.
    pub fn set_clock_by(&self, seconds: i64) {
        self.store.context().clock.set_by(seconds);
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if !std::thread::panicking() && !self.is_damaged.load(Ordering::Relaxed) {
            crate::check::assert_sound(&self.store);
        }
    }
}

/// A bound address, before the server starts.
struct Serving {
    listener: TcpListener,
}

impl Serving {
    /// Starts the server. Returns its address.
    fn start(self, app: App, router: Router, stopping: watch::Receiver<bool>) -> SocketAddr {
        let address = self.listener.local_addr().expect("an address");
        tokio::spawn(server::serve(self.listener, app, router, stopping));
        address
    }
}

/// A fixed clock, and a random source that counts up.
pub fn context() -> StoreContext {
    StoreContext {
        clock: Clock::fixed(Time::parse(BEGINNING).expect("a time")),
        random: RandomSource::Counting(AtomicU64::new(1)),
        policy: policy_of(&Settings::default())
            .expect("the defaults are valid")
            .into(),
    }
}

/// Counts equal items.
pub fn tally<T: std::hash::Hash + Eq>(things: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    for thing in things {
        *counts.entry(thing).or_insert(0) += 1;
    }
    counts
}
