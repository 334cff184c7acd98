//! Leases due jobs and runs them.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use metrics::{counter, gauge};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{mails, metrics as job_metrics, scrub, sweep};
use crate::files::Files;
use crate::mail::outbound::server::SmtpServer;
use crate::model::job::{Job, JobKind};
use crate::model::outgoing_mail::SendResult;
use crate::model::time::Time;
use crate::model::token::hex;
use crate::rules::{self, jobs};
use crate::store::notifier::Topic;
use crate::store::{Store, WriteTx};

/// The maximum number of jobs that a node runs concurrently.
const MAX_RUNNING_JOBS: usize = 32;
/// The maximum number of mails that a node sends concurrently.
const MAX_RUNNING_MAILS: usize = 4;
/// The runner polls the store at this interval, in case a notification from another node is lost or the
/// system clock is changed.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The delay after an error of the store.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// The minimum wait between two attempts to lease jobs.
const MIN_WAIT: Duration = Duration::from_millis(10);
const LEASE_RENEWAL_INTERVAL: Duration = Duration::from_secs(jobs::LEASE_SECONDS as u64 / 3);

/// The resources that jobs use.
#[derive(Clone)]
pub struct JobContext {
    pub store: Store,
    pub files: Files,
    /// The scrub verifies every attachment once in this number of days. 0 disables the scrub and the database
    /// check.
    pub scrub_days: i64,
    /// Whether this server is the only one that can use the store.
    pub is_only_server: bool,
    /// The mail server; `None` if this node sends no mail.
    pub mail: Option<SmtpServer>,
}

pub struct Runner {
    context: JobContext,
    /// Identifies this process in leases.
    owner: String,
    /// The kinds of jobs that this node runs.
    kinds: Vec<JobKind>,
}

/// Kinds of jobs that are leased together. A slow mail server must not delay jobs of other kinds.
struct Lane {
    kinds: Vec<JobKind>,
    max_running: usize,
}

/// The outcome of a run that did not fail.
enum RunOutcome {
    Completed,
    LeaseLost,
}

impl Runner {
    /// Schedules the recurring jobs. Must be called before the server accepts requests.
    pub async fn prepare(context: JobContext) -> rules::Result<Arc<Self>> {
        let is_enabled = |kind: &JobKind| match kind {
            JobKind::AttachmentScrub => context.scrub_days > 0,
            JobKind::DatabaseCheck => context.scrub_days > 0 && context.is_only_server,
            JobKind::MailSend => context.mail.is_some(),
            _ => true,
        };
        let kinds: Vec<JobKind> = JobKind::ALL.into_iter().filter(is_enabled).collect();
        let random = hex(&context.store.context().random.bytes()[..4]);
        let owner = format!("{}-{random}", std::process::id());
        let (enabled, is_only_server) = (kinds.clone(), context.is_only_server);
        context
            .store
            .write(move |tx| jobs::start(tx, &enabled, is_only_server))
            .await?;
        job_metrics::register_counters();
        Ok(Arc::new(Self {
            context,
            owner,
            kinds,
        }))
    }

    /// Runs jobs until `stop` becomes true. Then aborts the running jobs and releases their leases. Another
    /// node, or this node after a restart, can then run these jobs.
    pub async fn run(self: Arc<Self>, stop: watch::Receiver<bool>) {
        tokio::spawn(job_metrics::refresh(self.context.store.clone(), stop.clone()));
        let (mails, others): (Vec<_>, Vec<_>) =
            self.kinds.iter().partition(|kind| **kind == JobKind::MailSend);
        let mails = Lane {
            kinds: mails,
            max_running: MAX_RUNNING_MAILS,
        };
        let others = Lane {
            kinds: others,
            max_running: MAX_RUNNING_JOBS,
        };
        tokio::join!(self.run_lane(others, stop.clone()), self.run_lane(mails, stop));
        let owner = self.owner.clone();
        if let Err(cause) = self
            .context
            .store
            .write(move |tx| jobs::release(tx, &owner))
            .await
        {
            tracing::warn!(error = ?cause, "job leases not released");
        }
    }

    async fn run_lane(self: &Arc<Self>, lane: Lane, mut stop: watch::Receiver<bool>) {
        if lane.kinds.is_empty() {
            return;
        }
        let mut notified = self.context.store.notifier().subscribe(Topic::Jobs);
        let mut running = JoinSet::new();
        loop {
            let wait = self.start_due_jobs(&lane, &mut running).await;
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                changed = notified.changed() => if changed.is_err() { break },
                Some(_) = running.join_next() => while running.try_join_next().is_some() {},
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        running.shutdown().await;
    }

    /// Starts due jobs. Returns how long to wait before the next call.
    async fn start_due_jobs(self: &Arc<Self>, lane: &Lane, running: &mut JoinSet<()>) -> Duration {
        let free_slots = lane.max_running.saturating_sub(running.len());
        if free_slots == 0 {
            return POLL_INTERVAL;
        }
        match self.claim(&lane.kinds, free_slots).await {
            Ok((claimed, wait)) => {
                for job in claimed {
                    running.spawn(self.clone().execute(job));
                }
                wait
            }
            Err(cause) => {
                tracing::warn!(error = ?cause, "jobs not leased");
                STORE_RETRY_DELAY
            }
        }
    }

    /// Leases due jobs. Returns the leased jobs, and how long to wait before the next call.
    async fn claim(&self, kinds: &[JobKind], limit: usize) -> rules::Result<(Vec<Job>, Duration)> {
        let kinds = kinds.to_vec();
        let awaited = kinds.clone();
        let next = self
            .context
            .store
            .read(move |tx| jobs::next_available(tx, &awaited))
            .await?;
        let now = self.context.store.context().clock.now();
        let Some(next) = next.filter(|next| *next <= now) else {
            return Ok((
                Vec::new(),
                next.map_or(POLL_INTERVAL, |next| wait_until(now, next)),
            ));
        };
        tracing::trace!(due = next.micros(), "claiming jobs");
        let (owner, limit) = (self.owner.clone(), limit as i64);
        let claimed = self
            .context
            .store
            .write(move |tx| jobs::claim(tx, &kinds, &owner, limit))
            .await?;
        Ok((claimed, MIN_WAIT))
    }

    async fn execute(self: Arc<Self>, job: Job) {
        let _running = RunningGauge::increment(job.kind);
        let kind = job.kind.word();
        let outcome = AssertUnwindSafe(self.run_job(&job)).catch_unwind().await;
        let error = match outcome {
            Ok(Ok(RunOutcome::Completed)) => {
                counter!("garth_jobs_completed_total", "kind" => kind).increment(1);
                return;
            }
            Ok(Ok(RunOutcome::LeaseLost)) => {
                tracing::warn!(job = job.id.0, kind, "job lease lost");
                return;
            }
            Ok(Err(cause)) => cause.to_string(),
            Err(_) => "job panicked".to_owned(),
        };
        self.fail(job, error).await;
    }

    /// Runs the external work of a job, and renews the lease until this work ends. Then makes the job's changes to the
    /// store in one transaction.
    async fn run_job(&self, job: &Job) -> rules::Result<RunOutcome> {
        let mut work = pin!(self.run_external_work(job));
        let sent = loop {
            tokio::select! {
                result = &mut work => break result?,
                () = tokio::time::sleep(LEASE_RENEWAL_INTERVAL) => {
                    let renewed = job.clone();
                    if !self.context.store.write(move |tx| jobs::renew(tx, &renewed)).await? {
                        return Ok(RunOutcome::LeaseLost);
                    }
                }
            }
        };
        let completed = job.clone();
        let complete = move |tx: &mut WriteTx| match &sent {
            Some(result) => jobs::run_mail(tx, &completed, result),
            None => jobs::run(tx, &completed),
        };
        match self.context.store.write(complete).await? {
            true => Ok(RunOutcome::Completed),
            false => Ok(RunOutcome::LeaseLost),
        }
    }

    /// Runs the part of a job that accesses files or the network, or reads the whole database. Most kinds have no such
    /// part. Returns the result of sending a mail.
    async fn run_external_work(&self, job: &Job) -> rules::Result<Option<SendResult>> {
        let JobContext {
            store, files, mail, ..
        } = &self.context;
        match job.kind {
            JobKind::InstancePower
            | JobKind::DiskWork
            | JobKind::HostDrain
            | JobKind::IdentityRetention
            | JobKind::EventRetention => Ok(None),
            JobKind::UploadSweep => sweep::uploads(store, files).await.map(|()| None),
            JobKind::AttachmentScrub => {
                let scrubbed = scrub::attachments(store, files, self.context.scrub_days).await;
                scrubbed.map(|()| None)
            }
            JobKind::DatabaseCheck => scrub::database(store).await.map(|()| None),
            JobKind::MailSend => match mail {
                Some(server) => mails::send(store, server, job).await.map(Some),
                None => Ok(None),
            },
        }
    }

    async fn fail(&self, job: Job, error: String) {
        let (id, kind, attempts) = (job.id.0, job.kind.word(), job.attempts);
        let text = error.clone();
        match self
            .context
            .store
            .write(move |tx| jobs::fail(tx, &job, &text))
            .await
        {
            Ok(Some(_)) => {
                counter!("garth_jobs_retried_total", "kind" => kind).increment(1);
                tracing::warn!(job = id, kind, attempts, error, "job failed, will be retried");
            }
            Ok(None) => tracing::error!(job = id, kind, attempts, error, "job failed permanently"),
            // The job is retried when its lease expires.
            Err(cause) => {
                tracing::warn!(
                    job = id,
                    kind,
                    job_error = error,
                    error = ?cause,
                    "job failure not recorded"
                );
            }
        }
    }
}

/// The gauge of running jobs counts a job from `increment` until this value is dropped.
struct RunningGauge(JobKind);

impl RunningGauge {
    fn increment(kind: JobKind) -> Self {
        gauge!("garth_jobs_running", "kind" => kind.word()).increment(1.0);
        Self(kind)
    }
}

impl Drop for RunningGauge {
    fn drop(&mut self) {
        gauge!("garth_jobs_running", "kind" => self.0.word()).decrement(1.0);
    }
}

/// The time from `now` to `then`, but at least `MIN_WAIT` and at most `POLL_INTERVAL`.
fn wait_until(now: Time, then: Time) -> Duration {
    let micros = u64::try_from(then.micros().saturating_sub(now.micros())).unwrap_or(0);
    Duration::from_micros(micros).clamp(MIN_WAIT, POLL_INTERVAL)
}
