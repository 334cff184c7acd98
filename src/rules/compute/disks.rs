//! Disks of an instance: list, create, view, update, resize, copy, delete.
//!
//! `draft` parses the bodies of requests.

mod draft;

use crate::model::disk::{Disk, DiskLabel, DiskStatus, Filesystem, NewDisk};
use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::Permission;
use crate::model::id::{DiskId, InstanceId};
use crate::model::instance::Instance;
use crate::model::job::{Job, JobKind, Outcome};
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::{Drafted, Request};
use crate::rules::{events, loading, work};
use crate::store::{self, ReadTx, WriteTx};

pub use draft::{Change, Draft};

/// The maximum number of disks of an instance.
const MAX_DISKS: usize = 50;

/// The IDs in a path: instance, disk.
pub type DiskPath = (InstanceId, DiskId);

pub fn list(
    tx: &mut ReadTx,
    caller: &Caller,
    instance: InstanceId,
    list: &ListRequest,
) -> Result<Paged<Disk>> {
    loading::instance_for(tx, caller, instance, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &store::disks::FIELDS)?;
    Ok(store::disks::list(tx, instance, &query)?)
}

/// Creates a disk, if the plan of the instance has space for it.
pub fn create(
    tx: &mut WriteTx,
    caller: &Caller,
    instance: InstanceId,
    request: &Drafted<Draft>,
) -> Result<Disk> {
    let instance = loading::instance_for(tx, caller, instance, Permission::ReadWrite)?;
    let (draft, mut form) = request.open()?;
    refuse_excess(tx, &mut form, &instance, draft.size, None)?;
    draft.authorized_users.refuse_unknown(tx, caller, &mut form)?;
    if draft
        .encryption
        .is_some_and(|encryption| encryption != instance.disk_encryption)
    {
        let text = format!(
            "All disks of an instance have its disk_encryption: leave this field out, or send {}",
            instance.disk_encryption.word()
        );
        form.refuse("disk_encryption", Reason::new(Code::NotOffered, text));
    }
    let new = form.finish(|| draft.finish())?;
    require_idle(tx, &instance)?;
    insert(tx, caller, &instance, Action::DiskCreate, &new)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, at: DiskPath) -> Result<Disk> {
    Ok(load_for(tx, caller, at, Permission::ReadOnly)?.1)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, at: DiskPath, request: &Drafted<Change>) -> Result<Disk> {
    let (instance, mut disk) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&disk)?;
    let (change, mut form) = request.open()?;
    draft::refuse_other_content(&mut form, &disk, change.filesystem);
    let change = form.finish(|| Some(change.clone()))?;

    disk.label = change.label.unwrap_or(disk.label);
    disk.filesystem = change.filesystem.unwrap_or(disk.filesystem);
    disk.updated = tx.now_after(disk.updated);
    store::disks::update(tx, &disk)?;
    events::record_instance(
        tx,
        caller,
        Action::DiskUpdate,
        &instance,
        Some(&Entity::disk(&disk)),
    )?;
    Ok(disk)
}

/// Deletes a disk, and removes it from the configs that refer to it.
pub fn delete(tx: &mut WriteTx, caller: &Caller, at: DiskPath, request: &Request) -> Result<()> {
    let (instance, disk) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&disk)?;
    request.require_valid_body()?;
    require_unused(tx, &instance, &disk)?;
    remove_from_configs(tx, &disk)?;
    store::disks::delete(tx, &disk)?;
    events::record_work(
        tx,
        caller,
        Action::DiskDelete,
        &instance,
        Some(&Entity::disk(&disk)),
    )
}

pub fn resize(tx: &mut WriteTx, caller: &Caller, at: DiskPath, request: &Request) -> Result<()> {
    let (instance, mut disk) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&disk)?;
    let mut form = request.form()?;
    let size = draft::read_size(&mut form);
    refuse_excess(tx, &mut form, &instance, size, Some(&disk))?;
    // The provider can have withdrawn the image since.
    let images = &tx.policy().images;
    if let Some(image) = images.iter().find(|image| Some(&image.id) == disk.image.as_ref()) {
        draft::refuse_smaller(&mut form, image, size);
    }
    disk.size = form.finish(|| size)?;
    require_unused(tx, &instance, &disk)?;
    begin(tx, caller, &instance, Action::DiskResize, disk)
}

/// Sets the root password on a disk.
pub fn set_password(tx: &mut WriteTx, caller: &Caller, at: DiskPath, request: &Request) -> Result<()> {
    let (instance, disk) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&disk)?;
    let mut form = request.form()?;
    let password = draft::read_password(&mut form, "password");
    form.finish(|| password)?;
    require_unused(tx, &instance, &disk)?;
    begin(tx, caller, &instance, Action::PasswordReset, disk)
}

/// Sets the root password of an instance, which must have exactly one disk that is not a swap disk.
pub fn set_instance_password(
    tx: &mut WriteTx,
    caller: &Caller,
    id: InstanceId,
    request: &Request,
) -> Result<()> {
    let instance = loading::instance_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&instance)?;
    let mut form = request.form()?;
    let password = draft::read_password(&mut form, "root_pass");
    form.finish(|| password)?;
    require_idle(tx, &instance)?;
    if instance.running.is_some() {
        let text = format!(
            "{} is running; first shut the instance down",
            instance.label.as_str()
        );
        return Err(Error::refused(Code::InstanceState, text));
    }
    let mut disks = store::disks::of_instance(tx, id)?;
    disks.retain(|disk| disk.filesystem != Filesystem::Swap);
    match <[Disk; 1]>::try_from(disks) {
        Ok([disk]) => begin(tx, caller, &instance, Action::PasswordReset, disk),
        Err(disks) => Err(ambiguous_disk_error(disks.len())),
    }
}

/// Copies a disk: creates a disk with the same size, file system and image.
pub fn copy(tx: &mut WriteTx, caller: &Caller, at: DiskPath, request: &Request) -> Result<Disk> {
    let (instance, disk) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&disk)?;
    let mut form = request.form()?;
    refuse_excess(tx, &mut form, &instance, Some(disk.size), None)?;
    form.finish(|| Some(()))?;
    require_idle(tx, &instance)?;
    let new = NewDisk {
        label: DiskLabel::of_copy(&disk.label),
        filesystem: disk.filesystem,
        size: disk.size,
        image: disk.image,
    };
    insert(tx, caller, &instance, Action::DiskDuplicate, &new)
}

/// Runs the next step of work on a disk.
pub fn advance(tx: &mut WriteTx, job: &Job) -> Result<Outcome> {
    let (outcome, finished) = work::advance(tx, job)?;
    if let Some((id, _)) = finished
        && let Some(mut disk) = store::disks::find_any(tx, DiskId(id))?
    {
        disk.status = DiskStatus::Ready;
        disk.updated = tx.now_after(disk.updated);
        store::disks::update(tx, &disk)?;
    }
    Ok(outcome)
}

/// Deletes the disks of an instance that is being deleted.
pub fn delete_all(tx: &mut WriteTx, instance: InstanceId) -> Result<()> {
    for disk in store::disks::of_instance(tx, instance)? {
        work::cancel(tx, (JobKind::DiskWork, disk.id.0))?;
        store::disks::delete(tx, &disk)?;
    }
    Ok(())
}

/// Fails while the instance changes its state, or while work on one of its disks is in progress.
pub fn require_idle(tx: &mut ReadTx, instance: &Instance) -> Result<()> {
    match instance.is_busy() || store::disks::are_busy(tx, instance.id)? {
        true => Err(Error::refused(Code::InstanceBusy, "Linode busy.")),
        false => Ok(()),
    }
}

/// The space for disks in the plan of an instance, in megabytes.
pub fn space(tx: &ReadTx, instance: &Instance) -> i64 {
    let plan = tx.policy().plans.iter().find(|plan| plan.id == instance.plan);
    plan.map_or(0, |plan| plan.disk)
}

fn load_for(tx: &mut ReadTx, caller: &Caller, at: DiskPath, access: Permission) -> Result<(Instance, Disk)> {
    // Look up the disk before the write permission is checked: a missing disk is 404, not 403.
    let instance = loading::instance_for(tx, caller, at.0, Permission::ReadOnly)?;
    let disk = store::disks::find(tx, at.0, at.1)?.ok_or(Error::NotFound)?;
    if access > Permission::ReadOnly {
        loading::instance_for(tx, caller, at.0, access)?;
    }
    Ok((instance, disk))
}

fn ambiguous_disk_error(disks: usize) -> Error {
    let text = match disks {
        0 => "The instance has no disk; create one from an image".to_owned(),
        _ => {
            format!("The instance has {disks} disks that are not swap disks; set the password of one of them")
        }
    };
    Error::refused(Code::DiskAmbiguous, text)
}

/// Inserts a disk and begins the work of creating it.
fn insert(
    tx: &mut WriteTx,
    caller: &Caller,
    instance: &Instance,
    action: Action,
    new: &NewDisk,
) -> Result<Disk> {
    let status = match work::is_immediate(tx) {
        true => DiskStatus::Ready,
        false => DiskStatus::NotReady,
    };
    let id = store::disks::insert(tx, instance.id, new, status)?;
    let disk = store::disks::find(tx, instance.id, id)?.ok_or(Error::NotFound)?;
    let subject = (JobKind::DiskWork, id.0);
    let entity = Entity::disk(&disk);
    work::begin(tx, caller.author(), action, instance, Some(&entity), subject)?;
    Ok(disk)
}

/// Begins work on an existing disk.
fn begin(
    tx: &mut WriteTx,
    caller: &Caller,
    instance: &Instance,
    action: Action,
    mut disk: Disk,
) -> Result<()> {
    if !work::is_immediate(tx) {
        disk.status = DiskStatus::NotReady;
    }
    disk.updated = tx.now_after(disk.updated);
    store::disks::update(tx, &disk)?;
    let subject = (JobKind::DiskWork, disk.id.0);
    let entity = Entity::disk(&disk);
    work::begin(tx, caller.author(), action, instance, Some(&entity), subject)
}

/// Adds an error if the instance has no space for a disk of this size. `resized` is the disk that gets this
/// size, or `None` for a new disk.
fn refuse_excess(
    tx: &mut ReadTx,
    form: &mut Form,
    instance: &Instance,
    size: Option<i64>,
    resized: Option<&Disk>,
) -> Result<()> {
    let disks = store::disks::of_instance(tx, instance.id)?;
    if resized.is_none() && disks.len() >= MAX_DISKS {
        let text = format!("An instance has at most {MAX_DISKS} disks");
        form.refuse_whole(Reason::new(Code::DiskCount, text));
    }
    let others = disks
        .iter()
        .filter(|disk| Some(disk.id) != resized.map(|resized| resized.id));
    let used: i64 = others.map(|disk| disk.size).sum();
    let (space, free) = (space(tx, instance), space(tx, instance) - used);
    if size.is_some_and(|size| size > free) {
        let text = format!(
            "The plan has {space} MB for disks; {} MB are unallocated",
            free.max(0)
        );
        form.refuse("size", Reason::new(Code::DiskSpace, text));
    }
    Ok(())
}

/// Fails while the instance is busy, or while it runs with a config that refers to the disk.
fn require_unused(tx: &mut ReadTx, instance: &Instance, disk: &Disk) -> Result<()> {
    require_idle(tx, instance)?;
    let Some(running) = instance.running else {
        return Ok(());
    };
    let config = store::configs::find(tx, instance.id, running)?;
    match config.is_some_and(|config| config.settings.devices.contains(&Some(disk.id))) {
        true => {
            let text = format!(
                "{} is running with this disk; first shut the instance down",
                instance.label.as_str()
            );
            Err(Error::refused(Code::InstanceState, text))
        }
        false => Ok(()),
    }
}

fn remove_from_configs(tx: &mut WriteTx, disk: &Disk) -> Result<()> {
    for mut config in store::configs::with_disk(tx, disk.instance, disk.id)? {
        let others = config
            .settings
            .devices
            .map(|device| device.filter(|id| *id != disk.id));
        config.settings.devices = others;
        config.updated = tx.now_after(config.updated);
        store::configs::update(tx, &config)?;
    }
    Ok(())
}
