//! Leases jobs that are due, and runs them.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use metrics::{counter, gauge};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{metrics as figures, scrub, sweep};
use crate::files::Files;
use crate::model::job::{Job, JobKind};
use crate::model::time::Time;
use crate::model::token::hex;
use crate::rules::error::FilesFault;
use crate::rules::{self, Error, jobs};
use crate::store::Store;
use crate::store::notifier::Topic;

/// How many jobs a node runs at a time.
const MAX_RUNNING: usize = 32;
/// The store is read again after this time, for jobs of other nodes whose notification was lost and for a clock that
/// was set.
const POLL: Duration = Duration::from_secs(5);
/// How long to wait after the store failed, and after another node was faster.
const STORE_RETRY: Duration = Duration::from_secs(1);
const MIN_WAIT: Duration = Duration::from_millis(10);
const RENEW: Duration = Duration::from_secs(jobs::LEASE_SECONDS as u64 / 3);

/// What jobs work on.
pub struct Work {
    pub store: Store,
    pub files: Files,
    /// Every attachment is read once in so many days; 0 turns the scrub and the check of the database off.
    pub scrub_days: i64,
    /// Whether this is the only server that the store can have.
    pub alone: bool,
}

pub struct Runner {
    work: Work,
    /// Names this process in leases.
    owner: String,
    kinds: Vec<JobKind>,
}

/// How a run ended that did not fail.
enum Ended {
    Completed,
    LeaseLost,
}

impl Runner {
    /// Prepares the jobs of this store. No request may have been served before.
    pub async fn prepare(work: Work) -> rules::Result<Arc<Self>> {
        let is_run = |kind: &JobKind| match kind {
            JobKind::AttachmentScrub => work.scrub_days > 0,
            JobKind::DatabaseCheck => work.scrub_days > 0 && work.alone,
            _ => true,
        };
        let kinds: Vec<JobKind> = JobKind::ALL.into_iter().filter(is_run).collect();
        let random = hex(&work.store.context().random.bytes()[..4]);
        let owner = format!("{}-{random}", std::process::id());
        let (started, alone) = (kinds.clone(), work.alone);
        work.store
            .write(move |tx| jobs::start(tx, &started, alone))
            .await?;
        Ok(Arc::new(Self { work, owner, kinds }))
    }

    /// Runs jobs until `stop` becomes true. Jobs that are under way then are left to other nodes, or to the next start.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        tokio::spawn(figures::refresh(self.work.store.clone(), stop.clone()));
        let mut notified = self.work.store.notifier().subscribe(Topic::Jobs);
        let mut running = JoinSet::new();
        loop {
            let wait = self.take_jobs(&mut running).await;
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                changed = notified.changed() => if changed.is_err() { break },
                Some(_) = running.join_next() => while running.try_join_next().is_some() {},
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        running.shutdown().await;
        let owner = self.owner.clone();
        if let Err(cause) = self.work.store.write(move |tx| jobs::release(tx, &owner)).await {
            tracing::warn!(?cause, "could not release the leases of jobs");
        }
    }

    /// Starts the jobs that are due; how long to wait for the next.
    async fn take_jobs(self: &Arc<Self>, running: &mut JoinSet<()>) -> Duration {
        let room = MAX_RUNNING.saturating_sub(running.len());
        if room == 0 {
            return POLL;
        }
        match self.claim(room).await {
            Ok((claimed, wait)) => {
                for job in claimed {
                    running.spawn(self.clone().execute(job));
                }
                wait
            }
            Err(cause) => {
                tracing::warn!(?cause, "could not take jobs");
                STORE_RETRY
            }
        }
    }

    async fn claim(&self, room: usize) -> rules::Result<(Vec<Job>, Duration)> {
        let kinds = self.kinds.clone();
        let next = self
            .work
            .store
            .read(move |tx| jobs::next_available(tx, &kinds))
            .await?;
        let now = self.work.store.context().clock.now();
        let Some(next) = next.filter(|next| *next <= now) else {
            return Ok((Vec::new(), next.map_or(POLL, |next| wait_until(now, next))));
        };
        tracing::trace!(due = next.micros(), "taking jobs");
        let (kinds, owner, limit) = (self.kinds.clone(), self.owner.clone(), room as i64);
        let claimed = self
            .work
            .store
            .write(move |tx| jobs::claim(tx, &kinds, &owner, limit))
            .await?;
        Ok((claimed, MIN_WAIT))
    }

    async fn execute(self: Arc<Self>, job: Job) {
        let _running = Running::of(job.kind);
        let kind = job.kind.word();
        let ended = AssertUnwindSafe(self.carry_out(&job)).catch_unwind().await;
        let error = match ended {
            Ok(Ok(Ended::Completed)) => {
                counter!("garth_jobs_completed_total", "kind" => kind).increment(1);
                return;
            }
            Ok(Ok(Ended::LeaseLost)) => {
                tracing::warn!(job = job.id.0, kind, "lease of a job lost");
                return;
            }
            Ok(Err(cause)) => describe(&cause),
            Err(_) => "the job panicked".to_owned(),
        };
        self.fail(job, error).await;
    }

    /// Does what a job does outside of the store, then the rest in one transaction.
    async fn carry_out(&self, job: &Job) -> rules::Result<Ended> {
        let mut outside = pin!(self.run_outside(job.kind));
        loop {
            tokio::select! {
                ran = &mut outside => break ran?,
                () = tokio::time::sleep(RENEW) => {
                    let renewed = job.clone();
                    if !self.work.store.write(move |tx| jobs::renew(tx, &renewed)).await? {
                        return Ok(Ended::LeaseLost);
                    }
                }
            }
        }
        let completed = job.clone();
        match self.work.store.write(move |tx| jobs::run(tx, &completed)).await? {
            true => Ok(Ended::Completed),
            false => Ok(Ended::LeaseLost),
        }
    }

    async fn run_outside(&self, kind: JobKind) -> rules::Result<()> {
        let Work { store, files, .. } = &self.work;
        match kind {
            JobKind::InstancePower | JobKind::IdentityRetention | JobKind::EventRetention => Ok(()),
            JobKind::UploadSweep => sweep::uploads(store, files).await,
            JobKind::AttachmentScrub => scrub::attachments(store, files, self.work.scrub_days).await,
            JobKind::DatabaseCheck => scrub::database(store).await,
        }
    }

    async fn fail(&self, job: Job, error: String) {
        let (id, kind, attempts) = (job.id.0, job.kind.word(), job.attempts);
        let text = error.clone();
        match self.work.store.write(move |tx| jobs::fail(tx, &job, &text)).await {
            Ok(Some(_)) => {
                counter!("garth_jobs_retried_total", "kind" => kind).increment(1);
                tracing::warn!(job = id, kind, attempts, error, "job failed and will be retried");
            }
            Ok(None) => tracing::error!(job = id, kind, attempts, error, "job failed for good"),
            // The lease ends by itself, and then the job is tried again.
            Err(cause) => {
                tracing::warn!(
                    job = id,
                    kind,
                    error,
                    ?cause,
                    "could not record that a job failed"
                );
            }
        }
    }
}

/// Counts a job as running for as long as it exists.
struct Running(JobKind);

impl Running {
    fn of(kind: JobKind) -> Self {
        gauge!("garth_jobs_running", "kind" => kind.word()).increment(1.0);
        Self(kind)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        gauge!("garth_jobs_running", "kind" => self.0.word()).decrement(1.0);
    }
}

fn wait_until(now: Time, then: Time) -> Duration {
    let micros = u64::try_from(then.micros().saturating_sub(now.micros())).unwrap_or(0);
    Duration::from_micros(micros).clamp(MIN_WAIT, POLL)
}

/// An error as operators read it.
fn describe(error: &Error) -> String {
    match error {
        Error::Store(cause) => cause.to_string(),
        Error::Files(FilesFault::Storage(cause)) => cause.clone(),
        other => format!("{other:?}"),
    }
}
