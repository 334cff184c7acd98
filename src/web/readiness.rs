//! Readiness checks: the store, its writer and flushes, and free disk space.
//!
//! The server runs a probe for each check once a second in the background, and on each request for `/readyz`.
//! For each check, at most one probe runs at a time. A probe that hangs does not delay a response: after a
//! timeout, its check counts as stalled.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::task::JoinHandle;

use crate::store::StoreError;
use crate::web::App;
use crate::web::ongoing_condition::OngoingCondition;

const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum time that a request for `/readyz` waits for the probes that it has started.
const PROBE_WAIT: Duration = Duration::from_millis(300);
/// The timeout of the database probe.
const DATABASE_LIMIT: Duration = Duration::from_secs(1);
/// The timeout of the other probes. A write or a flush can take seconds on a busy disk.
const WRITE_LIMIT: Duration = Duration::from_secs(5);

/// A readiness check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Reads from the store.
    Database,
    /// Runs a write transaction that changes nothing.
    Writer,
    /// Free space in the folders that the server writes to.
    Disk,
}

impl Check {
    const ALL: [Check; 3] = [Check::Database, Check::Writer, Check::Disk];

    fn limit(self) -> Duration {
        match self {
            Check::Database => DATABASE_LIMIT,
            Check::Writer | Check::Disk => WRITE_LIMIT,
        }
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    /// The probe is taking too long.
    Stalled,
    /// The store is unreachable or refused the probe.
    Unavailable,
    /// There is less free disk space than required.
    LowSpace,
    /// The server is shutting down.
    Stopping,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Stalled => "stalled",
            Outcome::Unavailable => "unavailable",
            Outcome::LowSpace => "low_space",
            Outcome::Stopping => "stopping",
        }
    }
}

/// The results of all checks. `/readyz` returns them.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub server: Outcome,
    pub database: Outcome,
    pub writer: Outcome,
    pub flush: Outcome,
    pub disk: Outcome,
}

impl Report {
    pub fn is_ready(&self) -> bool {
        self.checks().iter().all(|(_, outcome)| *outcome == Outcome::Ok)
    }

    pub fn checks(&self) -> [(&'static str, Outcome); 5] {
        [
            ("server", self.server),
            ("database", self.database),
            ("writer", self.writer),
            ("flush", self.flush),
            ("disk", self.disk),
        ]
    }
}

/// The state of the probes. Clones share it.
#[derive(Clone, Default)]
pub struct Readiness(Arc<[Probe; 3]>);

#[derive(Default)]
struct Probe(Mutex<ProbeState>);

#[derive(Default)]
struct ProbeState {
    running: bool,
    /// The start of the first probe since the last result; `None` if no probe has started since then.
    waiting_since: Option<Instant>,
    last: Option<Outcome>,
}

impl Probe {
    fn state(&self) -> MutexGuard<'_, ProbeState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the probe as running. Returns false if it is already running.
    fn begin(&self) -> bool {
        let mut state = self.state();
        if state.running {
            return false;
        }
        state.running = true;
        state.waiting_since.get_or_insert_with(Instant::now);
        true
    }

    /// Ends the probe and records its result. The result is `None` if the store's queue was full.
    fn end(&self, outcome: Option<Outcome>) {
        let mut state = self.state();
        state.running = false;
        if let Some(outcome) = outcome {
            state.waiting_since = None;
            state.last = Some(outcome);
        }
    }

    fn outcome(&self, limit: Duration) -> Outcome {
        let state = self.state();
        match (state.waiting_since, state.last) {
            (Some(since), _) if since.elapsed() > limit => Outcome::Stalled,
            (_, last) => last.unwrap_or(Outcome::Ok),
        }
    }
}

impl Readiness {
    fn probe(&self, check: Check) -> &Probe {
        &self.0[check as usize]
    }

    fn outcome(&self, check: Check) -> Outcome {
        self.probe(check).outcome(check.limit())
    }
}

/// Starts the probes that are not running, waits for them briefly, and returns the results.
pub async fn check_now(app: &App) -> Report {
    let started = start_probes(app);
    let _ = tokio::time::timeout(PROBE_WAIT, join_all(started)).await;
    report(app)
}

/// Runs the probes and updates the metrics until the server stops.
pub async fn watch(app: App) {
    let mut stopping = app.stopping();
    let stopped = async move {
        let _ = stopping.wait_for(|stopping| *stopping).await;
    };
    let watching = async {
        let mut failures: [OngoingCondition; 5] = Default::default();
        loop {
            drop(start_probes(&app));
            tokio::time::sleep(PROBE_INTERVAL).await;
            for ((check, outcome), failure) in report(&app).checks().into_iter().zip(&mut failures) {
                let ready = f64::from(u8::from(outcome == Outcome::Ok));
                metrics::gauge!("garth_ready", "check" => check).set(ready);
                log_change(failure, check, outcome);
            }
        }
    };
    tokio::select! {
        () = watching => {}
        () = stopped => {}
    }
}

/// Logs that a check begins to fail, still fails, or has recovered.
fn log_change(failure: &mut OngoingCondition, check: &'static str, outcome: Outcome) {
    let now = Instant::now();
    match outcome {
        Outcome::Ok => {
            if let Some(summary) = failure.end_when_quiet(now) {
                let seconds = summary.seconds();
                tracing::info!(check, seconds, "readiness check recovered");
            }
        }
        // The shutdown has its own log lines.
        Outcome::Stopping => {}
        Outcome::Stalled | Outcome::Unavailable | Outcome::LowSpace => {
            if let Some(summary) = failure.occur(now) {
                let seconds = summary.seconds();
                tracing::warn!(check, outcome = outcome.word(), seconds, "readiness check failed");
            }
        }
    }
}

fn report(app: &App) -> Report {
    let readiness = app.readiness();
    let flush = app.store().flushing();
    Report {
        server: match *app.stopping().borrow() {
            true => Outcome::Stopping,
            false => Outcome::Ok,
        },
        database: readiness.outcome(Check::Database),
        writer: match *app.store().failed().borrow() {
            true => Outcome::Unavailable,
            false => readiness.outcome(Check::Writer),
        },
        flush: match flush.is_some_and(|duration| duration > WRITE_LIMIT) {
            true => Outcome::Stalled,
            false => Outcome::Ok,
        },
        disk: readiness.outcome(Check::Disk),
    }
}

fn start_probes(app: &App) -> Vec<JoinHandle<()>> {
    let try_begin = |check: &Check| app.readiness().probe(*check).begin();
    let start = |check: Check| {
        let app = app.clone();
        tokio::spawn(async move {
            let outcome = match check {
                Check::Database => probe_database(&app).await,
                Check::Writer => probe_writer(&app).await,
                Check::Disk => probe_disk(&app).await,
            };
            app.readiness().probe(check).end(outcome);
        })
    };
    Check::ALL.into_iter().filter(try_begin).map(start).collect()
}

async fn probe_database(app: &App) -> Option<Outcome> {
    outcome_of(app.store().probe().await)
}

async fn probe_writer(app: &App) -> Option<Outcome> {
    let started = Instant::now();
    let written = app.store().write(|_| Ok::<_, StoreError>(())).await;
    metrics::histogram!("garth_store_writer_wait_seconds").record(started.elapsed());
    outcome_of(written)
}

/// The result of a probe of the store; `None` if the store's queue was full.
fn outcome_of(result: Result<(), StoreError>) -> Option<Outcome> {
    match result {
        Ok(()) => Some(Outcome::Ok),
        Err(StoreError::Full) => None,
        Err(cause @ StoreError::OtherSchema(_)) => {
            tracing::error!(error = %cause, "store schema is incompatible");
            Some(Outcome::Unavailable)
        }
        Err(cause) => {
            tracing::debug!(error = %cause, "store probe failed");
            Some(Outcome::Unavailable)
        }
    }
}

async fn probe_disk(app: &App) -> Option<Outcome> {
    let (files, minimum) = (app.files().clone(), app.options().min_free_bytes);
    let measured = tokio::task::spawn_blocking(move || files.free_bytes()).await;
    let free = match measured {
        Ok(Ok(free)) => free,
        Ok(Err(cause)) => {
            tracing::warn!(error = %cause, "free disk space unknown");
            return Some(Outcome::Unavailable);
        }
        Err(_) => return Some(Outcome::Unavailable),
    };
    for (folder, free) in &free {
        metrics::gauge!("garth_disk_free_bytes", "folder" => *folder).set(*free as f64);
    }
    match free.iter().any(|(_, free)| *free < minimum) {
        true => Some(Outcome::LowSpace),
        false => Some(Outcome::Ok),
    }
}
