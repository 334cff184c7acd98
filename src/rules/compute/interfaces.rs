//! Interfaces of a config, which attach an instance to a subnet.
//!
//! `draft` parses the bodies of requests, `draft_checks` checks their fields, and `resolution` checks subnets
//! and addresses.

mod draft;
mod draft_checks;
mod resolution;

use crate::model::config::Config;
use crate::model::entity::Entity;
use crate::model::event_change::Changes;
use crate::model::grant::Permission;
use crate::model::id::{ConfigId, InstanceId, InterfaceId};
use crate::model::instance::Instance;
use crate::model::interface::{Interface, Purpose, VpcAttachment};
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::loading::config_for;
use crate::rules::request::{Drafted, Request};
use crate::rules::{addresses, event_changes, events, vpcs};
use crate::store::{self, ReadTx, WriteTx};

use draft::Nat;
pub use draft::{Change, Draft, Order, read_all};
use draft_checks::{refuse_changes, refuse_conflicts_with};
use resolution::SubnetTarget;
pub use resolution::{TargetInstance, resolve};

/// The IDs in a path: instance, config, interface.
pub type InterfacePath = (InstanceId, ConfigId, InterfaceId);

pub fn list(tx: &mut ReadTx, caller: &Caller, at: (InstanceId, ConfigId)) -> Result<Vec<Interface>> {
    Ok(config_for(tx, caller, at, Permission::ReadOnly)?.1.interfaces)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, at: InterfacePath) -> Result<Interface> {
    Ok(load_for(tx, caller, at, Permission::ReadOnly)?.2)
}

/// Appends an interface.
pub fn create(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Drafted<Draft>,
) -> Result<Interface> {
    let (instance, mut config) = config_for(tx, caller, at, Permission::ReadWrite)?;
    let (draft, mut form) = request.open()?;
    refuse_conflicts_with(&mut form, draft, &config.interfaces);
    let new = resolve(tx, caller, &mut form, draft, &TargetInstance::of(&instance, &[]))?;
    let new = form.finish(|| new)?;

    let mut changes = Changes::default();
    if new.primary {
        clear_primary(tx, &instance, &mut config, None, &mut changes)?;
    }
    let written = event_changes::write_interface(&new);
    let id = insert(tx, &instance, &config, config.interfaces.len(), new)?;
    changes.add(format!("interface {id}"), "", written);
    touch(tx, caller, &instance, config, &changes)?;
    view(tx, caller, (at.0, at.1, id))
}

pub fn update(
    tx: &mut WriteTx,
    caller: &Caller,
    at: InterfacePath,
    request: &Drafted<Change>,
) -> Result<Interface> {
    let (instance, mut config, interface) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&interface)?;
    let changed = read_change(tx, caller, &instance, &interface, request)?;

    let mut changes = Changes::default();
    event_changes::add_interface(&mut changes, Some(&interface), Some(&changed));
    if changed.primary && !interface.primary {
        clear_primary(tx, &instance, &mut config, Some(interface.id), &mut changes)?;
    }
    let position = position_of(&config, interface.id);
    replace(tx, &instance, position, &interface, &changed)?;
    touch(tx, caller, &instance, config, &changes)?;
    view(tx, caller, at)
}

pub fn delete(tx: &mut WriteTx, caller: &Caller, at: InterfacePath, request: &Request) -> Result<()> {
    let (instance, config, interface) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&interface)?;
    request.require_valid_body()?;
    if interface.active {
        return Err(Error::whole(active_reason(&instance, &config)));
    }
    remove(tx, &interface)?;
    let mut changes = Changes::default();
    event_changes::add_interface(&mut changes, Some(&interface), None);
    touch(tx, caller, &instance, config, &changes)
}

/// Reorders the interfaces of a config. `ids` must contain the ID of each interface exactly once.
pub fn order(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Drafted<Order>,
) -> Result<()> {
    let (instance, config) = config_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&config)?;
    let (order, mut form) = request.open()?;
    let mut sorted_ids = order.ids.clone().unwrap_or_default();
    sorted_ids.sort_unstable();
    let mut current: Vec<_> = config.interfaces.iter().map(|interface| interface.id).collect();
    current.sort_unstable();
    if !order.is_present {
        form.refuse("ids", Reason::new(Code::Required, "ids is required"));
    } else if order.ids.is_some() && sorted_ids != current {
        let text = "Must contain the ID of each interface of the config exactly once";
        form.refuse("ids", Reason::new(Code::OrderInvalid, text));
    }
    let ids = form.finish(|| order.ids.as_ref())?;
    if config.interfaces.iter().any(|interface| interface.active) {
        return Err(Error::whole(active_reason(&instance, &config)));
    }
    for (position, id) in ids.iter().enumerate() {
        let interface = config.interfaces.iter().find(|interface| interface.id == *id);
        let interface = interface.expect("the IDs were compared with the config's interfaces");
        store::interfaces::update(tx, instance.id, position, interface)?;
    }
    let written = |ids: Vec<InterfaceId>| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let current = config.interfaces.iter().map(|interface| interface.id).collect();
    let changes = event_changes::of_field("order of interfaces", written(current), written(ids.clone()));
    touch(tx, caller, &instance, config, &changes)
}

fn load_for(
    tx: &mut ReadTx,
    caller: &Caller,
    at: InterfacePath,
    access: Permission,
) -> Result<(Instance, Config, Interface)> {
    let (instance, config) = config_for(tx, caller, (at.0, at.1), access)?;
    let interface = config
        .interfaces
        .iter()
        .find(|interface| interface.id == at.2)
        .cloned();
    Ok((instance, config, interface.ok_or(Error::NotFound)?))
}

fn read_change(
    tx: &mut ReadTx,
    caller: &Caller,
    instance: &Instance,
    interface: &Interface,
    request: &Drafted<Change>,
) -> Result<Interface> {
    let (change, mut form) = request.open()?;
    refuse_changes(&mut form, &change.fixed, interface);
    let mut changed = interface.clone();
    match (interface.purpose, &mut changed.vpc) {
        (Purpose::Vpc, Some(vpc)) => {
            if let Some((address, nat)) = change.ipv4 {
                vpc.address = address.unwrap_or(vpc.address);
                if let Some(nat) = nat {
                    vpc.nat_1_1 =
                        TargetInstance::of(instance, &[])
                            .translated(nat)
                            .unwrap_or_else(|reason| {
                                form.refuse("ipv4.nat_1_1", reason);
                                None
                            });
                }
            }
            vpc.ranges = change.ranges.clone().unwrap_or(std::mem::take(&mut vpc.ranges));
            let is_same = interface.vpc.as_ref().is_some_and(|old| {
                (old.address, &old.ranges) == (vpc.address, &vpc.ranges)
                    && change.ipv6.keeps(old.ipv6.as_ref())
            });
            if !is_same && !can_see_vpc(tx, caller, vpc)? {
                let text = "To change ipv4.vpc, ip_ranges or ipv6, you need read access to the VPC";
                form.refuse_whole(Reason::new(Code::SubnetInvalid, text));
            } else if let Some(subnet) = store::subnets::find_without_uses(tx, vpc.subnet)? {
                let on = SubnetTarget {
                    path: "",
                    subnet: &subnet,
                    owner: Some(instance.id),
                };
                on.resolve_ipv4(tx, &mut form, Some(vpc.address), &vpc.ranges)?;
                let ipv6 = on.resolve_ipv6(tx, &mut form, &change.ipv6, vpc.ipv6.as_ref())?;
                vpc.ipv6 = ipv6.flatten();
            }
        }
        _ => {
            if change
                .ipv4
                .is_some_and(|(address, nat)| address.is_some() || nat.is_some_and(|nat| nat != Nat::None))
            {
                let text = "Only an interface with the purpose vpc can have ipv4 settings";
                form.refuse("ipv4", Reason::new(Code::InterfaceField, text));
            }
            if change.ipv6.requests_ipv6() {
                let text = "Only an interface with the purpose vpc can have ipv6 settings";
                form.refuse("ipv6", Reason::new(Code::InterfaceField, text));
            }
            if change.ranges.as_ref().is_some_and(|ranges| !ranges.is_empty()) {
                let text = "Only an interface with the purpose vpc can have ip_ranges";
                form.refuse("ip_ranges", Reason::new(Code::InterfaceField, text));
            }
        }
    }
    changed.primary = change.primary.unwrap_or(interface.primary);
    if interface.purpose == Purpose::Vlan && changed.primary {
        let text = "A VLAN cannot be the primary interface";
        form.refuse("primary", Reason::new(Code::PrimaryInvalid, text));
    }
    form.finish(|| Some(changed))
}

fn can_see_vpc(tx: &mut ReadTx, caller: &Caller, attachment: &VpcAttachment) -> Result<bool> {
    match vpcs::load_without_subnets(tx, caller, attachment.vpc, Permission::ReadOnly) {
        Ok(_) => Ok(true),
        Err(Error::NotFound) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Replaces the interfaces of a config. A new interface that has the purpose, subnet and label of an old
/// interface gets the ID of the old interface. If any old or new interface is attached to a VPC, active
/// interfaces cannot be removed.
pub fn set_all(
    tx: &mut WriteTx,
    instance: &Instance,
    config: &Config,
    new_interfaces: Vec<Interface>,
) -> Result<()> {
    let uses_vpc = config
        .interfaces
        .iter()
        .chain(&new_interfaces)
        .any(|interface| interface.vpc.is_some());
    let mut unmatched = config.interfaces.clone();
    let mut replacements: Vec<(Option<Interface>, Interface)> = Vec::new();
    for interface in new_interfaces {
        let is_replaced = |old: &Interface| {
            let subnet = |interface: &Interface| interface.vpc.as_ref().map(|vpc| vpc.subnet);
            (old.purpose, subnet(old), &old.label)
                == (interface.purpose, subnet(&interface), &interface.label)
        };
        let old = unmatched
            .iter()
            .position(is_replaced)
            .map(|at| unmatched.remove(at));
        replacements.push((old, interface));
    }
    if uses_vpc && unmatched.iter().any(|interface| interface.active) {
        return Err(Error::whole(active_reason(instance, config)));
    }
    for interface in &unmatched {
        remove(tx, interface)?;
    }
    for (position, (old, mut interface)) in replacements.into_iter().enumerate() {
        match old {
            Some(old) => {
                interface.id = old.id;
                replace(tx, instance, position, &old, &interface)?;
            }
            None => drop(insert(tx, instance, config, position, interface)?),
        }
    }
    Ok(())
}

pub fn insert(
    tx: &mut WriteTx,
    instance: &Instance,
    config: &Config,
    position: usize,
    interface: Interface,
) -> Result<InterfaceId> {
    if let Some(vpc) = &interface.vpc {
        addresses::assign(tx, vpc)?;
    }
    Ok(store::interfaces::insert(
        tx,
        instance.id,
        config.id,
        position,
        &interface,
    )?)
}

/// Deletes an interface and releases its addresses.
pub fn remove(tx: &mut WriteTx, interface: &Interface) -> Result<()> {
    if let Some(vpc) = &interface.vpc {
        store::ports::delete(tx, interface.id, vpc.vpc)?;
    }
    store::interfaces::delete(tx, interface.id)?;
    match &interface.vpc {
        Some(vpc) => addresses::release(tx, vpc),
        None => Ok(()),
    }
}

fn replace(
    tx: &mut WriteTx,
    instance: &Instance,
    position: usize,
    old: &Interface,
    new: &Interface,
) -> Result<()> {
    store::interfaces::update(tx, instance.id, position, new)?;
    if let (Some(old), Some(new)) = (&old.vpc, &new.vpc) {
        addresses::release(tx, old)?;
        addresses::assign(tx, new)?;
        store::host_revisions::vpc_changed(tx, new.vpc)?;
    }
    Ok(())
}

fn clear_primary(
    tx: &mut WriteTx,
    instance: &Instance,
    config: &mut Config,
    except: Option<InterfaceId>,
    changes: &mut Changes,
) -> Result<()> {
    for (position, interface) in config.interfaces.iter_mut().enumerate() {
        if interface.primary && Some(interface.id) != except {
            let before = interface.clone();
            interface.primary = false;
            event_changes::add_interface(changes, Some(&before), Some(&*interface));
            store::interfaces::update(tx, instance.id, position, interface)?;
        }
    }
    Ok(())
}

fn position_of(config: &Config, id: InterfaceId) -> usize {
    let position = config.interfaces.iter().position(|interface| interface.id == id);
    position.expect("the interface was found in this config")
}

/// Sets the update time of a config whose interfaces have changed, and records the event.
fn touch(
    tx: &mut WriteTx,
    caller: &Caller,
    instance: &Instance,
    mut config: Config,
    changes: &Changes,
) -> Result<()> {
    config.updated = tx.now_after(config.updated);
    store::configs::update(tx, &config)?;
    let entity = Entity::config(instance.id, config.id, config.label.as_str());
    events::record_instance_update(tx, caller, instance, Some(&entity), changes)
}

fn active_reason(instance: &Instance, config: &Config) -> Reason {
    let text = format!(
        "The interface is active because {} is running with the config \"{}\"; first shut the instance down or reboot it with another config",
        instance.label.as_str(),
        config.label.as_str()
    );
    Reason::new(Code::InterfaceActive, text)
}
