//! Starting and stopping instances.
//!
//! There is no machine to wait for: a change settles at once, or after `settle_ms`, so that clients
//! can be tried against a server that takes its time. What is under way is kept in the store with
//! the time it is due, and a restart finishes it.

use crate::model::event::{Action, Entity};
use crate::model::grant::Permission;
use crate::model::id::{ConfigId, InstanceId};
use crate::model::instance::{Instance, Status};
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events::{self, Author};
use crate::rules::instances;
use crate::rules::request::Request;
use crate::store::due_work::{self, DueWork, Step};
use crate::store::events::Progress;
use crate::store::{self, Chore, ReadTx, WriteTx};

pub fn boot(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_idle(tx, caller, id, request)?;
    let config = config_to_boot(tx, &instance, request)?;
    match instance.running {
        None => begin(tx, caller.author(), instance, Change::Boot(config)),
        Some(running) if running == config => Ok(()),
        Some(_) => {
            let text = format!(
                "{} runs with another config: shut it down, or reboot it",
                instance.label.as_str()
            );
            Err(refused(Code::InstanceState, text))
        }
    }
}

pub fn reboot(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_idle(tx, caller, id, request)?;
    let config = config_to_boot(tx, &instance, request)?;
    if instance.running.is_none() {
        let text = format!("{} is not running: boot it", instance.label.as_str());
        return Err(refused(Code::InstanceState, text));
    }
    begin(tx, caller.author(), instance, Change::Reboot(config))
}

pub fn shutdown(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_idle(tx, caller, id, request)?;
    request.asks_nothing()?;
    match instance.running {
        Some(_) => begin(tx, caller.author(), instance, Change::Shutdown),
        None => Ok(()),
    }
}

/// Brings a new instance to life, and boots it if it has a config to boot.
pub fn provision(
    tx: &mut WriteTx,
    caller: &Caller,
    mut instance: Instance,
    boot: Option<ConfigId>,
) -> Result<()> {
    instance.last_booted = boot;
    begin(tx, caller.author(), instance, Change::Provision)
}

/// Does what is due by now, a few things at a time; whether there may be more. Of several nodes one does it.
pub fn settle_due(tx: &mut WriteTx) -> Result<bool> {
    const FEW: i64 = 100;
    if !tx.claim(Chore::DueWork)? {
        return Ok(false);
    }
    let now = tx.instant();
    let due = due_work::until(tx, now, FEW)?;
    for work in &due {
        settle(tx, work)?;
    }
    Ok(due.len() as i64 == FEW)
}

/// Ends what an instance that is being deleted has under way.
pub fn abandon(tx: &mut WriteTx, id: InstanceId) -> Result<()> {
    for event in due_work::events_of(tx, id)? {
        let failed = Progress {
            status: "failed",
            percent: Some(100),
            duration: None,
        };
        store::events::progress(tx, event, failed)?;
    }
    Ok(())
}

/// When there will be something to do.
pub fn next_due(tx: &mut ReadTx) -> Result<Option<Time>> {
    Ok(due_work::next(tx)?)
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

    /// What the instance is while it lasts.
    fn meanwhile(self) -> Status {
        match self {
            Change::Provision => Status::Provisioning,
            Change::Boot(_) => Status::Booting,
            Change::Reboot(_) => Status::Rebooting,
            Change::Shutdown => Status::ShuttingDown,
        }
    }
}

fn begin(tx: &mut WriteTx, author: Author, mut instance: Instance, change: Change) -> Result<()> {
    let wait = tx.policy().settle_ms * 1000;
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
    instance.status = change.meanwhile();
    instance.last_booted = config.map(|(id, _)| id).or(instance.last_booted);

    let progress = if wait == 0 {
        finished(0)
    } else {
        Progress {
            status: "scheduled",
            percent: Some(0),
            duration: None,
        }
    };
    let event = events::record_progress(tx, author, change.action(), &instance, entity.as_ref(), progress)?;
    if wait == 0 {
        return arrive(tx, author, instance);
    }
    let now = tx.instant().micros();
    due_work::add(
        tx,
        instance.id,
        event,
        Step::Start,
        Time::from_micros(now + wait / 2),
    )?;
    due_work::add(
        tx,
        instance.id,
        event,
        Step::Finish,
        Time::from_micros(now + wait),
    )?;
    instance.updated = tx.now_after(instance.updated);
    Ok(store::instances::update(tx, &instance)?)
}

fn settle(tx: &mut WriteTx, work: &DueWork) -> Result<()> {
    due_work::remove(tx, work.id)?;
    let wait = tx.policy().settle_ms * 1000;
    let progress = match work.step {
        Step::Start => Progress {
            status: "started",
            percent: Some(50),
            duration: Some(wait / 2),
        },
        Step::Finish => finished(wait),
    };
    store::events::progress(tx, work.event, progress)?;
    if work.step == Step::Start {
        return Ok(());
    }
    let Some(instance) = store::instances::find_any(tx, work.instance)? else {
        return Ok(());
    };
    let (username, user) = store::events::author(tx, work.event)?;
    let author = Author {
        account: instance.account,
        username: username.as_deref().unwrap_or_default(),
        user,
    };
    arrive(tx, author, instance)
}

/// The change is over: the instance is what it was to become.
fn arrive(tx: &mut WriteTx, author: Author, mut instance: Instance) -> Result<()> {
    let provisioned = instance.status == Status::Provisioning;
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
    match instance.last_booted.filter(|_| provisioned) {
        Some(config) => begin(tx, author, instance, Change::Boot(config)),
        None => Ok(()),
    }
}

fn finished(took: i64) -> Progress {
    Progress {
        status: "finished",
        percent: Some(100),
        duration: Some(took),
    }
}

fn load_idle(tx: &mut ReadTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<Instance> {
    let instance = instances::load_for(tx, caller, id, Permission::ReadWrite)?;
    request.unchanged(&instance)?;
    if instance.is_busy() {
        return Err(refused(Code::InstanceBusy, "Linode busy."));
    }
    Ok(instance)
}

/// The config that was named, else the only one, else the one last booted.
fn config_to_boot(tx: &mut ReadTx, instance: &Instance, request: &Request) -> Result<ConfigId> {
    let mut form = request.form()?;
    let named = form.integer("config_id").map(ConfigId);
    let configs: Vec<ConfigId> = store::configs::names(tx, instance.id)?
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    if named.is_some_and(|named| !configs.contains(&named)) {
        form.refuse(
            "config_id",
            Reason::new(Code::ConfigInvalid, "config_id is not valid"),
        );
    }
    form.finish(|| Some(()))?;
    let only = || configs.first().copied().filter(|_| configs.len() == 1);
    let last = || instance.last_booted.filter(|last| configs.contains(last));
    named.or_else(only).or_else(last).ok_or_else(|| {
        let text = match configs.is_empty() {
            true => "There is no config to boot: create one first",
            false => "There are several configs: say which with config_id",
        };
        refused(Code::ConfigMissing, text)
    })
}

fn refused(code: Code, text: impl Into<String>) -> Error {
    Error::whole(Reason::new(code, text))
}
