//! The `job` table. Rules schedule background jobs in their own transactions. A node leases a job before
//! running it.

use super::error::StoreError;
use super::filter::{Field, Kind};
use super::list::{Collection, ListQuery};
use super::model_rows::ModelRows;
use super::notifier::Topic;
use super::tx::{ReadTx, WriteTx};
use super::value::{Row, Value, args};
use crate::model::id::JobId;
use crate::model::job::{Job, JobCount, JobKind, JobSummary, Outcome};
use crate::model::page::Paged;
use crate::model::time::Time;

/// A request by a node to lease jobs.
pub struct Claim<'a> {
    pub kinds: &'a [JobKind],
    pub owner: &'a str,
    /// The leases expire at this time if the node does not renew them.
    pub until: Time,
    pub limit: i64,
}

/// Schedules a job, unless a job with the same kind and subject exists. The job is stored only if the
/// transaction commits.
pub fn schedule(
    tx: &mut WriteTx,
    kind: JobKind,
    subject: &str,
    payload: &str,
    due: Time,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO job (kind, subject, payload, due, available) VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (kind, subject) DO NOTHING",
        args![kind.word(), subject, payload, due],
    )?;
    tx.notify_on_commit(Topic::Jobs);
    Ok(())
}

/// Schedules the next run of a recurring job, or changes the due time of a pending run. Does not change a leased job.
pub fn repeat(tx: &mut WriteTx, kind: JobKind, due: Time) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO job (kind, subject, payload, due, available) VALUES ($1, '', '', $2, $2)
         ON CONFLICT (kind, subject) DO UPDATE SET due = excluded.due, available = excluded.available, attempts = 0
         WHERE job.lease_owner IS NULL",
        args![kind.word(), due],
    )?;
    tx.notify_on_commit(Topic::Jobs);
    Ok(())
}

/// The payload of a job; `None` if it is not scheduled.
pub fn payload(tx: &mut ReadTx, kind: JobKind, subject: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT payload FROM job WHERE kind = $1 AND subject = $2";
    let row = tx.find(sql, args![kind.word(), subject])?;
    row.map(|mut row| row.take()).transpose()
}

/// Removes a job by its kind and subject. Returns its payload.
pub fn unschedule(tx: &mut WriteTx, kind: JobKind, subject: &str) -> Result<Option<String>, StoreError> {
    let sql = "DELETE FROM job WHERE kind = $1 AND subject = $2 RETURNING payload";
    let row = tx.find(sql, args![kind.word(), subject])?;
    row.map(|mut row| row.take()).transpose()
}

/// The time at which the next job of these kinds becomes available: when it is due, or when its lease
/// expires.
pub fn next_available(tx: &mut ReadTx, kinds: &[JobKind]) -> Result<Option<Time>, StoreError> {
    let (list, args) = kind_list(kinds, Vec::new());
    let sql =
        format!("SELECT available FROM job WHERE dead = 0 AND kind IN ({list}) ORDER BY available LIMIT 1");
    let row = tx.find(&sql, &args)?;
    row.map(|mut row| row.take()).transpose()
}

/// Leases available jobs.
pub fn claim(tx: &mut WriteTx, claim: &Claim) -> Result<Vec<Job>, StoreError> {
    let now = tx.instant();
    let (list, args) = kind_list(
        claim.kinds,
        args![claim.owner, claim.until, now, claim.limit].to_vec(),
    );
    let sql = format!(
        "UPDATE job SET lease_owner = $1, available = $2, attempts = attempts + 1 WHERE id IN
             (SELECT id FROM job WHERE dead = 0 AND available <= $3 AND kind IN ({list})
              ORDER BY available, id LIMIT $4)
         RETURNING id, kind, subject, payload, attempts, lease_owner"
    );
    tx.read(&sql, &args, read_job)
}

/// The placeholders for an IN list of the kinds, and `args` with the kinds appended.
fn kind_list<'a>(kinds: &[JobKind], mut args: Vec<Value<'a>>) -> (String, Vec<Value<'a>>) {
    let mut placeholders = Vec::new();
    for kind in kinds {
        args.push(kind.word().into());
        placeholders.push(format!("${}", args.len()));
    }
    (placeholders.join(", "), args)
}

/// Extends a lease. Returns false if the node has lost the lease.
pub fn renew(tx: &mut WriteTx, job: &Job, until: Time) -> Result<bool, StoreError> {
    let sql = "UPDATE job SET available = $4 WHERE id = $1 AND lease_owner = $2 AND attempts = $3";
    let args = args![job.id, job.lease_owner.as_str(), job.attempts, until];
    Ok(tx.execute(sql, args)? > 0)
}

/// Removes a leased job. Returns false if the node has lost the lease, or if an operator has dropped the job.
pub fn remove(tx: &mut WriteTx, job: &Job) -> Result<bool, StoreError> {
    let sql = "DELETE FROM job WHERE id = $1 AND lease_owner = $2 AND attempts = $3";
    let args = args![job.id, job.lease_owner.as_str(), job.attempts];
    Ok(tx.execute(sql, args)? > 0)
}

/// Schedules another run of a job, if the outcome or the kind requires it. The completed job must already be
/// removed.
pub fn schedule_next(tx: &mut WriteTx, job: &Job, outcome: &Outcome) -> Result<(), StoreError> {
    match (outcome, job.kind.interval_seconds()) {
        (Outcome::Again { payload, due }, _) => schedule(tx, job.kind, &job.subject, payload, *due),
        (Outcome::Done, Some(interval)) => {
            let due = tx.instant().plus_seconds(interval);
            schedule(tx, job.kind, &job.subject, "", due)
        }
        (Outcome::Done, None) => Ok(()),
    }
}

/// Ends a lease after a failure. The job becomes due again at `retry`. If `retry` is `None`, the job becomes
/// dead. Returns false if the node has lost the lease.
pub fn fail(tx: &mut WriteTx, job: &Job, error: &str, retry: Option<Time>) -> Result<bool, StoreError> {
    let sql = "UPDATE job SET lease_owner = NULL, last_error = $4, dead = $5, due = coalesce($6, due),
             available = coalesce($6, due)
         WHERE id = $1 AND lease_owner = $2 AND attempts = $3";
    let args = args![
        job.id,
        job.lease_owner.as_str(),
        job.attempts,
        error,
        retry.is_none(),
        retry
    ];
    let had_lease = tx.execute(sql, args)? > 0;
    tx.notify_on_commit(Topic::Jobs);
    Ok(had_lease)
}

/// Ends all leases of a node that shuts down. The interrupted attempts do not count.
pub fn release(tx: &mut WriteTx, owner: &str) -> Result<(), StoreError> {
    let sql =
        "UPDATE job SET lease_owner = NULL, available = due, attempts = attempts - 1 WHERE lease_owner = $1";
    tx.execute(sql, args![owner])?;
    tx.notify_on_commit(Topic::Jobs);
    Ok(())
}

/// Ends all leases. Use this only when no node is running.
pub fn release_all(tx: &mut WriteTx) -> Result<(), StoreError> {
    let sql = "UPDATE job SET lease_owner = NULL, available = due WHERE lease_owner IS NOT NULL";
    tx.execute(sql, args![])?;
    Ok(())
}

const SUMMARY: &str = "id, kind, subject, due, attempts, lease_owner, available, last_error, dead";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("job", SUMMARY, |row| read_summary(row).map(drop));

/// Jobs for operators, by due time. Dead jobs come first.
pub fn list(tx: &mut ReadTx, limit: i64) -> Result<Vec<JobSummary>, StoreError> {
    let sql = format!("SELECT {SUMMARY} FROM job ORDER BY dead DESC, due, id LIMIT $1");
    tx.read(&sql, args![limit], read_summary)
}

pub static FIELDS: [Field; 6] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("kind", Kind::Text, "kind"),
    Field::new("subject", Kind::Text, "subject"),
    Field::new("status", Kind::Text, STATUS),
    Field::new("attempts", Kind::Integer, "attempts"),
    Field::new("last_error", Kind::Text, "last_error"),
];
const STATUS: &str =
    "CASE WHEN dead = 1 THEN 'dead' WHEN lease_owner IS NULL THEN 'scheduled' ELSE 'running' END";

/// A page of all jobs. By default, dead jobs come first, then the other jobs by due time.
pub fn page(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<JobSummary>, StoreError> {
    let collection = Collection {
        columns: SUMMARY,
        from: "job",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["id"],
        order: Some("dead DESC, due"),
        tallied: None,
    };
    collection.page(tx, query, read_summary)
}

pub fn find(tx: &mut ReadTx, id: JobId) -> Result<Option<JobSummary>, StoreError> {
    let sql = format!("SELECT {SUMMARY} FROM job WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read_summary).transpose()
}

/// Makes a job due now and resets its attempts. Returns false if a node has leased it.
pub fn retry(tx: &mut WriteTx, id: JobId) -> Result<bool, StoreError> {
    let now = tx.instant();
    let sql = "UPDATE job SET attempts = 0, dead = 0, due = $2, available = $2
         WHERE id = $1 AND lease_owner IS NULL";
    let found = tx.execute(sql, args![id, now])? > 0;
    tx.notify_on_commit(Topic::Jobs);
    Ok(found)
}

pub fn delete(tx: &mut WriteTx, id: JobId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM job WHERE id = $1", args![id])?;
    Ok(())
}

/// For each kind, the number of available jobs and the number of dead jobs.
pub fn count(tx: &mut ReadTx) -> Result<Vec<JobCount>, StoreError> {
    let now = tx.instant();
    let sql = "SELECT kind, CAST(sum(CASE WHEN dead = 0 AND available <= $1 THEN 1 ELSE 0 END) AS BIGINT),
             CAST(sum(dead) AS BIGINT)
         FROM job GROUP BY kind";
    tx.read(sql, args![now], |row| {
        Ok(JobCount {
            kind: row.take()?,
            due: row.take()?,
            dead: row.take()?,
        })
    })
}

fn read_job(row: &mut Row) -> Result<Job, StoreError> {
    let id = row.take()?;
    let word: String = row.take()?;
    let unknown = || StoreError::Unexpected(format!("unknown job kind {word}"));
    Ok(Job {
        id,
        kind: JobKind::parse(&word).ok_or_else(unknown)?,
        subject: row.take()?,
        payload: row.take()?,
        attempts: row.take()?,
        lease_owner: row.take()?,
    })
}

fn read_summary(row: &mut Row) -> Result<JobSummary, StoreError> {
    let (id, kind, subject, due, attempts) =
        (row.take()?, row.take()?, row.take()?, row.take()?, row.take()?);
    let (lease_owner, available): (Option<String>, Time) = (row.take()?, row.take()?);
    Ok(JobSummary {
        id,
        kind,
        subject,
        due,
        attempts,
        lease_until: lease_owner.is_some().then_some(available),
        lease_owner,
        last_error: row.take()?,
        dead: row.take()?,
    })
}
