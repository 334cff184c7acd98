//! Restarts the server within its process, when the rows of its store are replaced.
//!
//! A restart replaces the `App` with all its caches, the router and the runner of jobs, and ends the event streams. The
//! store and the connections remain. So nothing in memory can refer to earlier rows.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, watch};
use tokio::task::JoinHandle;

use crate::jobs::{JobContext, Runner};
use crate::model::job::{JobKind, JobSummary};
use crate::model::time::Time;
use crate::rules::{self, Result};
use crate::store::Store;
use crate::web::{self, App, Options};
use crate::{api, console};

/// How often a restart that waits for requests ends their streams and delays.
const END_INTERVAL: Duration = Duration::from_millis(50);

pub struct RestartableServer {
    jobs: JobContext,
    options: Options,
    /// Requests hold the lock for reading until they have their response.
    running: RwLock<RunningServer>,
    /// Ends the streams of the running server, even while requests are running.
    stop: Mutex<watch::Sender<bool>>,
    /// The router of the running server, also during a restart.
    last_router: Mutex<Router>,
}

pub struct RunningServer {
    pub app: App,
    pub router: Router,
    stop: watch::Sender<bool>,
    /// `None` if the runner has stopped.
    runner: Option<JoinHandle<()>>,
}

impl RestartableServer {
    pub fn start(jobs: JobContext, options: Options, runner: Arc<Runner>) -> Self {
        let running = RunningServer::start(&jobs, &options, runner);
        Self {
            jobs,
            options,
            stop: Mutex::new(running.stop.clone()),
            last_router: Mutex::new(running.router.clone()),
            running: RwLock::new(running),
        }
    }

    pub fn store(&self) -> &Store {
        &self.jobs.store
    }

    pub fn context(&self) -> &JobContext {
        &self.jobs
    }

    /// The running server. It is not restarted while this guard exists.
    pub async fn running(&self) -> RwLockReadGuard<'_, RunningServer> {
        self.running.read().await
    }

    /// Waits for the running requests, runs `work`, which replaces the content of the store, and restarts the server.
    pub async fn restart_with<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let mut running = self.wait_for_requests().await;
        running.stop().await;
        let replaced = work.await;
        let runner = Runner::prepare(self.jobs.clone()).await?;
        *running = RunningServer::start(&self.jobs, &self.options, runner);
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = running.stop.clone();
        *self.last_router.lock().unwrap_or_else(PoisonError::into_inner) = running.router.clone();
        replaced
    }

    /// The router of the running server, or during a restart that of the server before it.
    pub fn last_router(&self) -> Router {
        let router = self.last_router.lock();
        router.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn stop(&self) {
        self.wait_for_requests().await.stop().await;
    }

    /// Waits for the running requests, after the end of streams, delays and incomplete bodies. Another restart can be
    /// running. Requests that wait for its end run before this one, so those are ended, too.
    async fn wait_for_requests(&self) -> RwLockWriteGuard<'_, RunningServer> {
        let waiting = self.running.write();
        tokio::pin!(waiting);
        loop {
            self.end_streams();
            tokio::select! {
                running = &mut waiting => return running,
                () = tokio::time::sleep(END_INTERVAL) => {}
            }
        }
    }

    fn end_streams(&self) {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.send_replace(true);
    }
}

impl RunningServer {
    fn start(jobs: &JobContext, options: &Options, runner: Arc<Runner>) -> Self {
        let (stop, stopping) = watch::channel(false);
        let app = App::new(
            jobs.store.clone(),
            jobs.files.clone(),
            options.clone(),
            stopping.clone(),
        );
        tokio::spawn(web::readiness::watch(app.clone()));
        Self {
            router: api::router(&app).merge(console::router(&app)),
            app,
            stop,
            runner: Some(tokio::spawn(runner.run(stopping))),
        }
    }

    /// Ends the streams, and waits for the runner to release its leases.
    async fn stop(&mut self) {
        self.stop.send_replace(true);
        if let Some(runner) = self.runner.take()
            && let Err(cause) = runner.await
        {
            tracing::error!(error = %cause, "job runner failed");
        }
    }
}

/// The time of the first job until `end` that does not repeat, such as the next step of a boot.
pub async fn next_single_job(store: &Store, end: Time) -> Result<Option<Time>> {
    let repeats =
        |job: &JobSummary| JobKind::parse(&job.kind).is_none_or(|kind| kind.interval_seconds().is_some());
    let jobs = store.read(rules::jobs::list).await?;
    let single = jobs.iter().filter(|job| !job.dead && !repeats(job));
    Ok(single.map(|job| job.due).filter(|due| *due <= end).min())
}

/// Waits until no job is due, for at most `rules::jobs::LEASE_SECONDS` seconds.
pub async fn wait_for_due_jobs(store: &Store) -> Result<()> {
    const PAUSE: Duration = Duration::from_millis(10);
    let pauses = rules::jobs::LEASE_SECONDS * 100;
    for _ in 0..pauses {
        let now = store.context().clock.now();
        let jobs = store.read(rules::jobs::list).await?;
        let is_due = jobs
            .iter()
            .any(|job| !job.dead && (job.lease_owner.is_some() || job.due <= now));
        if !is_due {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
