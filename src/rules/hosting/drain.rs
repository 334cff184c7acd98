//! Draining: moves the instances of a host to other hosts of the region.

use crate::model::id::HostId;
use crate::model::job::{Job, Outcome};
use crate::rules::error::Result;
use crate::rules::power;
use crate::store::{self, StoreError, WriteTx};

/// The maximum number of instances that one run of the job begins to move.
const INSTANCES_PER_RUN: i64 = 10;
const SECONDS_BETWEEN_RUNS: i64 = 2;

/// Moves some instances. The job runs again until the host has no instances. If no other host has capacity, the
/// instances remain and continue to run.
pub fn advance(tx: &mut WriteTx, job: &Job) -> Result<Outcome> {
    let invalid = || StoreError::Unexpected(format!("invalid host {:?}", job.subject));
    let id = HostId(job.subject.parse().map_err(|_| invalid())?);
    let host = store::hosts::find(tx, id)?;
    if !host.is_some_and(|host| host.is_draining) || store::placements::count(tx, id)? == 0 {
        return Ok(Outcome::Done);
    }
    for instance in store::placements::idle_instances(tx, id, INSTANCES_PER_RUN)? {
        if !power::move_to_another_host(tx, instance)? {
            break;
        }
    }
    Ok(Outcome::Again {
        payload: String::new(),
        due: tx.instant().plus_seconds(SECONDS_BETWEEN_RUNS),
    })
}
