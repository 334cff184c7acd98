//! Configs of an instance: list, create, view, update, delete.
//!
//! `draft` parses the bodies of requests.

mod draft;

use crate::model::config::{Config, ConfigLabel, Settings};
use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::Permission;
use crate::model::id::{ConfigId, InstanceId};
use crate::model::instance::Instance;
use crate::model::interface::Interface;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::interfaces::{self, TargetInstance};
use crate::rules::lists::ListRequest;
use crate::rules::request::{Drafted, Request};
use crate::rules::{event_changes, events, loading, settings};
use crate::store::{self, ReadTx, WriteTx};

pub use draft::{Change, New, read_kernel};

/// The maximum number of configs of an instance. An instance has at most 50 disks, so this is enough for two configs for
/// each disk. Deleting an instance or a disk visits all configs, and a ticket about the instance shows their interfaces.
const MAX_CONFIGS: i64 = 100;

pub fn list(
    tx: &mut ReadTx,
    caller: &Caller,
    instance: InstanceId,
    list: &ListRequest,
) -> Result<Paged<Config>> {
    loading::instance_for(tx, caller, instance, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &store::configs::FIELDS)?;
    Ok(store::configs::list(tx, instance, &query)?)
}

pub fn create(
    tx: &mut WriteTx,
    caller: &Caller,
    instance: InstanceId,
    request: &Drafted<New>,
) -> Result<Config> {
    let instance = loading::instance_for(tx, caller, instance, Permission::ReadWrite)?;
    let (New(draft), mut form) = request.open()?;
    if store::configs::count(tx, instance.id)? >= MAX_CONFIGS {
        let text = format!("An instance has at most {MAX_CONFIGS} configs");
        form.refuse_whole(Reason::new(Code::ConfigCount, text));
    }
    let defaults = Settings::new(settings::view(tx, caller)?.network_helper);
    let settings = draft.settings.over(tx, &mut form, &instance, defaults)?;
    let drafts = draft.interfaces.as_deref();
    let interfaces = resolve_interfaces(tx, caller, &mut form, drafts, &TargetInstance::of(&instance, &[]))?;
    let (label, settings, interfaces) = form.finish(|| {
        let interfaces = interfaces.unwrap_or(Some(Vec::new()))?;
        Some((draft.label.clone()?, settings, interfaces))
    })?;

    let id = insert(tx, &instance, &label, &settings, interfaces)?;
    let config = loading::config(tx, instance.id, id)?;
    record(tx, caller, Action::ConfigCreate, &instance, &config)?;
    Ok(config)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, at: (InstanceId, ConfigId)) -> Result<Config> {
    Ok(loading::config_for(tx, caller, at, Permission::ReadOnly)?.1)
}

pub fn update(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Drafted<Change>,
) -> Result<Config> {
    let (instance, mut config) = loading::config_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&config)?;
    let (Change(draft), mut form) = request.open()?;
    let settings = config.settings.clone();
    let settings = draft.settings.over(tx, &mut form, &instance, settings)?;
    let target = TargetInstance::of(&instance, &config.interfaces);
    let new_interfaces = resolve_interfaces(tx, caller, &mut form, draft.interfaces.as_deref(), &target)?;
    let (settings, new_interfaces) = form.finish(|| {
        Some((
            settings,
            new_interfaces.map_or(Some(None), |new_interfaces| new_interfaces.map(Some))?,
        ))
    })?;

    let before = config.clone();
    if let Some(new_interfaces) = new_interfaces {
        interfaces::set_all(tx, &instance, &config, new_interfaces)?;
    }
    config.label = draft.label.clone().unwrap_or(config.label);
    config.settings = settings;
    config.updated = tx.now_after(config.updated);
    store::configs::update(tx, &config)?;
    let config = loading::config(tx, instance.id, config.id)?;
    let entity = Entity::config(instance.id, config.id, config.label.as_str());
    let changes = event_changes::of_config(&before, &config);
    events::record_instance_update(tx, caller, &instance, Some(&entity), &changes)?;
    Ok(config)
}

pub fn delete(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Request,
) -> Result<()> {
    let (instance, config) = loading::config_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&config)?;
    request.require_valid_body()?;
    if instance.uses(config.id) {
        let text = format!(
            "{} is running or booting with this config; first shut the instance down or reboot it with another config",
            instance.label.as_str()
        );
        let reason = Reason::new(Code::ConfigActive, text);
        return Err(Error::whole(reason));
    }
    remove(tx, &config)?;
    record(tx, caller, Action::ConfigDelete, &instance, &config)
}

/// Creates a config with its interfaces.
pub fn insert(
    tx: &mut WriteTx,
    instance: &Instance,
    label: &ConfigLabel,
    settings: &Settings,
    interfaces: Vec<Interface>,
) -> Result<ConfigId> {
    let id = store::configs::insert(tx, instance.id, label, settings)?;
    let config = loading::config(tx, instance.id, id)?;
    for (position, interface) in interfaces.into_iter().enumerate() {
        interfaces::insert(tx, instance, &config, position, interface)?;
    }
    Ok(id)
}

/// Deletes a config with its interfaces, and releases their addresses.
pub fn remove(tx: &mut WriteTx, config: &Config) -> Result<()> {
    for interface in &config.interfaces {
        interfaces::remove(tx, interface)?;
    }
    store::instances::clear_last_config(tx, config.id, config.instance)?;
    Ok(store::configs::delete(tx, config.id)?)
}

/// Resolves drafts to interfaces. Returns `None` if the request has no list of interfaces, and `Some(None)`
/// after an error.
pub fn resolve_interfaces(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    drafts: Option<&[Option<interfaces::Draft>]>,
    target: &TargetInstance,
) -> Result<Option<Option<Vec<Interface>>>> {
    let Some(drafts) = drafts else {
        return Ok(None);
    };
    let mut found = Vec::new();
    for draft in drafts.iter().flatten() {
        found.push(interfaces::resolve(tx, caller, form, draft, target)?);
    }
    Ok(Some(found.into_iter().collect()))
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
