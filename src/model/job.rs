//! Background jobs: kinds, intervals and retries.

use super::id::JobId;
use super::time::Time;

const HOUR_SECONDS: i64 = 3600;
/// After this many failed attempts a job is dead, unless its kind repeats.
pub const MAX_ATTEMPTS: i64 = 10;
/// The delay of the first retry; each further retry doubles it.
const FIRST_RETRY_SECONDS: i64 = 5;
const MAX_RETRY_SECONDS: i64 = HOUR_SECONDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    /// Runs the next step of an instance's power change.
    InstancePower,
    /// Moves the instances of a host that is draining.
    HostDrain,
    /// Runs the next step of work on a disk.
    DiskWork,
    /// Deletes expired sessions, links, codes and tokens.
    IdentityRetention,
    /// Deletes events past their retention.
    EventRetention,
    /// Deletes the files of uploads that never became attachments.
    UploadSweep,
    /// Compares attachments with their hashes.
    AttachmentScrub,
    /// Checks the structure of the embedded database.
    DatabaseCheck,
    /// Sends a mail. The subject is the ID of the mail.
    MailSend,
}

impl JobKind {
    pub const ALL: [JobKind; 9] = [
        JobKind::InstancePower,
        JobKind::DiskWork,
        JobKind::HostDrain,
        JobKind::IdentityRetention,
        JobKind::EventRetention,
        JobKind::UploadSweep,
        JobKind::AttachmentScrub,
        JobKind::DatabaseCheck,
        JobKind::MailSend,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            JobKind::InstancePower => "instance_power",
            JobKind::DiskWork => "disk_work",
            JobKind::HostDrain => "host_drain",
            JobKind::IdentityRetention => "identity_retention",
            JobKind::EventRetention => "event_retention",
            JobKind::UploadSweep => "upload_sweep",
            JobKind::AttachmentScrub => "attachment_scrub",
            JobKind::DatabaseCheck => "database_check",
            JobKind::MailSend => "mail_send",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Seconds from the end of a run to the start of the next run; `None` for kinds that do not repeat.
    pub const fn interval_seconds(self) -> Option<i64> {
        match self {
            JobKind::InstancePower | JobKind::DiskWork | JobKind::HostDrain | JobKind::MailSend => None,
            JobKind::IdentityRetention | JobKind::EventRetention | JobKind::UploadSweep => Some(HOUR_SECONDS),
            JobKind::AttachmentScrub => Some(60),
            JobKind::DatabaseCheck => Some(24 * HOUR_SECONDS),
        }
    }

    /// Seconds from the start of a server to the first run of a kind that repeats.
    pub const fn start_delay_seconds(self) -> i64 {
        match self {
            // The check reads the whole database, so it must not run after every restart.
            JobKind::DatabaseCheck => HOUR_SECONDS,
            _ => 0,
        }
    }

    /// Seconds until the next attempt after `attempts` failures; `None` if the job is dead.
    pub fn retry_delay_seconds(self, attempts: i64) -> Option<i64> {
        let doublings = attempts.clamp(1, 20) - 1;
        let delay = (FIRST_RETRY_SECONDS << doublings).min(MAX_RETRY_SECONDS);
        match self.interval_seconds() {
            Some(interval) => Some(delay.min(interval)),
            None if attempts >= MAX_ATTEMPTS => None,
            None => Some(delay),
        }
    }
}

/// A job that a node has leased.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: JobId,
    pub kind: JobKind,
    /// There is one job per kind and subject.
    pub subject: String,
    pub payload: String,
    /// The number of leases so far, including the current lease. Together with the owner, it identifies the
    /// lease.
    pub attempts: i64,
    pub lease_owner: String,
}

/// The result of a successful run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The job is done; a kind that repeats runs again after its interval.
    Done,
    /// The job runs again with another payload.
    Again { payload: String, due: Time },
}

/// A job as operators see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobSummary {
    pub id: JobId,
    /// A text, because the store can contain kinds that only a newer build supports.
    pub kind: String,
    pub subject: String,
    pub due: Time,
    pub attempts: i64,
    /// The node that runs the job, if any.
    pub lease_owner: Option<String>,
    pub lease_until: Option<Time>,
    pub last_error: Option<String>,
    /// Whether the job failed too often and is no longer retried.
    pub dead: bool,
}

impl JobSummary {
    /// `dead`, `running` or `scheduled`.
    pub fn status(&self) -> &'static str {
        match (self.dead, &self.lease_owner) {
            (true, _) => "dead",
            (false, Some(_)) => "running",
            (false, None) => "scheduled",
        }
    }

    /// Whether the job schedules its next run itself.
    pub fn is_recurring(&self) -> bool {
        JobKind::parse(&self.kind).is_some_and(|kind| kind.interval_seconds().is_some())
    }
}

/// The number of jobs of a kind.
#[derive(Clone, Debug)]
pub struct JobCount {
    pub kind: String,
    /// The number of jobs that are due and not leased.
    pub due: i64,
    pub dead: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_distinct_word() {
        for kind in JobKind::ALL {
            assert_eq!(JobKind::parse(kind.word()), Some(kind));
        }
        assert_eq!(JobKind::parse("weather"), None);
    }

    #[test]
    fn retries_back_off_and_end_unless_the_kind_repeats() {
        let delays = |kind: JobKind| [1, 2, 3, 9, 10, i64::MAX].map(|n| kind.retry_delay_seconds(n));
        assert_eq!(
            delays(JobKind::InstancePower),
            [Some(5), Some(10), Some(20), Some(1280), None, None]
        );
        assert_eq!(
            delays(JobKind::UploadSweep),
            [Some(5), Some(10), Some(20), Some(1280), Some(2560), Some(3600)]
        );
        assert_eq!(JobKind::AttachmentScrub.retry_delay_seconds(30), Some(60));
    }
}
