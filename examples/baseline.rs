//! What the benchmarks hold Garth against; `bench/run` starts it.
//!
//! `fixed` answers one path with the same bytes every time: all that is left is the connection
//! stack. `ungrouped` is Garth itself with a store that commits each write alone. `crowd` fills a
//! store and ends: a subnet with as many addresses taken as one likes.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use clap::{Args, Parser};
use garth::cli::{Settings, policy_of};
use garth::files::Files;
use garth::http::{self, App, Options};
use garth::model::id::InstanceId;
use garth::model::input::Input;
use garth::model::token::TokenText;
use garth::rules::caller::{Asker, Caller, authenticate};
use garth::rules::request::Request;
use garth::rules::{self, Error};
use garth::store::world::{Chance, Clock};
use garth::store::{Store, World, WriteTx};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// A server to hold Garth against; it runs until it is killed.
#[derive(Parser)]
enum Baseline {
    Fixed(Fixed),
    Ungrouped(Ungrouped),
    Crowd(Crowd),
}

/// Answers one path with fixed bytes
#[derive(Args)]
struct Fixed {
    #[arg(long)]
    listen: SocketAddr,
    /// The path it answers
    #[arg(long)]
    path: String,
    /// File with the bytes it answers with
    #[arg(long)]
    body: PathBuf,
}

/// Serves Garth with one transaction per write
#[derive(Args)]
struct Ungrouped {
    #[arg(long)]
    listen: SocketAddr,
    /// Folder of its store
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    quota_vpcs_per_region: Option<i64>,
    /// The first account's token
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

/// Makes a store with a VPC, a subnet of ten million addresses, an instance, and configs of it that
/// have taken so many of the addresses
#[derive(Args)]
struct Crowd {
    /// Folder of the store
    #[arg(long)]
    data: PathBuf,
    /// How many addresses are taken
    #[arg(long)]
    taken: usize,
    /// The first account's token
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // As with `garth serve --log warn`.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .init();
    match Baseline::parse() {
        Baseline::Fixed(fixed) => fixed.run().await,
        Baseline::Ungrouped(ungrouped) => ungrouped.run().await,
        Baseline::Crowd(crowd) => crowd.run().await,
    }
}

impl Fixed {
    async fn run(self) -> anyhow::Result<()> {
        let body = std::fs::read(&self.body).with_context(|| format!("reading {}", self.body.display()))?;
        let body = Bytes::from(body);
        let answer = move || std::future::ready(([(CONTENT_TYPE, "application/json")], body.clone()));
        let router = Router::new().route(&self.path, get(answer));

        let listener = listen(self.listen).await?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await?;
        Ok(())
    }
}

impl Ungrouped {
    async fn run(self) -> anyhow::Result<()> {
        let mut settings = Settings::default();
        settings.quota.vpcs_per_region = self.quota_vpcs_per_region;
        let world = World {
            clock: Clock::System,
            chance: Chance::System,
            policy: policy_of(&settings)?,
        };
        let store = Store::open_embedded_grouping(&self.data, world, 1)?;
        let token = self.token;
        let made = store
            .write(move |tx| rules::accounts::bootstrap(tx, Some(&token)))
            .await;
        made.map_err(|cause| anyhow::anyhow!("making the first account: {cause:?}"))?;

        let (_stop, stopping) = watch::channel(false);
        let files = Files::open(None, &self.data)?;
        let app = App::new(store, files, Options::default(), stopping.clone());
        http::server::serve(listen(self.listen).await?, app, stopping).await;
        Ok(())
    }
}

impl Crowd {
    const AT_ONCE: usize = 2000;

    async fn run(self) -> anyhow::Result<()> {
        let policy = policy_of(&Settings::default())?;
        let world = World {
            clock: Clock::System,
            chance: Chance::System,
            policy,
        };
        let store = Store::open_embedded(&self.data, world)?;
        let (token, hash) = (self.token.clone(), self.token.hash());
        let furnish = move |tx: &mut WriteTx| {
            rules::accounts::bootstrap(tx, Some(&token))?;
            let caller = Caller::admit(authenticate(tx, hash)?, None)?;
            let subnet = object([("label", text("wide")), ("ipv4", text("10.0.0.0/8"))]);
            let vpc = [
                ("label", text("core")),
                ("region", text("us-ord")),
                ("subnets", Input::List(vec![subnet])),
            ];
            rules::vpcs::create(tx, &caller, &asking(object(vpc)))?;
            let instance = [("type", text("g6-nanode-1")), ("region", text("us-ord"))];
            rules::instances::create(tx, &caller, &asking(object(instance)))?;
            Ok::<_, Error>(())
        };
        store
            .write(furnish)
            .await
            .map_err(|cause| anyhow::anyhow!("furnishing: {cause:?}"))?;
        for done in (0..self.taken).step_by(Self::AT_ONCE) {
            let some = Self::AT_ONCE.min(self.taken - done);
            let take = move |tx: &mut WriteTx| {
                let caller = Caller::admit(authenticate(tx, hash)?, None)?;
                for number in done..done + some {
                    let interface = object([("purpose", text("vpc")), ("subnet_id", Input::Integer(1))]);
                    let label = text(&format!("taken-{number}"));
                    let config = object([("label", label), ("interfaces", Input::List(vec![interface]))]);
                    rules::configs::create(tx, &caller, InstanceId(1), &asking(config))?;
                }
                Ok::<_, Error>(())
            };
            store
                .write(take)
                .await
                .map_err(|cause| anyhow::anyhow!("taking addresses: {cause:?}"))?;
            eprint!("\r{} of {} addresses taken", done + some, self.taken);
        }
        eprintln!();
        Ok(())
    }
}

fn asking(object: Input) -> Request {
    Request {
        expected: None,
        body: Ok(object),
    }
}

fn object<const N: usize>(entries: [(&str, Input); N]) -> Input {
    Input::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn text(text: &str) -> Input {
    Input::Text(text.to_owned())
}

/// Listens, and says where: the runner asks for any free port.
async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(listener)
}

fn token(raw: &str) -> Result<TokenText, String> {
    TokenText::parse(raw).ok_or_else(|| "must be 64 lower-case hexadecimal characters".to_owned())
}
