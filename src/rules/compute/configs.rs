//! Configs of an instance: listing, creating, viewing, changing, deleting.

use crate::model::config::{Config, ConfigLabel, DEVICES, HELPERS, Settings};
use crate::model::event::{Action, Entity};
use crate::model::grant::{Granted, Permission};
use crate::model::id::{ConfigId, DiskId, InstanceId};
use crate::model::instance::Instance;
use crate::model::interface::Interface;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason, Reasons};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::{Form, short_text};
use crate::rules::interfaces::{self, Site};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{events, instances};
use crate::store::{self, ReadTx, WriteTx};

pub fn list(
    tx: &mut ReadTx,
    caller: &Caller,
    instance: InstanceId,
    list: &ListRequest,
) -> Result<Paged<Config>> {
    instances::load_for(tx, caller, instance, Permission::ReadOnly)?;
    let wanted = list.read(tx.policy(), &store::configs::FIELDS)?;
    Ok(store::configs::list(tx, instance, &wanted)?)
}

pub fn create(tx: &mut WriteTx, caller: &Caller, instance: InstanceId, request: &Request) -> Result<Config> {
    let instance = instances::load_for(tx, caller, instance, Permission::ReadWrite)?;
    let mut form = request.form()?;
    let label = form.required("label", ConfigLabel::parse);
    let settings = read_settings(tx, &mut form, &instance, Settings::default())?;
    let interfaces = read_interfaces(tx, caller, &mut form, &Site::of(&instance, &[]))?;
    let (label, settings, interfaces) =
        form.finish(|| Some((label?, settings, interfaces.unwrap_or(Some(Vec::new()))?)))?;

    let id = insert(tx, &instance, &label, &settings, interfaces)?;
    let config = load(tx, instance.id, id)?;
    record(tx, caller, Action::ConfigCreate, &instance, &config)?;
    Ok(config)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, at: (InstanceId, ConfigId)) -> Result<Config> {
    Ok(load_for(tx, caller, at, Permission::ReadOnly)?.1)
}

pub fn update(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Request,
) -> Result<Config> {
    let (instance, mut config) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.unchanged(&config)?;
    let mut form = request.form()?;
    let label = form.optional("label", ConfigLabel::parse);
    let settings = read_settings(tx, &mut form, &instance, config.settings.clone())?;
    let site = Site::of(&instance, &config.interfaces);
    let wanted = read_interfaces(tx, caller, &mut form, &site)?;
    let (settings, wanted) =
        form.finish(|| Some((settings, wanted.map_or(Some(None), |wanted| wanted.map(Some))?)))?;

    config.label = label.unwrap_or(config.label);
    config.settings = settings;
    config.updated = tx.now_after(config.updated);
    store::configs::update(tx, &config)?;
    if let Some(wanted) = wanted {
        interfaces::set_all(tx, &instance, &config, wanted)?;
    }
    let config = load(tx, instance.id, config.id)?;
    record(tx, caller, Action::ConfigUpdate, &instance, &config)?;
    Ok(config)
}

pub fn delete(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Request,
) -> Result<()> {
    let (instance, config) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.unchanged(&config)?;
    request.asks_nothing()?;
    if instance.running == Some(config.id) {
        let text = format!(
            "{} runs with this config: shut it down, or reboot it with another config, first",
            instance.label.as_str()
        );
        let reason = Reason::new(Code::ConfigActive, text);
        return Err(Error::whole(reason));
    }
    remove(tx, &config)?;
    record(tx, caller, Action::ConfigDelete, &instance, &config)
}

/// The config with its instance, if the caller may do that much with them.
pub fn load_for(
    tx: &mut ReadTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    access: Permission,
) -> Result<(Instance, Config)> {
    // A config that is not there is not found, also by someone who could only have looked at it.
    let instance = instances::load_for(tx, caller, at.0, Permission::ReadOnly)?;
    let config = load(tx, at.0, at.1)?;
    if access > Permission::ReadOnly {
        caller.may(tx, Granted::Linode, at.0.0, access)?;
    }
    Ok((instance, config))
}

/// Makes a config with its interfaces.
pub fn insert(
    tx: &mut WriteTx,
    instance: &Instance,
    label: &ConfigLabel,
    settings: &Settings,
    interfaces: Vec<Interface>,
) -> Result<ConfigId> {
    let id = store::configs::insert(tx, instance.id, label, settings)?;
    let config = load(tx, instance.id, id)?;
    for (place, interface) in interfaces.into_iter().enumerate() {
        interfaces::insert(tx, instance, &config, place, interface)?;
    }
    Ok(id)
}

/// Removes a config with its interfaces, and frees what they had.
pub fn remove(tx: &mut WriteTx, config: &Config) -> Result<()> {
    for interface in &config.interfaces {
        interfaces::remove(tx, interface)?;
    }
    store::instances::forget_config(tx, config.id, config.instance)?;
    Ok(store::configs::delete(tx, config.id)?)
}

/// The interfaces of a body: `None` if it names none, `Some(None)` if a complaint was kept.
pub fn read_interfaces(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    on: &Site,
) -> Result<Option<Option<Vec<Interface>>>> {
    if !form.has("interfaces") {
        return Ok(None);
    }
    let drafts = form.first("interfaces", interfaces::MOST, interfaces::read_draft);
    interfaces::refuse_together(form, &drafts);
    let mut found = Vec::new();
    for draft in drafts.iter().flatten() {
        found.push(interfaces::resolve(tx, caller, form, draft, on)?);
    }
    Ok(Some(found.into_iter().collect()))
}

fn read_settings(
    tx: &mut ReadTx,
    form: &mut Form,
    instance: &Instance,
    mut settings: Settings,
) -> Result<Settings> {
    settings.kernel = form.optional("kernel", short_text).unwrap_or(settings.kernel);
    settings.comments = form.optional("comments", short_text).unwrap_or(settings.comments);
    settings.memory_limit = form.integer("memory_limit").unwrap_or(settings.memory_limit);
    if settings.memory_limit < 0 {
        let reason = Reason::new(Code::OutOfRange, "Must not be negative");
        form.refuse("memory_limit", reason);
    }
    settings.root_device = form
        .optional("root_device", short_text)
        .unwrap_or(settings.root_device);
    settings.run_level = form
        .optional("run_level", |raw| one_of(raw, &RUN_LEVELS))
        .unwrap_or(settings.run_level);
    settings.virt_mode = form
        .optional("virt_mode", |raw| one_of(raw, &VIRT_MODES))
        .unwrap_or(settings.virt_mode);
    form.within("helpers", |form| {
        for (helper, name) in settings.helpers.iter_mut().zip(HELPERS) {
            *helper = form.truth(name).unwrap_or(*helper);
        }
    });
    let disks: Vec<DiskId> = store::instances::disks(tx, instance.id)?
        .into_iter()
        .map(|disk| disk.id)
        .collect();
    form.within("devices", |form| {
        for (device, name) in settings.devices.iter_mut().zip(DEVICES) {
            let disk = form.within(name, |form| {
                (form.integer("disk_id").map(DiskId), form.path("disk_id"))
            });
            match disk {
                Some((Some(disk), field)) if !disks.contains(&disk) => {
                    form.refuse(field, Reason::new(Code::DeviceInvalid, "disk_id is not valid"));
                }
                Some((disk, _)) => *device = disk,
                None => {}
            }
        }
    });
    Ok(settings)
}

const RUN_LEVELS: [&str; 3] = ["default", "single", "binbash"];
const VIRT_MODES: [&str; 2] = ["paravirt", "fullvirt"];

fn one_of(raw: &str, choices: &[&str]) -> Result<String, Reasons> {
    if choices.contains(&raw) {
        return Ok(raw.to_owned());
    }
    let text = format!("Must be one of {}", choices.join(", "));
    Err(vec![Reason::new(Code::ChoiceInvalid, text)])
}

fn load(tx: &mut ReadTx, instance: InstanceId, id: ConfigId) -> Result<Config> {
    store::configs::find(tx, instance, id)?.ok_or(Error::NotFound)
}

fn record(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    instance: &Instance,
    config: &Config,
) -> Result<()> {
    let entity = Entity::config(instance.id, config.id, config.label.as_str());
    events::record_instance(tx, caller, action, instance, Some(&entity))
}
