//! Background work: running jobs that change only the store, completing all others, and what operators do with them.

use super::error::{Error, Result};
use super::{attachments, events, oauth_tokens, power, sessions};
use crate::model::id::JobId;
use crate::model::job::{Job, JobCount, JobKind, JobSummary, Outcome};
use crate::model::time::Time;
use crate::store::jobs::Claim;
use crate::store::{self, ReadTx, WriteTx};

/// A lease ends after this time, unless its node renews it. Then another node takes the job.
pub const LEASE_SECONDS: i64 = 15;
/// How many jobs operators see at most.
const LISTED: i64 = 1000;
/// How many characters of an error are stored.
const ERROR_CHARACTERS: usize = 500;

/// Prepares the jobs of a server that starts: kinds that repeat are scheduled, and those it does not run are removed.
/// A server that is alone on its store takes over what the one before it left.
pub fn start(tx: &mut WriteTx, kinds: &[JobKind], alone: bool) -> Result<()> {
    if alone {
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

/// Leases jobs that are due to a node.
pub fn claim(tx: &mut WriteTx, kinds: &[JobKind], owner: &str, limit: i64) -> Result<Vec<Job>> {
    let claim = Claim {
        kinds,
        owner,
        until: lease_end(tx),
        limit,
    };
    Ok(store::jobs::claim(tx, &claim)?)
}

/// Extends a lease while its job runs; false if the lease was lost.
pub fn renew(tx: &mut WriteTx, job: &Job) -> Result<bool> {
    let until = lease_end(tx);
    Ok(store::jobs::renew(tx, job, until)?)
}

fn lease_end(tx: &ReadTx) -> Time {
    tx.instant().plus_seconds(LEASE_SECONDS)
}

/// When the next job of these kinds can be claimed.
pub fn next_available(tx: &mut ReadTx, kinds: &[JobKind]) -> Result<Option<Time>> {
    Ok(store::jobs::next_available(tx, kinds)?)
}

/// Runs a leased job and removes it, in one transaction: its changes are committed exactly once. A job that touches
/// files or the network has done that before, perhaps more than once; here it is only completed. False if the lease
/// was lost, and then nothing has changed.
pub fn run(tx: &mut WriteTx, job: &Job) -> Result<bool> {
    if !store::jobs::remove(tx, job)? {
        return Ok(false);
    }
    let outcome = match job.kind {
        JobKind::InstancePower => power::advance(tx, job)?,
        JobKind::IdentityRetention => {
            sessions::sweep(tx)?;
            oauth_tokens::sweep(tx)?;
            Outcome::Done
        }
        JobKind::EventRetention => match events::sweep(tx)? {
            true => Outcome::Again {
                payload: String::new(),
                due: tx.instant(),
            },
            false => Outcome::Done,
        },
        JobKind::UploadSweep | JobKind::AttachmentScrub | JobKind::DatabaseCheck => Outcome::Done,
    };
    store::jobs::schedule_next(tx, job, &outcome)?;
    Ok(true)
}

/// Records that a leased job failed, and when it is tried again; `None` if it is dead from now on.
pub fn fail(tx: &mut WriteTx, job: &Job, error: &str) -> Result<Option<Time>> {
    let delay = job.kind.retry_delay_seconds(job.attempts);
    let retry = delay.map(|seconds| tx.instant().plus_seconds(seconds));
    let error: String = error.chars().take(ERROR_CHARACTERS).collect();
    store::jobs::fail(tx, job, &error, retry)?;
    Ok(retry)
}

/// Ends the leases of a node that stops.
pub fn release(tx: &mut WriteTx, owner: &str) -> Result<()> {
    Ok(store::jobs::release(tx, owner)?)
}

pub fn count(tx: &mut ReadTx) -> Result<Vec<JobCount>> {
    Ok(store::jobs::count(tx)?)
}

pub fn list(tx: &mut ReadTx) -> Result<Vec<JobSummary>> {
    Ok(store::jobs::list(tx, LISTED)?)
}

pub fn load(tx: &mut ReadTx, id: JobId) -> Result<JobSummary> {
    store::jobs::find(tx, id)?.ok_or(Error::NotFound)
}

/// Makes a job due now, also a dead one; false if a node runs it.
pub fn retry(tx: &mut WriteTx, id: JobId) -> Result<bool> {
    load(tx, id)?;
    Ok(store::jobs::retry(tx, id)?)
}

/// Deletes a job; false if its kind repeats, because then its next run would never come.
pub fn discard(tx: &mut WriteTx, id: JobId) -> Result<bool> {
    let job = load(tx, id)?;
    if JobKind::parse(&job.kind).is_some_and(|kind| kind.interval_seconds().is_some()) {
        return Ok(false);
    }
    store::jobs::delete(tx, id)?;
    Ok(true)
}
