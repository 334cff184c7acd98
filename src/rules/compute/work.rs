//! Operations on instances and disks that can take time. Each operation has an event with its progress, and a
//! job that runs its steps.
//!
//! In a region without hosts, there is no real machine. Work completes immediately, or after `settle_ms`, so that clients can be tested
//! against a slow server. Work that takes time is a job (`rules/jobs.rs`), so a restarted server finishes it.

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::id::EventId;
use crate::model::instance::Instance;
use crate::model::job::{Job, JobKind, Outcome};
use crate::model::time::Time;
use crate::model::work::WorkStep;
use crate::rules::error::Result;
use crate::rules::events::{self, Author};
use crate::store::events::Progress;
use crate::store::{self, ReadTx, StoreError, WriteTx};

/// The kind of the job, and the ID of the instance or disk.
pub type Subject = (JobKind, i64);

/// The progress of work that has not started.
const SCHEDULED: Progress = Progress {
    status: "scheduled",
    percent: Some(0),
    duration: None,
};

/// The progress of a boot on a host.
pub const BOOTING: Progress = Progress {
    status: "started",
    percent: Some(0),
    duration: None,
};

/// Whether work completes immediately.
pub fn is_immediate(tx: &ReadTx) -> bool {
    tx.policy().settle_ms == 0
}

/// Records the event of an operation and, unless the operation completes immediately, schedules its job.
pub fn begin(
    tx: &mut WriteTx,
    author: Author,
    action: Action,
    instance: &Instance,
    secondary: Option<&Entity>,
    (kind, id): Subject,
) -> Result<()> {
    let wait_micros = tx.policy().settle_ms * 1000;
    let progress = match wait_micros {
        0 => events::finished(0),
        _ => SCHEDULED,
    };
    let event = events::record_progress(tx, author, action, instance, secondary, progress)?;
    if wait_micros > 0 {
        let now = tx.instant().micros();
        let finish = Time::from_micros(now + wait_micros);
        let (subject, payload) = (id.to_string(), WorkStep::Start { event, finish }.to_string());
        let due = Time::from_micros(now + wait_micros / 2);
        store::jobs::schedule(tx, kind, &subject, &payload, due)?;
    }
    Ok(())
}

/// Runs the next step of work. When the work is complete, also returns the ID of the object and of the event.
pub fn advance(tx: &mut WriteTx, job: &Job) -> Result<(Outcome, Option<(i64, EventId)>)> {
    let invalid_step = || StoreError::Unexpected(format!("invalid step {:?}", job.payload));
    let step = WorkStep::parse(&job.payload).ok_or_else(invalid_step)?;
    let id = job.subject.parse().map_err(|_| invalid_step())?;
    let wait_micros = tx.policy().settle_ms * 1000;
    match step {
        WorkStep::Start { event, finish } => {
            store::events::progress(tx, event, started(wait_micros))?;
            let again = Outcome::Again {
                payload: WorkStep::Finish { event }.to_string(),
                due: finish,
            };
            Ok((again, None))
        }
        WorkStep::Finish { event } => {
            store::events::progress(tx, event, events::finished(wait_micros))?;
            Ok((Outcome::Done, Some((id, event))))
        }
        // `power.rs` ends boots on hosts.
        WorkStep::BootTimeout { .. } => Err(invalid_step().into()),
    }
}

/// The progress of work that is half done.
const fn started(wait_micros: i64) -> Progress {
    Progress {
        status: "started",
        percent: Some(50),
        duration: Some(wait_micros / 2),
    }
}

/// Cancels the job of an object that is being deleted. Its event fails with the progress that it had.
pub fn cancel(tx: &mut WriteTx, (kind, id): Subject) -> Result<()> {
    let payload = store::jobs::unschedule(tx, kind, &id.to_string())?;
    if let Some(step) = payload.as_deref().and_then(WorkStep::parse) {
        let last = match step {
            WorkStep::Start { .. } => SCHEDULED,
            WorkStep::Finish { .. } => started(tx.policy().settle_ms * 1000),
            WorkStep::BootTimeout { .. } => BOOTING,
        };
        let failed = Progress {
            status: "failed",
            ..last
        };
        store::events::progress(tx, step.event(), failed)?;
    }
    Ok(())
}
