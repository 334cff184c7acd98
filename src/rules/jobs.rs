//! Background jobs: leases, runs and completes jobs, and lets operators manage them.

use super::error::{Error, Result};
use super::lists::ListRequest;
use super::request::Request;
use super::{
    attachments, disks, drain, events, login_records, oauth_tokens, outgoing_mails, power, sessions,
};
use crate::model::id::{JobId, OutgoingMailId};
use crate::model::job::{Job, JobCount, JobKind, JobSummary, Outcome};
use crate::model::outgoing_mail::SendResult;
use crate::model::page::Paged;
use crate::model::reason::Code;
use crate::model::time::Time;
use crate::store::jobs::Claim;
use crate::store::{self, ReadTx, WriteTx};

/// The duration of a lease. If the node does not renew the lease, another node can lease the job.
pub const LEASE_SECONDS: i64 = 15;
/// The maximum number of jobs in a list for operators.
const MAX_LISTED_JOBS: i64 = 1000;
/// The maximum length of a stored error, in characters.
const MAX_ERROR_CHARS: usize = 500;

/// Prepares the jobs when a server starts: schedules the repeating kinds in `kinds`, and deletes the jobs of
/// all other repeating kinds. If no other server uses the store, also releases the leases of the previous
/// process and abandons its uploads.
pub fn start(tx: &mut WriteTx, kinds: &[JobKind], is_only_server: bool) -> Result<()> {
    if is_only_server {
        store::jobs::release_all(tx)?;
        attachments::abandon_uploads(tx)?;
    }
    let now = tx.instant();
    for kind in JobKind::ALL {
        if kind.interval_seconds().is_none() {
            continue;
        }
        if kinds.contains(&kind) {
            store::jobs::repeat(tx, kind, now.plus_seconds(kind.start_delay_seconds()))?;
        } else {
            store::jobs::unschedule(tx, kind, "")?;
        }
    }
    Ok(())
}

/// Leases due jobs to a node.
pub fn claim(tx: &mut WriteTx, kinds: &[JobKind], owner: &str, limit: i64) -> Result<Vec<Job>> {
    let claim = Claim {
        kinds,
        owner,
        until: lease_end(tx),
        limit,
    };
    Ok(store::jobs::claim(tx, &claim)?)
}

/// Renews the lease of a running job. Returns false if the lease was lost.
pub fn renew(tx: &mut WriteTx, job: &Job) -> Result<bool> {
    let until = lease_end(tx);
    Ok(store::jobs::renew(tx, job, until)?)
}

fn lease_end(tx: &ReadTx) -> Time {
    tx.instant().plus_seconds(LEASE_SECONDS)
}

/// The time at which the next job of these kinds can be leased.
pub fn next_available(tx: &mut ReadTx, kinds: &[JobKind]) -> Result<Option<Time>> {
    Ok(store::jobs::next_available(tx, kinds)?)
}

/// Runs a leased job and deletes it in one transaction, so its changes are committed exactly once.
///
/// Jobs on files and database checks do their work before this call, possibly more than once. This call only
/// completes them. Returns false and changes nothing if the lease was lost.
pub fn run(tx: &mut WriteTx, job: &Job) -> Result<bool> {
    complete(tx, job, run_kind)
}

/// Completes a job that has tried to send a mail.
pub fn run_mail(tx: &mut WriteTx, job: &Job, result: &SendResult) -> Result<bool> {
    complete(tx, job, |tx, job| outgoing_mails::finish(tx, job, result))
}

fn complete(
    tx: &mut WriteTx,
    job: &Job,
    work: impl FnOnce(&mut WriteTx, &Job) -> Result<Outcome>,
) -> Result<bool> {
    if !store::jobs::remove(tx, job)? {
        return Ok(false);
    }
    let outcome = work(tx, job)?;
    store::jobs::schedule_next(tx, job, &outcome)?;
    Ok(true)
}

fn run_kind(tx: &mut WriteTx, job: &Job) -> Result<Outcome> {
    Ok(match job.kind {
        JobKind::InstancePower => power::advance(tx, job)?,
        JobKind::DiskWork => disks::advance(tx, job)?,
        JobKind::HostDrain => drain::advance(tx, job)?,
        JobKind::IdentityRetention => {
            sessions::sweep(tx)?;
            oauth_tokens::sweep(tx)?;
            let has_more = login_records::sweep(tx)?;
            next_batch(tx, has_more)
        }
        JobKind::EventRetention => {
            let has_more = events::sweep(tx)?;
            next_batch(tx, has_more)
        }
        JobKind::UploadSweep | JobKind::AttachmentScrub | JobKind::DatabaseCheck => Outcome::Done,
        JobKind::MailSend => outgoing_mails::finish(tx, job, &SendResult::Skipped)?,
    })
}

/// The outcome of a batch: the job runs again immediately if there is more to do.
fn next_batch(tx: &ReadTx, has_more: bool) -> Outcome {
    match has_more {
        true => Outcome::Again {
            payload: String::new(),
            due: tx.instant(),
        },
        false => Outcome::Done,
    }
}

/// Records the failure of a leased job and schedules a retry. Returns the time of the retry, or `None` if the
/// job is now dead.
pub fn fail(tx: &mut WriteTx, job: &Job, error: &str) -> Result<Option<Time>> {
    let delay = job.kind.retry_delay_seconds(job.attempts);
    let retry = delay.map(|seconds| tx.instant().plus_seconds(seconds));
    let error: String = error.chars().take(MAX_ERROR_CHARS).collect();
    store::jobs::fail(tx, job, &error, retry)?;
    Ok(retry)
}

/// Releases the leases of a node that stops.
pub fn release(tx: &mut WriteTx, owner: &str) -> Result<()> {
    Ok(store::jobs::release(tx, owner)?)
}

pub fn count(tx: &mut ReadTx) -> Result<Vec<JobCount>> {
    Ok(store::jobs::count(tx)?)
}

pub fn list(tx: &mut ReadTx) -> Result<Vec<JobSummary>> {
    Ok(store::jobs::list(tx, MAX_LISTED_JOBS)?)
}

pub fn load(tx: &mut ReadTx, id: JobId) -> Result<JobSummary> {
    store::jobs::find(tx, id)?.ok_or(Error::NotFound)
}

/// Makes a job due now, even a dead job. Returns false if the job is running.
pub fn retry(tx: &mut WriteTx, id: JobId) -> Result<bool> {
    load(tx, id)?;
    Ok(store::jobs::retry(tx, id)?)
}

/// Deletes a job. A job of a repeating kind is not deleted, because its next run would not be scheduled: then
/// this returns false.
pub fn discard(tx: &mut WriteTx, id: JobId) -> Result<bool> {
    let job = load(tx, id)?;
    if job.is_recurring() {
        return Ok(false);
    }
    store::jobs::delete(tx, id)?;
    if job.kind == JobKind::MailSend.word()
        && let Ok(mail) = job.subject.parse()
    {
        outgoing_mails::cancel(tx, OutgoingMailId(mail))?;
    }
    Ok(true)
}

/// A page of all jobs, for staff.
pub fn page(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<JobSummary>> {
    let query = list.read(tx.policy(), &store::jobs::FIELDS)?;
    Ok(store::jobs::page(tx, &query)?)
}

/// Makes a job due now, even a dead job. Fails if the job is running.
pub fn retry_from(tx: &mut WriteTx, id: JobId, request: &Request) -> Result<JobSummary> {
    request.check_if_match(&load(tx, id)?)?;
    request.require_valid_body()?;
    if !retry(tx, id)? {
        return Err(Error::refused(Code::JobRunning, "The job is running"));
    }
    load(tx, id)
}

/// Deletes a job without running it. Fails for a recurring job.
pub fn cancel(tx: &mut WriteTx, id: JobId, request: &Request) -> Result<()> {
    request.check_if_match(&load(tx, id)?)?;
    request.require_valid_body()?;
    match discard(tx, id)? {
        true => Ok(()),
        false => {
            let text = "The job is recurring and cannot be canceled";
            Err(Error::refused(Code::JobRecurring, text))
        }
    }
}
