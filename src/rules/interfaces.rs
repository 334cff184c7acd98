//! Interfaces of a config: what attaches an instance to a subnet.
//!
//! An interface is read twice: by itself (`Draft`), and against the subnet it names (`resolve`).
//! Complaints of both are kept together, under the name the caller knows the interface by.

use super::caller::Caller;
use super::error::{Error, FieldError, Result};
use super::form::{Form, short_text};
use super::lists::ListRequest;
use super::request::Request;
use super::{addresses, configs, events, vpcs};
use crate::model::cidr::Cidr;
use crate::model::config::Config;
use crate::model::event::{Action, Entity};
use crate::model::grant::Permission;
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId};
use crate::model::input::Input;
use crate::model::instance::Instance;
use crate::model::interface::{Interface, Purpose, VpcAttachment, parse_address, write_address};
use crate::model::reason::{Code, Reason};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::store::{self, ReadTx, WriteTx};

/// How many interfaces a config has at most.
pub const MOST: usize = 3;

/// Where a path leads: instance, config, interface.
pub type Place = (InstanceId, ConfigId, InterfaceId);

pub fn list(
    tx: &mut ReadTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    _: &ListRequest,
) -> Result<Vec<Interface>> {
    Ok(configs::load_for(tx, caller, at, Permission::ReadOnly)?
        .1
        .interfaces)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, at: Place) -> Result<Interface> {
    Ok(load_for(tx, caller, at, Permission::ReadOnly)?.2)
}

/// Adds an interface behind those that are there.
pub fn create(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    request: &Request,
) -> Result<Interface> {
    let (instance, mut config) = configs::load_for(tx, caller, at, Permission::ReadWrite)?;
    let mut form = request.form()?;
    let draft = read_draft(&mut form);
    refuse_beside(&mut form, &draft, &config.interfaces);
    let new = resolve(tx, caller, &mut form, &draft, &Site::of(&instance, &[]))?;
    let new = form.finish(|| new)?;

    if new.primary {
        clear_primary(tx, &instance, &mut config, None)?;
    }
    let id = insert(tx, &instance, &config, config.interfaces.len(), new)?;
    touch(tx, caller, &instance, config)?;
    view(tx, caller, (at.0, at.1, id))
}

pub fn update(tx: &mut WriteTx, caller: &Caller, at: Place, request: &Request) -> Result<Interface> {
    let (instance, mut config, interface) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.unchanged(&interface)?;
    let changed = read_change(tx, &instance, &interface, request)?;

    if changed.primary && !interface.primary {
        clear_primary(tx, &instance, &mut config, Some(interface.id))?;
    }
    let place = place_of(&config, interface.id);
    replace(tx, &instance, place, &interface, &changed)?;
    touch(tx, caller, &instance, config)?;
    view(tx, caller, at)
}

pub fn delete(tx: &mut WriteTx, caller: &Caller, at: Place, request: &Request) -> Result<()> {
    let (instance, config, interface) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.unchanged(&interface)?;
    request.asks_nothing()?;
    if interface.active {
        return Err(refused(active(&instance, &config)));
    }
    remove(tx, &interface)?;
    touch(tx, caller, &instance, config)
}

/// Puts the interfaces of a config into the order of `ids`, which names each once.
pub fn order(tx: &mut WriteTx, caller: &Caller, at: (InstanceId, ConfigId), request: &Request) -> Result<()> {
    let (instance, config) = configs::load_for(tx, caller, at, Permission::ReadWrite)?;
    request.unchanged(&config)?;
    let mut form = request.form()?;
    let ids = form.values("ids", "an integer", |item| match item {
        Input::Integer(id) => Some(Ok(InterfaceId(*id))),
        _ => None,
    });
    let mut wanted = ids.clone().unwrap_or_default();
    wanted.sort_unstable();
    let mut present: Vec<_> = config.interfaces.iter().map(|interface| interface.id).collect();
    present.sort_unstable();
    if !form.has("ids") {
        form.refuse("ids", Reason::new(Code::Required, "ids is required"));
    } else if ids.is_some() && wanted != present {
        let text = "Must name each interface of the config once";
        form.refuse("ids", Reason::new(Code::OrderInvalid, text));
    }
    let ids = form.finish(|| ids)?;
    if config.interfaces.iter().any(|interface| interface.active) {
        return Err(refused(active(&instance, &config)));
    }
    for (place, id) in ids.iter().enumerate() {
        let interface = config.interfaces.iter().find(|interface| interface.id == *id);
        let interface = interface.expect("the ids are those of the config's interfaces");
        store::interfaces::update(tx, instance.id, place, interface)?;
    }
    Ok(())
}

fn load_for(
    tx: &mut ReadTx,
    caller: &Caller,
    at: Place,
    access: Permission,
) -> Result<(Instance, Config, Interface)> {
    let (instance, config) = configs::load_for(tx, caller, (at.0, at.1), access)?;
    let interface = config
        .interfaces
        .iter()
        .find(|interface| interface.id == at.2)
        .cloned();
    Ok((instance, config, interface.ok_or(Error::NotFound)?))
}

/// What a caller wrote of an interface, as far as it could be read.
pub struct Draft {
    /// What stands before the names of its fields.
    path: String,
    purpose: Option<Purpose>,
    primary: bool,
    label: Option<String>,
    ipam_address: Option<String>,
    subnet: Option<SubnetId>,
    /// Whether it names a subnet at all, be it well or badly written.
    names_subnet: bool,
    address: Option<u32>,
    nat: Nat,
    ranges: Vec<Cidr>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nat {
    None,
    Any,
    Address(u32),
}

pub fn read_draft(form: &mut Form) -> Draft {
    let path = form.path("");
    let purpose = form.required("purpose", Purpose::parse);
    let primary = form.truth("primary").unwrap_or(false);
    let label = form
        .optional("label", short_text)
        .filter(|label| !label.is_empty());
    let ipam_address = form
        .optional("ipam_address", short_text)
        .filter(|address| !address.is_empty());
    let names_subnet = form.has("subnet_id");
    let subnet = form.integer("subnet_id").map(SubnetId);
    let (address, nat) = read_ipv4(form).unwrap_or((None, Nat::None));
    let ranges = read_ranges(form).unwrap_or_default();
    let draft = Draft {
        path,
        purpose,
        primary,
        label,
        ipam_address,
        subnet,
        names_subnet,
        address,
        nat,
        ranges,
    };
    refuse_misfits(form, &draft);
    draft
}

fn read_ipv4(form: &mut Form) -> Option<(Option<u32>, Nat)> {
    form.within("ipv4", |form| {
        let given = |raw: &str| match raw {
            "" => Ok(None),
            raw => parse_address(raw).map(Some),
        };
        let address = form.optional("vpc", given).flatten();
        let nat = form.optional("nat_1_1", |raw| match raw {
            "" => Ok(Nat::None),
            "any" => Ok(Nat::Any),
            raw => parse_address(raw).map(Nat::Address),
        });
        (address, nat.unwrap_or(Nat::None))
    })
}

fn read_ranges(form: &mut Form) -> Option<Vec<Cidr>> {
    form.values("ip_ranges", "a string", |item| match item {
        Input::Text(raw) => Some(Cidr::parse(raw)),
        _ => None,
    })
}

/// Complains of what an interface of its purpose cannot have, or lacks.
fn refuse_misfits(form: &mut Form, draft: &Draft) {
    let Some(purpose) = draft.purpose else { return };
    let mut refuse = |name: &str, code: Code, text: &str| {
        form.refuse(format!("{}{name}", draft.path), Reason::new(code, text));
    };
    match purpose {
        Purpose::Vlan => {
            let length = draft.label.as_ref().map_or(0, |label| label.chars().count());
            if !(1..=64).contains(&length) {
                refuse(
                    "label",
                    Code::LabelLength,
                    "The label of a VLAN must be between 1 and 64 characters",
                );
            }
            if draft.primary {
                refuse(
                    "primary",
                    Code::PrimaryInvalid,
                    "A VLAN cannot be the primary interface",
                );
            }
        }
        Purpose::Public | Purpose::Vpc => {
            if draft.label.is_some() {
                refuse("label", Code::InterfaceField, "Only a VLAN has a label");
            }
            if draft.ipam_address.is_some() {
                refuse(
                    "ipam_address",
                    Code::InterfaceField,
                    "Only a VLAN has an ipam_address",
                );
            }
        }
    }
    match (purpose, draft.subnet) {
        (Purpose::Vpc, None) if !draft.names_subnet => {
            refuse("subnet_id", Code::Required, "subnet_id is required")
        }
        (Purpose::Public | Purpose::Vlan, Some(_)) => {
            refuse(
                "subnet_id",
                Code::InterfaceField,
                "Only an interface of the purpose vpc has a subnet",
            );
        }
        _ => {}
    }
    if purpose != Purpose::Vpc {
        if draft.address.is_some() || draft.nat != Nat::None {
            refuse(
                "ipv4",
                Code::InterfaceField,
                "Only an interface of the purpose vpc has ipv4 settings",
            );
        }
        if !draft.ranges.is_empty() {
            refuse(
                "ip_ranges",
                Code::InterfaceField,
                "Only an interface of the purpose vpc has ip_ranges",
            );
        }
    }
}

/// Complains of what interfaces of one config may not be together.
pub fn refuse_together(form: &mut Form, drafts: &[Option<Draft>]) {
    if drafts.len() > MOST {
        let text = format!("A config has at most {MOST} interfaces");
        form.refuse("interfaces", Reason::new(Code::InterfaceCount, text));
    }
    for (at, draft) in drafts.iter().enumerate() {
        let Some(draft) = draft else { continue };
        let earlier = || drafts[..at].iter().flatten();
        let same = earlier().any(|other| other.purpose == draft.purpose);
        refuse_second(form, draft, same);
        if draft.primary && earlier().any(|other| other.primary) {
            let text = "Only one interface of a config can be primary";
            form.refuse(
                format!("{}primary", draft.path),
                Reason::new(Code::PrimaryInvalid, text),
            );
        }
    }
}

fn refuse_beside(form: &mut Form, draft: &Draft, present: &[Interface]) {
    if present.len() >= MOST {
        let text = format!("A config has at most {MOST} interfaces");
        form.refuse_whole(Reason::new(Code::InterfaceCount, text));
    }
    let same = present.iter().any(|other| Some(other.purpose) == draft.purpose);
    refuse_second(form, draft, same);
}

/// A config has one interface to the public network and one to a VPC.
fn refuse_second(form: &mut Form, draft: &Draft, same: bool) {
    let text = match draft.purpose {
        Some(Purpose::Public) if same => "A config has at most one public interface",
        Some(Purpose::Vpc) if same => "A config has at most one vpc interface",
        _ => return,
    };
    form.refuse(
        format!("{}purpose", draft.path),
        Reason::new(Code::InterfaceCount, text),
    );
}

/// Where an interface is to be.
pub struct Site<'a> {
    /// `None` for an instance that is made with it.
    pub owner: Option<InstanceId>,
    pub region: &'a str,
    /// The public addresses of the instance.
    pub public: &'a [u32],
    /// The interfaces that are there: one that stays keeps its address.
    pub present: &'a [Interface],
}

impl<'a> Site<'a> {
    pub fn of(instance: &'a Instance, present: &'a [Interface]) -> Self {
        Self {
            owner: Some(instance.id),
            region: &instance.region,
            public: &instance.ipv4,
            present,
        }
    }

    fn address_in(&self, subnet: SubnetId) -> Option<u32> {
        let attachments = self.present.iter().filter_map(|interface| interface.vpc.as_ref());
        attachments
            .filter(|vpc| vpc.subnet == subnet)
            .map(|vpc| vpc.address)
            .next()
    }

    /// The public address that is to be translated; `Err` if the instance has no such address.
    fn translated(&self, nat: Nat) -> Result<Option<u32>, Reason> {
        match nat {
            Nat::None => Ok(None),
            Nat::Any => Ok(self.public.first().copied()),
            Nat::Address(address) if self.owner.is_some() && self.public.contains(&address) => {
                Ok(Some(address))
            }
            Nat::Address(_) => {
                let text = "Must be \"any\" or a public address of the instance";
                Err(Reason::new(Code::NatInvalid, text))
            }
        }
    }
}

/// The interface a draft stands for; `None` if a complaint was kept.
pub fn resolve(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    draft: &Draft,
    on: &Site,
) -> Result<Option<Interface>> {
    let Some(purpose) = draft.purpose else {
        return Ok(None);
    };
    let plain = Interface {
        id: InterfaceId(0),
        purpose,
        primary: draft.primary,
        active: false,
        label: draft.label.clone(),
        ipam_address: (purpose == Purpose::Vlan).then(|| draft.ipam_address.clone().unwrap_or_default()),
        vpc: None,
    };
    let (Purpose::Vpc, Some(subnet)) = (purpose, draft.subnet) else {
        return Ok(Some(plain));
    };
    let Some((subnet, vpc)) = find_subnet(tx, caller, subnet)? else {
        let reason = Reason::new(Code::SubnetInvalid, "subnet_id is not valid");
        form.refuse(format!("{}subnet_id", draft.path), reason);
        return Ok(None);
    };
    let (region, vpc_region) = (on.region, &vpc.region.0);
    if vpc_region != region {
        let text =
            format!("The VPC is in {vpc_region} and the instance in {region}: they must be in one region");
        form.refuse(
            format!("{}subnet_id", draft.path),
            Reason::new(Code::SubnetInvalid, text),
        );
    }
    let nat_1_1 = on.translated(draft.nat).unwrap_or_else(|reason| {
        form.refuse(format!("{}ipv4.nat_1_1", draft.path), reason);
        None
    });
    let address = draft.address.or_else(|| on.address_in(subnet.id));
    let wish = Wish {
        path: &draft.path,
        address,
        ranges: &draft.ranges,
    };
    let Some(address) = settle_addresses(tx, form, &subnet, on.owner, wish)? else {
        return Ok(None);
    };
    let attachment = VpcAttachment {
        vpc: vpc.id,
        subnet: subnet.id,
        address,
        nat_1_1,
        ranges: draft.ranges.clone(),
    };
    Ok(Some(Interface {
        vpc: Some(attachment),
        ..plain
    }))
}

/// The addresses an interface is to have.
struct Wish<'a> {
    path: &'a str,
    address: Option<u32>,
    ranges: &'a [Cidr],
}

/// The address an interface gets: the one it asks for, or the lowest that is free.
fn settle_addresses(
    tx: &mut ReadTx,
    form: &mut Form,
    subnet: &Subnet,
    owner: Option<InstanceId>,
    wish: Wish,
) -> Result<Option<u32>> {
    let assignable = subnet.ipv4.assignable();
    let inside = |first: u32, last: u32| assignable.contains(&first) && assignable.contains(&last);
    let good = std::cell::Cell::new(true);
    let mut refuse = |field: String, code: Code, text: String| {
        form.refuse(field, Reason::new(code, text));
        good.set(false);
    };
    for (at, range) in wish.ranges.iter().enumerate() {
        let field = format!("{}ip_ranges[{at}]", wish.path);
        if !inside(range.first(), range.last()) {
            let text = format!(
                "Must be inside {} without its first two and last two addresses",
                subnet.ipv4
            );
            refuse(field, Code::RangeInvalid, text);
        } else if wish.ranges[..at].iter().any(|other| other.overlaps(*range)) {
            refuse(
                field,
                Code::RangeInvalid,
                format!("{range} overlaps another of the ranges"),
            );
        } else if wish
            .address
            .is_some_and(|address| range.first() <= address && address <= range.last())
        {
            refuse(
                field,
                Code::RangeInvalid,
                format!("{range} holds the interface's own address"),
            );
        } else if !addresses::is_free_for(tx, subnet.id, owner, range.first(), range.last())? {
            refuse(
                field,
                Code::AddressTaken,
                format!("{range} is used by another instance"),
            );
        }
    }
    let field = format!("{}ipv4.vpc", wish.path);
    let address = match wish.address {
        Some(address) if !inside(address, address) => {
            let (first, last) = (
                write_address(*assignable.start()),
                write_address(*assignable.end()),
            );
            refuse(
                field,
                Code::AddressInvalid,
                format!("Must be from {first} to {last}"),
            );
            None
        }
        Some(address) if !addresses::is_free_for(tx, subnet.id, owner, address, address)? => {
            let text = format!("{} is used by another instance", write_address(address));
            refuse(field, Code::AddressTaken, text);
            None
        }
        Some(address) => Some(address),
        None if !good.get() => None,
        None => {
            let lowest = addresses::lowest_free(tx, subnet.id, wish.ranges)?;
            if lowest.is_none() {
                let text = format!("No address of {} is free", subnet.ipv4);
                refuse(field, Code::AddressesExhausted, text);
            }
            lowest
        }
    };
    Ok(address.filter(|_| good.get()))
}

/// A subnet the caller may see, with its VPC.
fn find_subnet(tx: &mut ReadTx, caller: &Caller, id: SubnetId) -> Result<Option<(Subnet, Vpc)>> {
    let Some(subnet) = store::subnets::find_alone(tx, id)? else {
        return Ok(None);
    };
    match vpcs::load_alone_for(tx, caller, subnet.vpc, Permission::ReadOnly) {
        Ok(vpc) => Ok(Some((subnet, vpc))),
        Err(Error::NotFound) => Ok(None),
        Err(other) => Err(other),
    }
}

fn read_change(
    tx: &mut ReadTx,
    instance: &Instance,
    interface: &Interface,
    request: &Request,
) -> Result<Interface> {
    let mut form = request.form()?;
    let primary = form.truth("primary");
    let ipv4 = read_ipv4(&mut form);
    let ranges = read_ranges(&mut form);
    let mut changed = interface.clone();
    match (interface.purpose, &mut changed.vpc) {
        (Purpose::Vlan, _) => {
            let reason = Reason::new(Code::InterfaceField, "The interface of a VLAN cannot be changed");
            form.refuse_whole(reason);
        }
        (Purpose::Vpc, Some(vpc)) => {
            if let Some((address, nat)) = ipv4 {
                vpc.address = address.unwrap_or(vpc.address);
                vpc.nat_1_1 = Site::of(instance, &[]).translated(nat).unwrap_or_else(|reason| {
                    form.refuse("ipv4.nat_1_1", reason);
                    None
                });
            }
            vpc.ranges = ranges.unwrap_or(std::mem::take(&mut vpc.ranges));
            if let Some(subnet) = store::subnets::find_alone(tx, vpc.subnet)? {
                let wish = Wish {
                    path: "",
                    address: Some(vpc.address),
                    ranges: &vpc.ranges,
                };
                settle_addresses(tx, &mut form, &subnet, Some(instance.id), wish)?;
            }
        }
        _ => {
            if ipv4.is_some_and(|(address, nat)| address.is_some() || nat != Nat::None) {
                let text = "Only an interface of the purpose vpc has ipv4 settings";
                form.refuse("ipv4", Reason::new(Code::InterfaceField, text));
            }
            if ranges.is_some_and(|ranges| !ranges.is_empty()) {
                let text = "Only an interface of the purpose vpc has ip_ranges";
                form.refuse("ip_ranges", Reason::new(Code::InterfaceField, text));
            }
        }
    }
    changed.primary = primary.unwrap_or(interface.primary);
    form.finish(|| Some(changed))
}

/// Makes the interfaces of a config be these: those that stay keep their ids and, unless they ask
/// for others, their addresses.
pub fn set_all(tx: &mut WriteTx, instance: &Instance, config: &Config, wanted: Vec<Interface>) -> Result<()> {
    let mut left = config.interfaces.clone();
    let mut kept: Vec<(Option<Interface>, Interface)> = Vec::new();
    for interface in wanted {
        let same = |other: &Interface| {
            let subnet = |interface: &Interface| interface.vpc.as_ref().map(|vpc| vpc.subnet);
            (other.purpose, subnet(other), &other.label)
                == (interface.purpose, subnet(&interface), &interface.label)
        };
        let old = left.iter().position(same).map(|at| left.remove(at));
        kept.push((old, interface));
    }
    if left.iter().any(|interface| interface.active) {
        return Err(refused(active(instance, config)));
    }
    for interface in &left {
        remove(tx, interface)?;
    }
    for (place, (old, mut interface)) in kept.into_iter().enumerate() {
        match old {
            Some(old) => {
                interface.id = old.id;
                replace(tx, instance, place, &old, &interface)?;
            }
            None => drop(insert(tx, instance, config, place, interface)?),
        }
    }
    Ok(())
}

pub fn insert(
    tx: &mut WriteTx,
    instance: &Instance,
    config: &Config,
    place: usize,
    interface: Interface,
) -> Result<InterfaceId> {
    if let Some(vpc) = &interface.vpc {
        addresses::take(tx, vpc)?;
    }
    Ok(store::interfaces::insert(
        tx,
        instance.id,
        config.id,
        place,
        &interface,
    )?)
}

/// Removes an interface that is not active, and frees what it had.
pub fn remove(tx: &mut WriteTx, interface: &Interface) -> Result<()> {
    store::interfaces::delete(tx, interface.id)?;
    match &interface.vpc {
        Some(vpc) => addresses::give_back(tx, vpc),
        None => Ok(()),
    }
}

fn replace(
    tx: &mut WriteTx,
    instance: &Instance,
    place: usize,
    old: &Interface,
    new: &Interface,
) -> Result<()> {
    store::interfaces::update(tx, instance.id, place, new)?;
    if let (Some(old), Some(new)) = (&old.vpc, &new.vpc) {
        addresses::give_back(tx, old)?;
        addresses::take(tx, new)?;
    }
    Ok(())
}

fn clear_primary(
    tx: &mut WriteTx,
    instance: &Instance,
    config: &mut Config,
    except: Option<InterfaceId>,
) -> Result<()> {
    for (place, interface) in config.interfaces.iter_mut().enumerate() {
        if interface.primary && Some(interface.id) != except {
            interface.primary = false;
            store::interfaces::update(tx, instance.id, place, interface)?;
        }
    }
    Ok(())
}

fn place_of(config: &Config, id: InterfaceId) -> usize {
    let place = config.interfaces.iter().position(|interface| interface.id == id);
    place.expect("an interface that was found in a config is in it")
}

/// A change to an interface is a change to its config.
fn touch(tx: &mut WriteTx, caller: &Caller, instance: &Instance, mut config: Config) -> Result<()> {
    config.updated = tx.now();
    store::configs::update(tx, &config)?;
    let entity = Entity::config(instance.id, config.id, config.label.as_str());
    events::record_instance(tx, caller, Action::ConfigUpdate, instance, Some(&entity))
}

fn active(instance: &Instance, config: &Config) -> Reason {
    let text = format!(
        "{} runs with the config {}: shut it down, or boot another config, first",
        instance.label.as_str(),
        config.label.as_str()
    );
    Reason::new(Code::InterfaceActive, text)
}

fn refused(reason: Reason) -> Error {
    Error::Refused(vec![FieldError::whole(reason)])
}
