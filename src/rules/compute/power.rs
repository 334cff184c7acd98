//! Booting, rebooting and shutting down instances.
//!
//! A change of the power state is work on the instance (`work.rs`), which can take time. In a region with hosts, a boot
//! ends when the agent of the host reports that the ports of the instance are up (decision 0031).

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::Permission;
use crate::model::id::{ConfigId, EventId, HostId, InstanceId};
use crate::model::instance::{Instance, Status};
use crate::model::job::{Job, JobKind, Outcome};
use crate::model::port::PortState;
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;
use crate::model::work::WorkStep;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events::{self, Author};
use crate::rules::loading::instance_for;
use crate::rules::placements::{self, Target};
use crate::rules::request::Request;
use crate::rules::{disks, work};
use crate::store::events::Progress;
use crate::store::jobs::Claim;
use crate::store::{self, ReadTx, WriteTx};

/// The time after which a boot on a host has failed.
const BOOT_TIMEOUT_SECONDS: i64 = 120;

pub fn boot(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_idle(tx, caller, id, request)?;
    let config = config_to_boot(tx, &instance, request)?;
    match instance.running {
        None => begin(tx, caller.author(), instance, Change::Boot(config)),
        Some(running) if running == config => Ok(()),
        Some(_) => {
            let text = format!(
                "{} is running with another config; shut it down or reboot it",
                instance.label.as_str()
            );
            Err(Error::refused(Code::InstanceState, text))
        }
    }
}

/// Reboots an instance, or boots it if it is not running. The Terraform provider reboots instances that it has
/// shut down.
pub fn reboot(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_idle(tx, caller, id, request)?;
    let config = config_to_boot(tx, &instance, request)?;
    begin(tx, caller.author(), instance, Change::Reboot(config))
}

pub fn shutdown(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_idle(tx, caller, id, request)?;
    request.require_valid_body()?;
    match instance.running {
        Some(_) => begin(tx, caller.author(), instance, Change::Shutdown),
        None => Ok(()),
    }
}

/// Provisions a new instance. If `boot` is set, the instance then boots with this config.
pub fn provision(
    tx: &mut WriteTx,
    caller: &Caller,
    mut instance: Instance,
    boot: Option<ConfigId>,
) -> Result<()> {
    instance.last_booted = boot;
    begin(tx, caller.author(), instance, Change::Provision)
}

/// Runs due jobs in this transaction, for commands that run without a server. Returns true if more jobs can
/// be due.
pub fn run_due_jobs(tx: &mut WriteTx) -> Result<bool> {
    const MAX_BATCH_JOBS: usize = 100;
    for _ in 0..MAX_BATCH_JOBS {
        let claim = Claim {
            kinds: &[JobKind::InstancePower, JobKind::DiskWork],
            owner: "",
            until: tx.instant(),
            limit: 1,
        };
        let claimed = store::jobs::claim(tx, &claim)?;
        let Some(job) = claimed.first() else {
            return Ok(false);
        };
        store::jobs::remove(tx, job)?;
        let outcome = match job.kind {
            JobKind::DiskWork => disks::advance(tx, job)?,
            _ => advance(tx, job)?,
        };
        store::jobs::schedule_next(tx, job, &outcome)?;
    }
    Ok(true)
}

/// Cancels the job of an instance that is being deleted, and removes it from its host.
pub fn cancel(tx: &mut WriteTx, id: InstanceId) -> Result<()> {
    placements::release(tx, id)?;
    work::cancel(tx, subject(id))
}

fn subject(id: InstanceId) -> work::Subject {
    (JobKind::InstancePower, id.0)
}

#[derive(Clone, Copy)]
enum Change {
    Provision,
    Boot(ConfigId),
    Reboot(ConfigId),
    Shutdown,
}

impl Change {
    fn action(self) -> Action {
        match self {
            Change::Provision => Action::InstanceCreate,
            Change::Boot(_) => Action::InstanceBoot,
            Change::Reboot(_) => Action::InstanceReboot,
            Change::Shutdown => Action::InstanceShutdown,
        }
    }

    /// The instance's status during the change.
    fn transient_status(self) -> Status {
        match self {
            Change::Provision => Status::Provisioning,
            Change::Boot(_) => Status::Booting,
            Change::Reboot(_) => Status::Rebooting,
            Change::Shutdown => Status::ShuttingDown,
        }
    }
}

fn begin(tx: &mut WriteTx, author: Author, instance: Instance, change: Change) -> Result<()> {
    let refusal = placements::no_capacity(&instance);
    match begin_if_placed(tx, author, instance, change)? {
        true => Ok(()),
        false => Err(refusal),
    }
}

/// Begins a change. Returns false and changes nothing if no host of the region has capacity.
fn begin_if_placed(tx: &mut WriteTx, author: Author, mut instance: Instance, change: Change) -> Result<bool> {
    let target = match change {
        Change::Boot(_) | Change::Reboot(_) => placements::target(tx, &instance)?,
        Change::Provision | Change::Shutdown => Target::Simulated,
    };
    if target == Target::NoCapacity {
        return Ok(false);
    }
    let config = match change {
        Change::Boot(config) | Change::Reboot(config) => Some(config),
        Change::Provision | Change::Shutdown => None,
    };
    let config = match config {
        Some(id) => store::configs::names(tx, instance.id)?
            .into_iter()
            .find(|(config, _)| *config == id),
        None => None,
    };
    let entity = config
        .as_ref()
        .map(|(id, label)| Entity::config(instance.id, *id, label));
    instance.status = change.transient_status();
    instance.last_booted = config.map(|(id, _)| id).or(instance.last_booted);

    if let Target::Host(host) = target {
        boot_on_host(tx, author, instance, change.action(), entity.as_ref(), host)?;
        return Ok(true);
    }
    if matches!(change, Change::Shutdown) {
        placements::release(tx, instance.id)?;
    }
    let subject = subject(instance.id);
    work::begin(tx, author, change.action(), &instance, entity.as_ref(), subject)?;
    if work::is_immediate(tx) {
        complete_change(tx, author, instance)?;
        return Ok(true);
    }
    instance.updated = tx.now_after(instance.updated);
    store::instances::update(tx, &instance)?;
    Ok(true)
}

/// Begins a boot that ends with the report of an agent. An instance without VPC interfaces needs no report.
fn boot_on_host(
    tx: &mut WriteTx,
    author: Author,
    mut instance: Instance,
    action: Action,
    entity: Option<&Entity>,
    host: HostId,
) -> Result<()> {
    if let Some(config) = instance.last_booted {
        placements::place(tx, instance.id, host, config)?;
    }
    let begun = tx.instant();
    let event = events::record_progress(tx, author, action, &instance, entity, work::BOOTING)?;
    let timeout = WorkStep::BootTimeout { event, begun }.to_string();
    let due = begun.plus_seconds(BOOT_TIMEOUT_SECONDS);
    let (kind, id) = subject(instance.id);
    store::jobs::schedule(tx, kind, &id.to_string(), &timeout, due)?;
    instance.updated = tx.now_after(instance.updated);
    store::instances::update(tx, &instance)?;
    match placements::has_pending_ports(tx, instance.id)? {
        true => Ok(()),
        false => complete_boot(tx, instance.id),
    }
}

/// Completes a boot on a host, because all ports of the instance are up.
pub fn complete_boot(tx: &mut WriteTx, id: InstanceId) -> Result<()> {
    let Some(instance) = store::instances::find_any(tx, id)? else {
        return Ok(());
    };
    let (kind, subject) = subject(id);
    let step = store::jobs::unschedule(tx, kind, &subject.to_string())?;
    if let Some(WorkStep::BootTimeout { event, begun }) = step.as_deref().and_then(WorkStep::parse) {
        let duration = tx.instant().micros() - begun.micros();
        store::events::progress(tx, event, events::finished(duration))?;
    }
    if let (Some(host), Some(config)) = (store::placements::host_of(tx, id)?, instance.last_booted) {
        placements::add_ports(tx, id, host, config)?;
    }
    let provider = tx.policy().support.provider.clone();
    complete_change(tx, provider_of(&instance, &provider), instance.clone())
}

/// Ends a boot whose ports were not up in time. The instance is then offline.
fn fail_boot(tx: &mut WriteTx, id: InstanceId, event: EventId, begun: Time) -> Result<()> {
    let failed = Progress {
        status: "failed",
        duration: Some(tx.instant().micros() - begun.micros()),
        ..work::BOOTING
    };
    store::events::progress(tx, event, failed)?;
    for port in store::ports::of_instance(tx, id)? {
        if port.report.state != PortState::Up {
            let reason = port
                .report
                .reason
                .as_deref()
                .unwrap_or("the agent reported nothing");
            tracing::warn!(instance = %id, interface = %port.interface, host = %port.host, reason, "boot failed");
        }
    }
    placements::release(tx, id)?;
    let Some(mut instance) = store::instances::find_any(tx, id)? else {
        return Ok(());
    };
    instance.running = None;
    instance.status = Status::Offline;
    instance.updated = tx.now_after(instance.updated);
    store::instances::update(tx, &instance)?;
    Ok(store::interfaces::set_active(tx, id, None)?)
}

/// Stops a running instance and starts it on another host. Returns false if no other host has capacity.
pub fn move_to_another_host(tx: &mut WriteTx, id: InstanceId) -> Result<bool> {
    let Some(instance) = store::instances::find_any(tx, id)? else {
        return Ok(true);
    };
    let Some(config) = instance.running else {
        return Ok(true);
    };
    let provider = tx.policy().support.provider.clone();
    let author = provider_of(&instance, &provider);
    begin_if_placed(tx, author, instance, Change::Reboot(config))
}

/// The provider as the author of an event of the instance's account.
fn provider_of<'a>(instance: &Instance, name: &'a str) -> Author<'a> {
    Author {
        account: instance.account,
        username: name,
        user: None,
    }
}

/// Runs the next step of an instance's power change.
pub fn advance(tx: &mut WriteTx, job: &Job) -> Result<Outcome> {
    if let (Some(WorkStep::BootTimeout { event, begun }), Ok(id)) =
        (WorkStep::parse(&job.payload), job.subject.parse())
    {
        fail_boot(tx, InstanceId(id), event, begun)?;
        return Ok(Outcome::Done);
    }
    let (outcome, finished) = work::advance(tx, job)?;
    if let Some((id, event)) = finished {
        complete_work(tx, InstanceId(id), event)?;
    }
    Ok(outcome)
}

/// Completes the change of an instance whose job has finished. The author of `event` is the author of the
/// change.
fn complete_work(tx: &mut WriteTx, id: InstanceId, event: EventId) -> Result<()> {
    let Some(instance) = store::instances::find_any(tx, id)? else {
        return Ok(());
    };
    let (username, user) = store::events::author(tx, event)?;
    let author = Author {
        account: instance.account,
        username: username.as_deref().unwrap_or_default(),
        user,
    };
    complete_change(tx, author, instance)
}

/// Sets the instance's status after a change. If the instance was provisioned and has a config to boot, then
/// begins to boot it.
fn complete_change(tx: &mut WriteTx, author: Author, mut instance: Instance) -> Result<()> {
    let was_provisioning = instance.status == Status::Provisioning;
    instance.running = match instance.status {
        Status::Booting | Status::Rebooting => instance.last_booted,
        _ => None,
    };
    instance.status = match instance.running {
        Some(_) => Status::Running,
        None => Status::Offline,
    };
    instance.updated = tx.now_after(instance.updated);
    store::instances::update(tx, &instance)?;
    store::interfaces::set_active(tx, instance.id, instance.running)?;
    if was_provisioning {
        store::disks::set_ready(tx, instance.id)?;
    }
    match instance.last_booted.filter(|_| was_provisioning) {
        Some(config) => {
            let unplaced = instance.clone();
            if !begin_if_placed(tx, author, instance, Change::Boot(config))? {
                record_failed_boot(tx, author, &unplaced)?;
            }
            Ok(())
        }
        None => Ok(()),
    }
}

/// Records that a new instance did not boot, because no host has capacity.
fn record_failed_boot(tx: &mut WriteTx, author: Author, instance: &Instance) -> Result<()> {
    let failed = Progress {
        status: "failed",
        percent: Some(0),
        duration: Some(0),
    };
    events::record_progress(tx, author, Action::InstanceBoot, instance, None, failed)?;
    Ok(())
}

fn load_idle(tx: &mut ReadTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<Instance> {
    let instance = instance_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&instance)?;
    disks::require_idle(tx, &instance)?;
    Ok(instance)
}

/// The config to boot: the requested config, else the only config, else the config of the last boot. If
/// `config_id` is 0, the server chooses in the same way, and falls back to the first config.
fn config_to_boot(tx: &mut ReadTx, instance: &Instance, request: &Request) -> Result<ConfigId> {
    let mut form = request.form()?;
    let sent = form.integer("config_id").map(ConfigId);
    let requested = sent.filter(|config| config.0 != 0);
    let configs: Vec<ConfigId> = store::configs::names(tx, instance.id)?
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    if requested.is_some_and(|requested| !configs.contains(&requested)) {
        form.refuse(
            "config_id",
            Reason::new(Code::ConfigInvalid, "config_id is not valid"),
        );
    }
    form.finish(|| Some(()))?;
    let server_chooses = sent.is_some() && requested.is_none();
    let first = || configs.first().copied().filter(|_| server_chooses);
    let only = || configs.first().copied().filter(|_| configs.len() == 1);
    let last = || instance.last_booted.filter(|last| configs.contains(last));
    let chosen = requested.or_else(only).or_else(last).or_else(first);
    chosen.ok_or_else(|| {
        let text = match configs.is_empty() {
            true => "The instance has no config; create one first",
            false => "The instance has several configs; config_id is required",
        };
        Error::refused(Code::ConfigMissing, text)
    })
}
