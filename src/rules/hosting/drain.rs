//! Draining: moves the instances of a host to other hosts of the region.

use crate::model::host::{AgentStatus, Host};
use crate::model::id::{HostId, InstanceId};
use crate::model::instance::Status;
use crate::model::job::{Job, JobKind, Outcome};
use crate::model::time::Time;
use crate::rules::error::Result;
use crate::rules::power;
use crate::store::{self, ReadTx, StoreError, WriteTx};

/// The maximum number of instances that one run of the job begins to move.
const INSTANCES_PER_RUN: i64 = 10;
const SECONDS_BETWEEN_RUNS: i64 = 2;
/// The maximum number of hosts that the reason names.
const MAX_LISTED_HOSTS: usize = 5;

/// Schedules the job for a host with this number of instances. If it is already scheduled, the number remains that of
/// the start.
pub fn begin(tx: &mut WriteTx, host: &Host) -> Result<()> {
    let now = tx.instant();
    let (subject, total) = (host.id.to_string(), host.instances.to_string());
    Ok(store::jobs::schedule(
        tx,
        JobKind::HostDrain,
        &subject,
        &total,
        now,
    )?)
}

/// The number of instances when the draining of a host began; `None` when no job moves instances.
pub fn total(tx: &mut ReadTx, id: HostId) -> Result<Option<i64>> {
    let payload = store::jobs::payload(tx, JobKind::HostDrain, &id.to_string())?;
    Ok(payload.and_then(|total| total.parse().ok()))
}

/// Why no instance of a draining host can move: no other host of the region is usable. `None` if one is, or if there is
/// nothing to move.
pub fn obstacle(tx: &mut ReadTx, host: &Host) -> Result<Option<String>> {
    if store::placements::count(tx, host.id)? == 0
        || store::hosts::with_most_capacity(tx, &host.region)?.is_some_and(|other| other != host.id)
    {
        return Ok(None);
    }
    let now = tx.now();
    let mut others = store::hosts::of_region(tx, &host.region)?;
    others.retain(|other| other.id != host.id);
    let mut reasons: Vec<_> = others.iter().map(|other| why_unusable(other, now)).collect();
    if reasons.len() > MAX_LISTED_HOSTS {
        let more = reasons.split_off(MAX_LISTED_HOSTS).len();
        reasons.push(format!("{more} more"));
    }
    let region = &host.region;
    Ok(Some(match reasons.is_empty() {
        true => format!("{region} has no other host"),
        false => format!("no other host in {region} is usable: {}", reasons.join(", ")),
    }))
}

fn why_unusable(host: &Host, now: Time) -> String {
    let label = host.label.as_str();
    match (host.is_draining, host.agent_status(now)) {
        (_, AgentStatus::New) => format!("the agent of {label} has not reported yet"),
        (_, AgentStatus::Offline) => format!("{label} is offline"),
        (_, AgentStatus::Revoked) => format!("the credential of {label} is revoked"),
        (true, AgentStatus::Online) => format!("{label} is draining"),
        (false, AgentStatus::Online) => {
            let (used, all) = (host.instances, host.capacity.get());
            format!("{label} is full ({used} of {all} instances)")
        }
    }
}

/// The instances on a host.
pub fn instances(tx: &mut ReadTx, host: HostId) -> Result<Vec<InstanceId>> {
    Ok(store::placements::instances(tx, host)?)
}

/// What became of the instances that were on a host when its draining began. Deleted instances are not counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of instances that are still on the host.
    pub remaining: usize,
    /// The number of instances that are starting elsewhere.
    pub starting: usize,
    /// The number of instances that run elsewhere.
    pub running: usize,
    /// The labels of the instances that do not run.
    pub offline: Vec<String>,
}

impl Progress {
    pub fn is_over(&self) -> bool {
        self.remaining == 0 && self.starting == 0
    }
}

pub fn progress(tx: &mut ReadTx, host: HostId, instances: &[InstanceId]) -> Result<Progress> {
    let mut progress = Progress::default();
    for id in instances {
        let Some(instance) = store::instances::find_any(tx, *id)? else {
            continue;
        };
        match instance.status {
            _ if store::placements::host_of(tx, *id)? == Some(host) => progress.remaining += 1,
            Status::Running => progress.running += 1,
            Status::Offline => progress.offline.push(instance.label.as_str().to_owned()),
            _ => progress.starting += 1,
        }
    }
    Ok(progress)
}

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
        payload: job.payload.clone(),
        due: tx.instant().plus_seconds(SECONDS_BETWEEN_RUNS),
    })
}
