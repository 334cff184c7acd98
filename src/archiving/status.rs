//! The status of the archiver: metrics, log lines, and a file for `garth doctor`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::{counter, gauge};
use serde::{Deserialize, Serialize};

use super::queue;
use crate::model::time::Time;
use crate::store::context::Clock;

/// While uploads fail, a log line is written at this interval.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
const FILE: &str = "status.json";

/// The content of the status file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredStatus {
    /// Everything before this time is in the archive, in microseconds since 1970.
    pub archived_until_micros: i64,
    /// The error, if the last upload failed.
    pub error: Option<String>,
}

pub struct Status {
    file: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    archived_until: Time,
    failing_since: Option<Time>,
    last_logged: Option<Time>,
}

impl Status {
    pub fn new(data: &Path, now: Time) -> Self {
        for name in ["garth_archive_failures_total", "garth_archive_bytes_total"] {
            counter!(name).absolute(0);
        }
        let inner = Inner {
            archived_until: now,
            failing_since: None,
            last_logged: None,
        };
        let status = Self {
            file: queue::folder(data).join(FILE),
            inner: Mutex::new(inner),
        };
        status.publish(now);
        status
    }

    /// The archive has everything before a time.
    pub fn succeeded(&self, until: Time) {
        let mut inner = self.lock();
        inner.archived_until = until;
        gauge!("garth_archive_last_success_timestamp_seconds").set(until.micros() as f64 / 1e6);
        if inner.failing_since.take().is_some() {
            inner.last_logged = None;
            tracing::info!("archive reachable again, all writes archived");
            self.store(&StoredStatus {
                archived_until_micros: until.micros(),
                error: None,
            });
        }
    }

    pub fn failed(&self, cause: &anyhow::Error, pending_bytes: u64) {
        let now = Clock::System.now();
        counter!("garth_archive_failures_total").increment(1);
        let mut inner = self.lock();
        inner.failing_since.get_or_insert(now);
        let is_due = |last: Time| seconds_between(last, now) >= LOG_INTERVAL.as_secs_f64();
        if inner.last_logged.is_none_or(is_due) {
            inner.last_logged = Some(now);
            let lag_seconds = seconds_between(inner.archived_until, now) as u64;
            tracing::error!(
                error = format!("{cause:#}"),
                lag_seconds,
                pending_bytes,
                "archive upload failed, will be retried"
            );
            self.store(&StoredStatus {
                archived_until_micros: inner.archived_until.micros(),
                error: Some(format!("{cause:#}")),
            });
        }
    }

    /// Updates the metric of the lag.
    pub fn publish(&self, now: Time) {
        let archived_until = self.lock().archived_until;
        gauge!("garth_archive_lag_seconds").set(seconds_between(archived_until, now));
    }

    /// Writes the status file. `garth doctor` reads it.
    pub fn write_file(&self) {
        let inner = self.lock();
        if inner.failing_since.is_none() {
            self.store(&StoredStatus {
                archived_until_micros: inner.archived_until.micros(),
                error: None,
            });
        }
    }

    fn store(&self, status: &StoredStatus) {
        let written = serde_json::to_vec(status)
            .map_err(std::io::Error::from)
            .and_then(|bytes| std::fs::write(&self.file, bytes));
        if let Err(cause) = written {
            tracing::warn!(error = %cause, "archive status not written");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The status that a server has written into its data folder.
pub fn read(data: &Path) -> Option<StoredStatus> {
    let bytes = std::fs::read(queue::folder(data).join(FILE)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn seconds_between(from: Time, to: Time) -> f64 {
    to.micros().saturating_sub(from.micros()).max(0) as f64 / 1e6
}
