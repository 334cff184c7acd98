//! `garth serve`: starts a server from its settings, and stops it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use sd_notify::NotifyState;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::bootstrap_token::{ConfiguredToken, first_token};
use super::continuous_archive::ArchiveSettings;
use super::data_folder::FolderLock;
use super::listeners::Listeners;
use super::policy::policy_of;
use super::server_options::{certificate, options_of};
use super::server_url::UrlFile;
use super::settings::Settings;
use super::startup_message::{DemoMessage, StartupMessage, store_options};
use super::store_args::{StoreArgs, describe_error, open_shared};
use super::test_mode::TestMode;
use super::{
    bucket_keys, data_folder, huge_pages, logging, outgoing_mail, server_notification, server_url,
    stop_signals,
};
use crate::api;
use crate::console;
use crate::files::{BucketKeys, Files};
use crate::jobs::{JobContext, Runner};
use crate::mail::lmtp;
use crate::mail::outbound::server::SmtpServer;
use crate::model::policy::Policy;
use crate::model::token::TokenText;
use crate::rules;
use crate::rules::accounts::{Bootstrapped, FirstToken};
use crate::rules::caller::authenticate;
use crate::store::context::{Clock, RandomSource};
use crate::store::{Database, Store, StoreContext, WriteLock};
use crate::test_control;
use crate::web::tls::Certificate;
use crate::web::{self, App, Options};

/// Spooled files older than this belong to no running upload.
const MAX_UPLOAD_AGE: Duration = Duration::from_secs(3600);
/// Default of `attachments.scrub_days`.
const DEFAULT_SCRUB_DAYS: i64 = 30;
/// After the store has failed, the process exits with this delay, so that pending requests still get a response.
const FAILURE_GRACE: Duration = Duration::from_millis(200);

pub async fn run(store: &StoreArgs, settings: Settings) -> anyhow::Result<()> {
    let settings = merge_settings(store, settings)?;
    start(prepare(store, settings).await?, None).await
}

/// Fills in unset settings from the settings file.
pub fn merge_settings(store: &StoreArgs, mut settings: Settings) -> anyhow::Result<Settings> {
    // The option --attachments is the setting attachments.url, so both GARTH_ATTACHMENTS and GARTH_ATTACHMENTS_URL are
    // accepted.
    let attachments_url = std::env::var("GARTH_ATTACHMENTS").ok();
    settings.attachments.url = settings.attachments.url.or(attachments_url);
    Ok(settings.or(store.settings_file()?))
}

/// Everything a server needs before it opens its store: valid settings, the lock on its folder, bound addresses.
pub struct Prepared {
    pub settings: Settings,
    pub folder: PathBuf,
    configured_token: Option<ConfiguredToken>,
    keys: Option<BucketKeys>,
    policy: Policy,
    options: Options,
    certificate: Option<Certificate>,
    database: Option<Database>,
    archive: Option<ArchiveSettings>,
    test_mode: Option<TestMode>,
    mail: Option<SmtpServer>,
    listeners: Listeners,
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

    fn listen_url(&self) -> anyhow::Result<String> {
        Ok(format!(
            "{}://{}",
            self.scheme(),
            self.listeners.api.local_addr()?
        ))
    }

    /// The URL that users open: `public_url` if it is set, otherwise the URL of the listener.
    fn url(&self) -> anyhow::Result<String> {
        let listener_url = server_url::of_listener(self.scheme(), self.listeners.api.local_addr()?);
        Ok(self.options.public_url.clone().unwrap_or(listener_url))
    }
}

/// Validates all settings, locks the folder and binds the addresses. `start` then opens the store.
pub async fn prepare(store: &StoreArgs, settings: Settings) -> anyhow::Result<Prepared> {
    logging::start(&settings.log, settings.log_format)?;
    huge_pages::disable();
    let folder = store.folder(&settings);
    let configured_token = ConfiguredToken::find(&settings)?;
    let keys = bucket_keys::read(&settings.attachments)?;
    let policy = policy_of(&settings)?;
    let options = options_of(&settings)?;
    let certificate = certificate(&settings)?;
    let database = store.database(&settings)?;
    let archive = ArchiveSettings::find(&settings, &folder, database.is_some())?;
    let test_mode = TestMode::find(&settings)?;
    let mail = outgoing_mail::server_of(&settings)?;
    Files::validate(settings.attachments.url.as_deref(), &folder, keys.as_ref())?;
    // An existing folder is locked before the addresses are bound: the error of a second server on the folder
    // is then about the folder, not about the address. A missing folder is created after the addresses are
    // bound, so that a failed start does not leave an empty folder.
    let (listeners, lock) = if folder.exists() {
        let lock = prepare_folder(&folder, database.is_some())?;
        (Listeners::bind(&settings).await?, lock)
    } else {
        let listeners = Listeners::bind(&settings).await?;
        (listeners, prepare_folder(&folder, database.is_some())?)
    };
    if let Some(test_mode) = &test_mode {
        // systemd may have passed a socket with another address than that of the settings.
        test_mode.require_loopback(listeners.api.local_addr()?)?;
    }
    Ok(Prepared {
        settings,
        folder,
        configured_token,
        keys,
        policy,
        options,
        certificate,
        database,
        archive,
        test_mode,
        mail,
        listeners,
        _lock: lock,
    })
}

/// Creates the folder if it is missing. Locks it, unless the store is in a shared database.
fn prepare_folder(folder: &Path, is_shared: bool) -> anyhow::Result<Option<FolderLock>> {
    if is_shared {
        data_folder::create(folder)?;
        return Ok(None);
    }
    data_folder::lock(folder).map(Some)
}

/// Starts the server, and runs it until a signal stops it.
pub async fn start(prepared: Prepared, demo: Option<DemoMessage>) -> anyhow::Result<()> {
    let (listen_url, url) = (prepared.listen_url()?, prepared.url()?);
    let is_shared = prepared.database.is_some();
    let clock = prepared.test_mode.as_ref().map_or(Clock::System, TestMode::clock);
    let context = context(prepared.policy, clock);
    let (store, archive) = match prepared.archive {
        Some(archive) => {
            let opened = archive.open(&prepared.folder, context, prepared.keys.as_ref())?;
            (opened.store.clone(), Some(opened))
        }
        None => (
            open_store(&prepared.folder, prepared.database.as_ref(), context)?,
            None,
        ),
    };
    let files = open_attachment_storage(
        &prepared.settings,
        prepared.keys.as_ref(),
        &prepared.folder,
        is_shared,
    )
    .await?;
    let signaled = stop_signals::listen()?;
    let hup = signal(SignalKind::hangup())?;
    let (stop, stopping) = watch::channel(false);
    let metrics_address = match prepared.listeners.metrics {
        Some(listener) => Some(serve_metrics(listener, stopping.clone()).await?),
        None => None,
    };
    if let Some(certificate) = &prepared.certificate {
        certificate.publish_expiry();
    }
    let _url_file = (!is_shared).then(|| {
        server_notification::listen(&prepared.folder, store.clone());
        UrlFile::write(&prepared.folder, &url)
    });

    let jobs = job_context(&store, &files, &prepared.settings, is_shared, prepared.mail);
    let runner = Runner::prepare(jobs.clone()).await.map_err(describe_error)?;
    let mut test_message = String::new();
    let test_setup = match prepared.test_mode {
        Some(test_mode) => {
            test_message = test_mode.message(&listen_url);
            let (options, folder) = (prepared.options.clone(), &prepared.folder);
            Some(test_mode.setup(jobs, options, &prepared.settings, folder).await?)
        }
        None => None,
    };
    // All other steps that can fail come before this one, because a random token is printed only once.
    let first = bootstrap(&store, prepared.configured_token.as_ref()).await?;
    let message = StartupMessage {
        listen_url,
        url,
        metrics: metrics_address,
        first: first.as_ref(),
        configured_token: prepared.configured_token.as_ref(),
        store_options: store_options(&prepared.folder, is_shared),
        test_mode: test_message,
        demo,
    };
    message.print()?;

    let archiving = archive.map(|archive| archive.start(&files, &prepared.folder));
    let app = App::new(store.clone(), files, prepared.options, stopping.clone());
    let (uploads, lmtp_stopping) = (app.uploads(), stopping.clone());
    tokio::spawn(store.clone().watch_catalog(stopping.clone()));
    tokio::spawn(reload_on_hangup(prepared.certificate.clone(), hup));
    let (router, jobs) = match test_setup {
        None => {
            tokio::spawn(web::readiness::watch(app.clone()));
            let router = api::router(&app).merge(console::router(&app));
            (router, tokio::spawn(runner.run(stopping.clone())))
        }
        Some(setup) => {
            let started = test_control::start(setup, runner, stopping.clone()).await;
            started.map_err(describe_error)?
        }
    };
    let serving = tokio::spawn(web::server::serve_with(
        prepared.listeners.api,
        app,
        router,
        prepared.certificate,
        stopping,
    ));
    let receiving = prepared.listeners.lmtp.map(|socket| {
        tokio::spawn(lmtp::serve(
            socket,
            uploads,
            lmtp::Limits::default(),
            lmtp_stopping,
        ))
    });
    notify_systemd(NotifyState::Ready);
    wait_for_stop(&store, signaled).await?;

    tracing::info!("shutting down");
    notify_systemd(NotifyState::Stopping);
    stop.send_replace(true);
    serving.await?;
    if let Some(receiving) = receiving {
        receiving.await?;
    }
    jobs.await?;
    close(store).await;
    if let Some(archiving) = archiving {
        archiving.stop().await;
    }
    tracing::info!("stopped");
    Ok(())
}

fn job_context(
    store: &Store,
    files: &Files,
    settings: &Settings,
    is_shared: bool,
    mail: Option<SmtpServer>,
) -> JobContext {
    JobContext {
        store: store.clone(),
        files: files.clone(),
        scrub_days: settings.attachments.scrub_days.unwrap_or(DEFAULT_SCRUB_DAYS),
        is_only_server: !is_shared,
        mail,
    }
}

/// Has no effect if systemd has not started the server.
fn notify_systemd(state: NotifyState) {
    if let Err(cause) = sd_notify::notify(&[state]) {
        tracing::warn!(error = %cause, "systemd not notified");
    }
}

async fn close(store: Store) {
    if let Err(cause) = store.close().await {
        tracing::warn!(error = %cause, "store not closed cleanly");
    }
}

fn context(policy: Policy, clock: Clock) -> StoreContext {
    StoreContext {
        clock,
        random: RandomSource::System,
        policy: policy.into(),
    }
}

fn open_store(folder: &Path, database: Option<&Database>, context: StoreContext) -> anyhow::Result<Store> {
    match database {
        None => Store::open_embedded(folder, context)
            .with_context(|| format!("cannot open the store in {}", folder.display())),
        Some(database) => open_shared(database, context),
    }
}

/// Serves the metrics; returns the address of the listener.
async fn serve_metrics(listener: TcpListener, stopping: watch::Receiver<bool>) -> anyhow::Result<SocketAddr> {
    let address = listener.local_addr()?;
    web::metrics::serve(listener, stopping).await?;
    Ok(address)
}

/// Waits for a signal. Returns an error if the store can no longer guarantee durability.
async fn wait_for_stop(store: &Store, mut signaled: watch::Receiver<bool>) -> anyhow::Result<()> {
    let mut failed = store.failed();
    tokio::select! {
        _ = signaled.wait_for(|signaled| *signaled) => Ok(()),
        _ = failed.wait_for(|failed| *failed) => {
            tokio::time::sleep(FAILURE_GRACE).await;
            bail!("a write may not have reached the disk: read the log, check the disk, then start the server again")
        }
    }
}

/// Reloads the certificate on SIGHUP. Without a certificate the signal is ignored: its default action would end the
/// process.
async fn reload_on_hangup(certificate: Option<Certificate>, mut hup: Signal) {
    while hup.recv().await.is_some() {
        match certificate.as_ref().map(Certificate::reload) {
            None => tracing::info!("certificate reload ignored, no certificate set"),
            Some(Ok(())) => tracing::info!("certificate reloaded"),
            Some(Err(cause)) => tracing::error!(error = format!("{cause:#}"), "certificate reload failed"),
        }
    }
}

/// Opens the attachment storage. If the storage is unavailable, the server logs this and starts anyway,
/// because the storage can become available later.
async fn open_attachment_storage(
    settings: &Settings,
    keys: Option<&BucketKeys>,
    folder: &Path,
    is_shared: bool,
) -> anyhow::Result<Files> {
    let files = Files::open_with(settings.attachments.url.as_deref(), folder, keys)?;
    files.empty_spool(if is_shared { MAX_UPLOAD_AGE } else { Duration::ZERO })?;
    if is_shared && settings.attachments.url.is_none() {
        tracing::warn!(
            setting = "attachments.url",
            "attachments not shared between nodes"
        );
    }
    if let Err(cause) = files.probe().await {
        tracing::error!(error = %cause, "attachment storage unavailable");
    }
    Ok(files)
}

/// Creates the first account and its token, if the store has no accounts.
async fn bootstrap(
    store: &Store,
    configured: Option<&ConfiguredToken>,
) -> anyhow::Result<Option<Bootstrapped>> {
    let token: FirstToken = first_token(configured);
    // The lock serializes nodes that start at the same time, so that the first account has the ID 1.
    let first = store
        .write_with(Some(WriteLock::Bootstrap), move |tx| {
            rules::accounts::bootstrap(tx, &token)
        })
        .await
        .map_err(describe_error)?;
    if let (None, Some(configured)) = (&first, configured)
        && !is_valid_token(store, &configured.token).await?
    {
        tracing::warn!("bootstrap token ignored, store already initialized");
    }
    Ok(first)
}

/// Whether a token authenticates a user of this store.
async fn is_valid_token(store: &Store, token: &TokenText) -> anyhow::Result<bool> {
    let hash = token.hash();
    match store.read(move |tx| authenticate(tx, hash)).await {
        Ok(_) => Ok(true),
        Err(rules::Error::Unauthenticated) => Ok(false),
        Err(other) => Err(describe_error(other)),
    }
}
