//! Booting, rebooting and shutting down instances.
//!
//! A change of the power state is work on the instance (`work.rs`), which can take time.

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::Permission;
use crate::model::id::{ConfigId, EventId, InstanceId};
use crate::model::instance::{Instance, Status};
use crate::model::job::{Job, JobKind, Outcome};
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events::Author;
use crate::rules::loading::instance_for;
use crate::rules::request::Request;
use crate::rules::{disks, work};
use crate::store::jobs::Claim;
use crate::store::{self, ReadTx, WriteTx};

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

/// Cancels the job of an instance that is being deleted.
pub fn cancel(tx: &mut WriteTx, id: InstanceId) -> Result<()> {
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

fn begin(tx: &mut WriteTx, author: Author, mut instance: Instance, change: Change) -> Result<()> {
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

    let subject = subject(instance.id);
    work::begin(tx, author, change.action(), &instance, entity.as_ref(), subject)?;
    if work::is_immediate(tx) {
        return complete_change(tx, author, instance);
    }
    instance.updated = tx.now_after(instance.updated);
    Ok(store::instances::update(tx, &instance)?)
}

/// Runs the next step of an instance's power change.
pub fn advance(tx: &mut WriteTx, job: &Job) -> Result<Outcome> {
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
        Some(config) => begin(tx, author, instance, Change::Boot(config)),
        None => Ok(()),
    }
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
