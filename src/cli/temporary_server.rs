//! A server within the process of a command, with an empty store that is deleted afterward.

use std::path::PathBuf;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::data_folder;
use super::policy::policy_of;
use super::server_options::options_of;
use super::settings::Settings;
use super::store_args::{StoreArgs, describe_error};
use crate::files::Files;
use crate::jobs::{JobContext, Runner};
use crate::model::token::{TokenText, hex};
use crate::rules::accounts::{self, FirstToken};
use crate::store::context::{Clock, RandomSource};
use crate::store::{Store, StoreContext};
use crate::web::{self, App};
use crate::{api, console};

/// The scrub reads stored files at this interval, so not while the server runs.
const SCRUB_DAYS: i64 = 30;

pub struct TemporaryServer {
    url: String,
    token: TokenText,
    store: Store,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    jobs: JoinHandle<()>,
    _folder: TemporaryFolder,
}

impl TemporaryServer {
    /// Starts a server on a free port of 127.0.0.1, with the settings of the environment and the settings file.
    pub async fn start(store: &StoreArgs) -> anyhow::Result<Self> {
        let settings = Settings::from_environment()?.or(store.settings_file()?);
        let mut options = options_of(&settings)?;
        // The replay is the only client.
        options.rate_limits = false;
        let folder = TemporaryFolder::create()?;
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&settings)?.into(),
        };
        let store = Store::open_embedded(&folder.0, context)?;
        let files = Files::open(None, &folder.0)?;
        let context = JobContext {
            store: store.clone(),
            files: files.clone(),
            scrub_days: SCRUB_DAYS,
            is_only_server: true,
            mail: None,
        };
        let runner = Runner::prepare(context).await.map_err(describe_error)?;
        let token = TokenText::from_bytes(RandomSource::System.bytes());
        let first = FirstToken::Given(token.clone());
        let created = store.write(move |tx| accounts::bootstrap(tx, &first)).await;
        created.map_err(describe_error)?;

        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (stop, stopping) = watch::channel(false);
        let app = App::new(store.clone(), files, options, stopping.clone());
        tokio::spawn(web::readiness::watch(app.clone()));
        let router = api::router(&app).merge(console::router(&app));
        Ok(Self {
            url,
            token,
            store,
            stop,
            jobs: tokio::spawn(runner.run(stopping.clone())),
            serving: tokio::spawn(web::server::serve(listener, app, router, stopping)),
            _folder: folder,
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The token of the first user, with all scopes.
    pub fn token(&self) -> &str {
        self.token.reveal()
    }

    /// Stops the server and deletes its store.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // The store is deleted, so its last state does not matter.
        let _ = self.jobs.await;
        self.serving.abort();
        let _ = self.store.close().await;
    }
}

/// A folder that is deleted when it is dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn create() -> anyhow::Result<Self> {
        let random = hex(&RandomSource::System.bytes()[..8]);
        let folder = Self(std::env::temp_dir().join(format!("garth-replay-{random}")));
        data_folder::create(&folder.0)?;
        Ok(folder)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
