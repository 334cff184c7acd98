//! `garth serve`: from settings to a running server, and to its orderly end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::bootstrap_token::{GivenToken, first_token};
use super::data_folder::FolderLock;
use super::greeting::{Greeting, Welcome, store_options};
use super::place::{Place, in_words, open_shared};
use super::policy::policy_of;
use super::settings::{LimitSettings, Names, Profile, Settings};
use super::{address, bucket_keys, data_folder, huge_pages, logging, open_files, stop_signals, wake};
use crate::api;
use crate::console;
use crate::files::{BucketKeys, Files, Scanner};
use crate::jobs::{Runner, Work};
use crate::model::policy::Policy;
use crate::model::token::TokenText;
use crate::rules;
use crate::rules::accounts::{Bootstrapped, FirstToken};
use crate::rules::caller::authenticate;
use crate::store::world::{Chance, Clock};
use crate::store::{Database, Store, World, WriteLock};
use crate::web::connections::MaxConnections;
use crate::web::tls::Certificate;
use crate::web::{self, App, Network, Options, WireNames};

/// After this time an upload cannot be going on any more.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Every attachment is read once in so many days, unless set otherwise.
const SCRUB_DAYS: i64 = 30;

pub async fn run(place: &Place, settings: Settings) -> anyhow::Result<()> {
    let settings = complete(place, settings)?;
    start(prepare(place, settings).await?, None).await
}

/// The settings with what the settings file adds to them.
pub fn complete(place: &Place, mut settings: Settings) -> anyhow::Result<Settings> {
    // The option is called --attachments and the setting attachments.url: either name will do.
    let place_for_files = std::env::var("GARTH_ATTACHMENTS").ok();
    settings.attachments.url = settings.attachments.url.or(place_for_files);
    Ok(settings.or(place.file()?))
}

/// What a server needs before it opens its store: correct settings, the folder's lock, its addresses.
pub struct Prepared {
    pub settings: Settings,
    pub folder: PathBuf,
    given: Option<GivenToken>,
    keys: Option<BucketKeys>,
    policy: Policy,
    options: Options,
    certificate: Option<Certificate>,
    database: Option<Database>,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    _lock: Option<FolderLock>,
}

impl Prepared {
    fn scheme(&self) -> &'static str {
        if self.certificate.is_some() {
            "https"
        } else {
            "http"
        }
    }

    /// Where people find the server, as far as it can know.
    fn url(&self) -> anyhow::Result<String> {
        let own = address::url(self.scheme(), self.listener.local_addr()?);
        Ok(self.options.public_url.clone().unwrap_or(own))
    }
}

/// Checks all settings and takes what only one server can have. The store is neither made nor opened before this has
/// succeeded.
pub async fn prepare(place: &Place, settings: Settings) -> anyhow::Result<Prepared> {
    logging::start(&settings.log, settings.log_format)?;
    huge_pages::disable();
    let folder = place.folder(&settings);
    let given = GivenToken::find(&settings)?;
    let keys = bucket_keys::read(&settings.attachments)?;
    let policy = policy_of(&settings)?;
    let options = options_of(&settings)?;
    let certificate = certificate(&settings)?;
    let database = place.database(&settings)?;
    // A server that may not run here must not change the tables either. A database is there for many.
    let lock = match &database {
        None => Some(data_folder::lock(&folder)?),
        Some(_) => {
            data_folder::make(&folder)?;
            None
        }
    };
    let listener = listen(settings.listen.unwrap_or(([127, 0, 0, 1], 8080).into()), "listen").await?;
    let metrics = match settings.metrics_listen {
        Some(address) => Some(listen(address, "metrics-listen").await?),
        None => None,
    };
    Ok(Prepared {
        settings,
        folder,
        given,
        keys,
        policy,
        options,
        certificate,
        database,
        listener,
        metrics,
        _lock: lock,
    })
}

pub async fn start(prepared: Prepared, welcome: Option<Welcome>) -> anyhow::Result<()> {
    let (scheme, url) = (prepared.scheme(), prepared.url()?);
    let Prepared {
        settings,
        folder,
        given,
        keys,
        policy,
        options,
        certificate,
        database,
        listener,
        metrics,
        _lock,
    } = prepared;
    let world = World {
        clock: Clock::System,
        chance: Chance::System,
        policy,
    };
    let store = match &database {
        None => Store::open_embedded(&folder, world)
            .with_context(|| format!("opening the store in {}", folder.display()))?,
        Some(database) => open_shared(database, world)?,
    };
    let files = open_files(&settings, keys.as_ref(), &folder, database.is_none()).await?;
    let mut signaled = stop_signals::listen()?;
    let hup = signal(SignalKind::hangup())?;
    let (stop, stopping) = watch::channel(false);
    let metrics_address = metrics.as_ref().map(TcpListener::local_addr).transpose()?;
    if let Some(listener) = metrics {
        web::metrics::serve(listener, stopping.clone()).await?;
    }
    let _address = match &database {
        None => {
            wake::listen(&folder, store.clone());
            Some(address::Published::write(&folder, &url))
        }
        Some(_) => None,
    };

    // All that can fail has not: only now is a token made, because it is shown only once.
    let first = bootstrap(&store, first_token(given.as_ref())).await?;
    let token = given.as_ref().map(|given| &given.token);
    if first.is_none() && !knows(&store, token).await? {
        tracing::warn!("bootstrap token is not used: this store was made before, and does not know it");
    }
    let work = Work {
        store: store.clone(),
        files: files.clone(),
        scrub_days: settings.attachments.scrub_days.unwrap_or(SCRUB_DAYS),
        alone: database.is_none(),
    };
    let runner = Runner::prepare(work).await.map_err(in_words)?;
    let greeting = Greeting {
        listening: format!("{scheme}://{}", listener.local_addr()?),
        url,
        metrics: metrics_address,
        first: first.as_ref(),
        given: given.as_ref(),
        store: store_options(&folder, database.is_some()),
        welcome,
    };
    greeting.print()?;
    let jobs = tokio::spawn(runner.run(stopping.clone()));

    let mut failed = store.failed();
    let app = App::new(store.clone(), files, options, stopping.clone());
    tokio::spawn(renew(certificate.clone(), hup));
    tokio::spawn(web::readiness::watch(app.clone()));
    let router = api::router(&app).merge(console::router(&app));
    let serving = tokio::spawn(web::server::serve_with(
        listener,
        app,
        router,
        certificate,
        stopping,
    ));
    tokio::select! {
        _ = signaled.wait_for(|signaled| *signaled) => {}
        _ = failed.wait_for(|failed| *failed) => {
            // What is still being answered gets its refusal; then this process must not go on.
            tokio::time::sleep(Duration::from_millis(200)).await;
            bail!("the store could not be sure that a write reached the disk: see the log, check the disk, start again");
        }
    }
    tracing::info!("stopping: finishing what runs");
    stop.send_replace(true);
    serving.await?;
    jobs.await?;
    if let Err(cause) = store.close().await {
        tracing::warn!(%cause, "could not tidy up the store");
    }
    tracing::info!("stopped");
    Ok(())
}

fn options_of(settings: &Settings) -> anyhow::Result<Options> {
    let upstream = settings.profile == Some(Profile::Upstream);
    Ok(Options {
        names: match settings.wire_names {
            None | Some(Names::Both) => WireNames::Both,
            Some(Names::Compute) => WireNames::Compute,
            Some(Names::Linode) => WireNames::Linode,
        },
        rate_limits: settings.rate_limit.enabled.unwrap_or(upstream),
        scanner: settings
            .attachments
            .scan_command
            .as_deref()
            .map(|command| Scanner::parse(command).context("attachments.scan_command: must name a command"))
            .transpose()?,
        public_url: settings.public_url.as_deref().map(public_url).transpose()?,
        oauth_prefix: oauth_prefix(settings.oauth.prefix.as_deref().unwrap_or_default())?,
        trusted_proxies: trusted_proxies(settings.trusted_proxies.as_deref().unwrap_or_default())?,
        max_connections: max_connections(&settings.limits)?,
        answer_memory: answer_memory(&settings.limits)?,
        client_address: settings.log.client_address(),
        login_names: settings.log.login_names(),
        min_free_bytes: settings.min_free_bytes.unwrap_or(web::MIN_FREE_BYTES),
        ..Options::default()
    })
}

fn max_connections(limits: &LimitSettings) -> anyhow::Result<MaxConnections> {
    ensure!(
        limits.connections != Some(0),
        "limits.connections: must be 1 or more"
    );
    ensure!(
        limits.connections_per_address != Some(0),
        "limits.connections_per_address: must be 1 or more"
    );
    let default = MaxConnections::default();
    let count = |set: Option<u32>, default: usize| set.map_or(default, |set| set as usize);
    let wanted = MaxConnections {
        total: count(limits.connections, default.total),
        per_address: count(limits.connections_per_address, default.per_address),
    };
    let max = wanted.within(open_files::raise_limit());
    if limits.connections.is_some() && max != wanted {
        tracing::warn!(
            connections = max.total,
            "the limit on open files allows fewer connections than set"
        );
    }
    Ok(max)
}

fn answer_memory(limits: &LimitSettings) -> anyhow::Result<usize> {
    match limits.answer_memory_mib {
        None => Ok(Options::default().answer_memory),
        Some(mib @ 1..=1_048_576) => Ok((mib as usize).saturating_mul(1024 * 1024)),
        Some(mib) => bail!("limits.answer_memory_mib: must be from 1 to 1048576, not {mib}"),
    }
}

fn public_url(raw: &str) -> anyhow::Result<String> {
    let rest = raw.strip_prefix("https://").or(raw.strip_prefix("http://"));
    let plain = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|b| matches!(b, b'!'..=b'~')) && !rest.contains(['?', '#', '@'])
    };
    match rest {
        Some(rest) if plain(rest) => Ok(raw.trim_end_matches('/').to_owned()),
        _ => bail!("public_url: must be like https://garth.example.com, not {raw}"),
    }
}

fn oauth_prefix(raw: &str) -> anyhow::Result<String> {
    let prefix = raw.trim_end_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let good =
        prefix.is_empty() || (prefix.starts_with('/') && prefix.chars().all(plain) && !prefix.contains("//"));
    ensure!(good, "oauth.prefix: must be a path like /login, not {raw}");
    Ok(prefix.to_owned())
}

fn trusted_proxies(raw: &[String]) -> anyhow::Result<Vec<Network>> {
    let read = |raw: &String| {
        let wrong = || format!("trusted_proxies: must be addresses or ranges like 10.0.0.0/8, not {raw}");
        Network::parse(raw).with_context(wrong)
    };
    raw.iter().filter(|raw| !raw.is_empty()).map(read).collect()
}

/// The certificate to serve with, if there is to be one.
fn certificate(settings: &Settings) -> anyhow::Result<Option<Certificate>> {
    match (&settings.tls_cert, &settings.tls_key) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => Certificate::load(chain, key).map(Some),
        (Some(_), None) => bail!("tls_key: is needed beside tls_cert"),
        (None, Some(_)) => bail!("tls_cert: is needed beside tls_key"),
    }
}

/// Reads the certificate anew whenever somebody asks for that. Without one there is nothing to do,
/// but the signal must not end the server either.
async fn renew(certificate: Option<Certificate>, mut hup: Signal) {
    while hup.recv().await.is_some() {
        match certificate.as_ref().map(Certificate::reload) {
            None => tracing::info!("asked to read the certificate anew, but there is none"),
            Some(Ok(())) => tracing::info!("read the certificate anew"),
            Some(Err(cause)) => tracing::error!("kept the certificate of before: {cause:#}"),
        }
    }
}

/// Opens the place for attachments. One that cannot be reached just now may come back.
async fn open_files(
    settings: &Settings,
    keys: Option<&BucketKeys>,
    folder: &Path,
    alone: bool,
) -> anyhow::Result<Files> {
    let files = Files::open_with(settings.attachments.url.as_deref(), folder, keys)?;
    files.empty_spool(if alone { Duration::ZERO } else { ABANDONED })?;
    if !alone && settings.attachments.url.is_none() {
        tracing::warn!(
            "attachments are kept in this node's own folder, where no other node finds them: name a bucket or a \
             shared folder with --attachments, the same on every node"
        );
    }
    if let Err(cause) = files.probe().await {
        tracing::error!(%cause, "attachments can neither be kept nor read at the moment");
    }
    Ok(files)
}

/// Makes the first account and its token, if the store has none.
async fn bootstrap(store: &Store, token: FirstToken) -> anyhow::Result<Option<Bootstrapped>> {
    // Nodes that start at once take turns, so that the first account has the first number.
    let made = store
        .write_with(Some(WriteLock::Bootstrap), move |tx| {
            rules::accounts::bootstrap(tx, &token)
        })
        .await;
    made.map_err(in_words)
}

/// Whether a token that was given, if one was, opens this store.
async fn knows(store: &Store, given: Option<&TokenText>) -> anyhow::Result<bool> {
    let Some(hash) = given.map(TokenText::hash) else {
        return Ok(true);
    };
    let found = store.read(move |tx| authenticate(tx, hash)).await;
    match found {
        Ok(_) => Ok(true),
        Err(rules::Error::Unauthenticated) => Ok(false),
        Err(other) => Err(in_words(other)),
    }
}

async fn listen(address: SocketAddr, option: &str) -> anyhow::Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.with_context(|| format!("cannot listen on {address} (choose another address with --{option})"))
}
