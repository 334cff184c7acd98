//! Shared helpers: stores with a first account, requests without HTTP, and listeners.

use std::net::SocketAddr;
use std::path::Path;

use garth::cli::{Settings, policy_of};
use garth::model::input::Input;
use garth::model::policy::Policy;
use garth::model::token::{TokenHash, TokenText};
use garth::rules::caller::{Caller, Principal, Requirements, authenticate};
use garth::rules::request::{Prepared, Request};
use garth::rules::{self, Error};
use garth::store::context::{Clock, RandomSource};
use garth::store::{ReadTx, Store, StoreContext};
use tokio::net::TcpListener;

/// The context of a server, with quotas and public ranges that are never used up.
pub fn context(clock: Clock) -> anyhow::Result<StoreContext> {
    let mut settings = Settings::default();
    settings.quota.vpcs_per_region = Some(100_000_000);
    settings.quota.subnets_per_vpc = Some(100_000_000);
    // One public address for each instance. The default ranges are small.
    settings.compute.public_ranges = Some(vec!["198.18.0.0/15".to_owned()]);
    Ok(StoreContext {
        clock,
        random: RandomSource::System,
        policy: policy_of(&settings)?.into(),
    })
}

/// Opens an embedded store with its first account.
pub async fn open(folder: &Path, context: StoreContext, token: &TokenText) -> anyhow::Result<Store> {
    let store = Store::open_embedded(folder, context)?;
    create_first_account(&store, token).await?;
    Ok(store)
}

pub async fn create_first_account(store: &Store, token: &TokenText) -> anyhow::Result<()> {
    let token = rules::accounts::FirstToken::Given(token.clone());
    let created = store
        .write(move |tx| rules::accounts::bootstrap(tx, &token))
        .await;
    created.map(drop).map_err(error_in("creating the first account"))
}

pub fn caller(tx: &mut ReadTx, hash: TokenHash) -> Result<Caller, Error> {
    Caller::admit(authenticate(tx, hash)?, Requirements::default())
}

pub fn error_in(action: &'static str) -> impl Fn(Error) -> anyhow::Error {
    move |cause| anyhow::anyhow!("{action}: {cause:?}")
}

pub fn request<I: Prepared>(object: Input, policy: &Policy) -> I {
    let request = Request {
        expected: None,
        body: Ok(object),
    };
    I::prepare(request, policy)
}

pub fn object<const N: usize>(entries: [(&str, Input); N]) -> Input {
    Input::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

pub fn text(text: &str) -> Input {
    Input::Text(text.to_owned())
}

/// Listens on any free port and prints the address for the runner.
pub async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(listener)
}

pub fn token(raw: &str) -> Result<TokenText, String> {
    TokenText::parse(raw).ok_or_else(|| "must be 64 lower-case hexadecimal characters".to_owned())
}
