//! Instances: list, create, view, update, delete. `power.rs` boots instances and shuts them down.
//!
//! `draft` parses the bodies of requests, and `upkeep` parses the fields about alerts, backups and
//! maintenance.

mod draft;
mod upkeep;

use crate::model::config::{ConfigLabel, Settings};
use crate::model::disk::{DiskLabel, DiskStatus, Filesystem, NewDisk};
use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::{Global, GrantKind, Permission};
use crate::model::id::{ConfigId, InstanceId};
use crate::model::image::Image;
use crate::model::instance::{Instance, InstanceLabel, NewInstance, Status};
use crate::model::interface::Interface;
use crate::model::ip::Ip;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::token::hex;
use crate::model::vpc_ip::{VpcIp, VpcIpv6};
use crate::rules::caller::Caller;
use crate::rules::configs::{self, resolve_interfaces};
use crate::rules::disks;
use crate::rules::error::Result;
use crate::rules::event_changes;
use crate::rules::events;
use crate::rules::form::Form;
use crate::rules::interfaces::TargetInstance;
use crate::rules::ips;
use crate::rules::lists::ListRequest;
use crate::rules::loading::{self, instance_for};
use crate::rules::power;
use crate::rules::request::{Drafted, Request};
use crate::rules::settings;
use crate::store::list::Visibility;
use crate::store::vpc_ips::Scope;
use crate::store::{self, ReadTx, WriteTx};

pub use draft::{Change, Draft};

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Instance>> {
    let query = list.read(tx.policy(), &store::instances::FIELDS)?;
    Ok(store::instances::list(
        tx,
        caller.account,
        caller.visibility(),
        &query,
    )?)
}

/// The number of instances that the caller can see, for each status.
pub fn count_by_status(tx: &mut ReadTx, caller: &Caller) -> Result<Vec<(Status, i64)>> {
    Ok(store::instances::count_by_status(
        tx,
        caller.account,
        caller.visibility(),
    )?)
}

/// Creates an instance. An instance with an image gets disks and a config; an instance with only interfaces
/// gets a config.
pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Drafted<Draft>) -> Result<Instance> {
    caller.require_global_grant(Global::AddLinodes)?;
    let resolved = resolve(tx, caller, request)?;

    let random = tx.random();
    let id = store::instances::insert(tx, caller.account, &resolved.new, &hex(&random[..20]))?;
    if caller.is_restricted() {
        store::grants::set(tx, caller.user(), GrantKind::Linode, id.0, Permission::ReadWrite)?;
    }
    store::ips::take_first(tx, id, resolved.address)?;
    if let Some(address) = resolved.private_address {
        store::ips::take_private(tx, id, address)?;
    }
    if resolved.new.label.is_none() {
        let label = free_label(tx, caller, id)?;
        store::instances::set_label(tx, id, &label)?;
    }
    let instance = loading::instance(tx, caller, id)?;
    let config = add_config(tx, &instance, &resolved)?;

    let boot_config = config.filter(|_| resolved.boot);
    power::provision(tx, caller, instance, boot_config)?;
    loading::instance(tx, caller, id)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Instance> {
    instance_for(tx, caller, id, Permission::ReadOnly)
}

pub fn update(
    tx: &mut WriteTx,
    caller: &Caller,
    id: InstanceId,
    request: &Drafted<Change>,
) -> Result<Instance> {
    let mut instance = instance_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&instance)?;
    let (change, mut form) = request.open()?;
    refuse_taken_label(tx, caller, &mut form, change.label.as_ref(), Some(id))?;
    form.finish(|| Some(()))?;

    let (change, before) = (change.clone(), instance.clone());
    instance.label = change.label.unwrap_or(instance.label);
    instance.group = change.group.unwrap_or(instance.group);
    if let Some(tags) = change.tags {
        store::tags::replace(tx, caller.account, id, (&instance.tags, &tags))?;
        instance.tags = tags;
    }
    instance.watchdog = change.upkeep.watchdog.unwrap_or(instance.watchdog);
    instance.upkeep = change.upkeep.over(instance.upkeep);
    instance.updated = tx.now_after(instance.updated);
    store::instances::update(tx, &instance)?;
    store::tickets::rename_entity(tx, caller.account, &Entity::instance(&instance))?;
    let changes = event_changes::of_instance(&before, &instance);
    events::record_instance_update(tx, caller, &instance, None, &changes)?;
    Ok(instance)
}

/// Deletes an instance with its disks and configs, in any state.
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = instance_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&instance)?;
    request.require_valid_body()?;
    for (config, _) in store::configs::names(tx, id)? {
        if let Some(config) = store::configs::find(tx, id, config)? {
            configs::remove(tx, &config)?;
        }
    }
    power::cancel(tx, id)?;
    disks::delete_all(tx, id)?;
    store::instances::delete(tx, &instance)?;
    events::record_work(tx, caller, Action::InstanceDelete, &instance, None)
}

/// The addresses of an instance.
pub struct Addresses {
    pub instance: Instance,
    /// The public and private addresses.
    pub ips: Vec<Ip>,
    pub vpc: Vec<VpcIp>,
    pub vpc_ipv6: Vec<VpcIpv6>,
}

pub fn addresses(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Addresses> {
    let instance = instance_for(tx, caller, id, Permission::ReadOnly)?;
    let query = ListRequest::full_page().read(tx.policy(), &store::vpc_ips::FIELDS)?;
    // A user who can see the instance can see its interfaces, and therefore their addresses (decision 0007).
    let visibility = Visibility::All;
    let found = store::vpc_ips::list(tx, caller.account, visibility, Scope::Instance(id), &query)?;
    let found6 = store::vpc_ips::list6(tx, caller.account, visibility, Scope::Instance(id), &query)?;
    let ips = store::ips::of_instance(tx, id)?;
    Ok(Addresses {
        instance,
        ips,
        vpc: found.items,
        vpc_ipv6: found6.items,
    })
}

/// A validated new instance.
struct ResolvedInstance {
    new: NewInstance,
    image: Option<Image>,
    interfaces: Vec<Interface>,
    /// The public address.
    address: u32,
    private_address: Option<u32>,
    boot: bool,
    swap_size: i64,
    boot_size: Option<i64>,
    /// The settings of the config, without devices.
    settings: Settings,
}

/// Validates a new instance against the store: its label, its addresses and the subnets of its interfaces.
fn resolve(tx: &mut ReadTx, caller: &Caller, request: &Drafted<Draft>) -> Result<ResolvedInstance> {
    let (draft, mut form) = request.open()?;
    let account_settings = settings::view(tx, caller)?;
    refuse_taken_label(tx, caller, &mut form, draft.label.as_ref(), None)?;
    draft.authorized_users.refuse_unknown(tx, caller, &mut form)?;
    let address = ips::free_public(tx)?;
    if address.is_none() {
        let text = "No public IPv4 address is available";
        form.refuse_whole(Reason::new(Code::AddressesExhausted, text));
    }
    let private_address = match draft.private_ip {
        true => free_private(tx, &mut form)?,
        false => None,
    };
    let target = TargetInstance {
        owner: None,
        region: draft.region.as_deref(),
        public: address.as_slice(),
        current: &[],
    };
    let drafts = draft.interfaces.as_deref();
    let interfaces = resolve_interfaces(tx, caller, &mut form, drafts, &target)?;
    form.finish(|| {
        Some(ResolvedInstance {
            new: draft.finish(account_settings)?,
            image: draft.image.clone(),
            interfaces: interfaces.unwrap_or(Some(Vec::new()))?,
            address: address?,
            private_address,
            boot: draft.booted.unwrap_or(draft.image.is_some()),
            swap_size: draft.swap_size,
            boot_size: draft.boot_size,
            settings: draft.settings(account_settings),
        })
    })
}

/// A private address for a new instance.
fn free_private(tx: &mut ReadTx, form: &mut Form) -> Result<Option<u32>> {
    let address = ips::free_private(tx)?;
    if address.is_none() {
        let text = "No private IPv4 address is available; leave this field out, or send false";
        form.refuse("private_ip", Reason::new(Code::AddressesExhausted, text));
    }
    Ok(address)
}

/// The first default label that no other instance has.
fn free_label(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<InstanceLabel> {
    for label in InstanceLabel::default_labels(id) {
        if !store::instances::has_label(tx, caller.account, &label, Some(id))? {
            return Ok(label);
        }
    }
    unreachable!("the sequence of default labels is infinite")
}

fn add_config(
    tx: &mut WriteTx,
    instance: &Instance,
    resolved: &ResolvedInstance,
) -> Result<Option<ConfigId>> {
    if resolved.image.is_none() && resolved.interfaces.is_empty() {
        return Ok(None);
    }
    let mut settings = resolved.settings.clone();
    let label = match &resolved.image {
        Some(image) => {
            let disks = image_disks(disks::space(tx, instance), image, resolved);
            for (device, disk) in settings.devices.iter_mut().zip(&disks) {
                *device = Some(store::disks::insert(tx, instance.id, disk, DiskStatus::NotReady)?);
            }
            ConfigLabel::of_image(&image.label)
        }
        None => ConfigLabel::of_instance(&instance.label),
    };
    Ok(Some(configs::insert(
        tx,
        instance,
        &label,
        &settings,
        resolved.interfaces.clone(),
    )?))
}

/// The disks of an instance with an image: a boot disk for the image, and a swap disk unless its size is 0.
fn image_disks(space: i64, image: &Image, resolved: &ResolvedInstance) -> Vec<NewDisk> {
    // A plan can be too small for the default swap disk.
    let swap = resolved.swap_size.min(space - 1);
    let boot = NewDisk {
        label: DiskLabel::of_image(&image.label),
        filesystem: Filesystem::Ext4,
        size: resolved.boot_size.unwrap_or(space - swap.max(0)),
        image: Some(image.id.clone()),
    };
    let swap = (swap > 0).then(|| NewDisk {
        label: DiskLabel::of_swap(swap),
        filesystem: Filesystem::Swap,
        size: swap,
        image: None,
    });
    std::iter::once(boot).chain(swap).collect()
}

fn refuse_taken_label(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    label: Option<&InstanceLabel>,
    except: Option<InstanceId>,
) -> Result<()> {
    if let Some(label) = label
        && store::instances::has_label(tx, caller.account, label, except)?
    {
        form.refuse(
            "label",
            Reason::new(Code::LabelTaken, "Label must be unique among your Linodes"),
        );
    }
    Ok(())
}
