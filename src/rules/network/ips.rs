//! Addresses of instances outside of VPCs: list, view, allocate, set reverse DNS, release.

mod draft;

use std::net::Ipv4Addr;

use crate::model::event::Action;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::InstanceId;
use crate::model::instance::Instance;
use crate::model::ip::{Hostname, Ip, IpKind, PRIVATE_ADDRESSES};
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events;
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::loading::{self, instance_for};
use crate::rules::request::{Drafted, Request};
use crate::store::{self, ReadTx, WriteTx};

pub use draft::{Addition, Allocation};

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Ip>> {
    let query = list.read(tx.policy(), &store::ips::FIELDS)?;
    Ok(store::ips::list(tx, caller.account, caller.visibility(), &query)?)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, address: Ipv4Addr) -> Result<Ip> {
    let found = store::ips::find(tx, caller.account, caller.visibility(), address.to_bits())?;
    found.ok_or(Error::NotFound)
}

/// Sets the reverse DNS name of an address.
pub fn update(tx: &mut WriteTx, caller: &Caller, address: Ipv4Addr, request: &Request) -> Result<Ip> {
    let ip = load_for(tx, caller, address, Permission::ReadWrite)?;
    set_rdns(tx, caller, ip, request)
}

/// Allocates an address to the instance that the body names.
pub fn allocate(tx: &mut WriteTx, caller: &Caller, request: &Drafted<Allocation>) -> Result<Ip> {
    let (draft, mut form) = request.open()?;
    let instance = match draft.instance {
        Some((field, id)) => named_instance(tx, caller, &mut form, field, id)?,
        None => None,
    };
    if let (Some(region), Some(instance)) = (&draft.region, &instance)
        && *region != instance.region
    {
        let text = "Region passed in must match Linode's region.";
        form.refuse("region", Reason::new(Code::RegionInvalid, text));
    }
    let kind = draft.kind;
    form.finish(|| Some(()))?;
    let (instance, kind) = instance.zip(kind).ok_or(Error::NotFound)?;
    add(tx, caller, &instance, kind)
}

/// Allocates an address to an instance.
pub fn add_to_instance(
    tx: &mut WriteTx,
    caller: &Caller,
    id: InstanceId,
    request: &Drafted<Addition>,
) -> Result<Ip> {
    let instance = instance_for(tx, caller, id, Permission::ReadWrite)?;
    let (draft, mut form) = request.open()?;
    if let Some(address) = draft.address {
        // Only a reserved address could be assigned, and Garth has no reserved addresses.
        view(tx, caller, address)?;
        let text = "Address must be reserved and must be currently unassigned.";
        form.refuse("address", Reason::new(Code::AddressTaken, text));
    }
    let kind = form.finish(|| draft.kind)?;
    add(tx, caller, &instance, kind)
}

pub fn view_of_instance(tx: &mut ReadTx, caller: &Caller, at: (InstanceId, Ipv4Addr)) -> Result<Ip> {
    instance_for(tx, caller, at.0, Permission::ReadOnly)?;
    let ip = view(tx, caller, at.1)?;
    match ip.instance == at.0 {
        true => Ok(ip),
        false => Err(Error::NotFound),
    }
}

pub fn update_of_instance(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, Ipv4Addr),
    request: &Request,
) -> Result<Ip> {
    let ip = load_for_change(tx, caller, at)?;
    set_rdns(tx, caller, ip, request)
}

/// Releases an address of an instance. The last public address cannot be released.
pub fn remove(
    tx: &mut WriteTx,
    caller: &Caller,
    at: (InstanceId, Ipv4Addr),
    request: &Request,
) -> Result<()> {
    let ip = load_for_change(tx, caller, at)?;
    request.check_if_match(&ip)?;
    request.require_valid_body()?;
    let instance = loading::instance(tx, caller, ip.instance)?;
    if ip.kind == IpKind::Public && instance.ipv4.len() <= 1 {
        let text = "An instance keeps at least one public IPv4 address; add another one first";
        return Err(Error::refused(Code::AddressLast, text));
    }
    if store::ips::is_translated(tx, &ip)? {
        let text = "A VPC interface uses the address for 1:1 NAT; change its nat_1_1 first";
        return Err(Error::refused(Code::AddressInUse, text));
    }
    store::ips::release(tx, &ip)?;
    events::record_instance(tx, caller, Action::InstanceDeleteIp, &instance, None)
}

/// A free public address of the provider. The address of a host is not free, because packets to it must reach the host.
pub fn free_public(tx: &mut ReadTx) -> Result<Option<u32>> {
    for range in tx.policy().public_ranges.clone() {
        // The first address is the network, the second the gateway, the last the broadcast address.
        let (mut first, last) = (range.first() + 2, range.last() - 1);
        while let Some(address) = store::ips::find_free(tx, first, last)? {
            if !store::hosts::has_address(tx, address)? {
                return Ok(Some(address));
            }
            first = address + 1;
            if first > last {
                break;
            }
        }
    }
    Ok(None)
}

/// A free address of the private network.
pub fn free_private(tx: &mut ReadTx) -> Result<Option<u32>> {
    let (first, last) = PRIVATE_ADDRESSES;
    Ok(store::ips::find_free(tx, first, last)?)
}

/// The address, if the caller has this permission on the instance of the address.
fn load_for(tx: &mut ReadTx, caller: &Caller, address: Ipv4Addr, access: Permission) -> Result<Ip> {
    let ip = view(tx, caller, address)?;
    caller.require_permission(tx, GrantKind::Linode, ip.instance.0, access)?;
    Ok(ip)
}

fn load_for_change(tx: &mut ReadTx, caller: &Caller, at: (InstanceId, Ipv4Addr)) -> Result<Ip> {
    // Look up the address before the write permission is checked: a missing address is 404, not 403.
    let ip = view_of_instance(tx, caller, at)?;
    caller.require_permission(tx, GrantKind::Linode, at.0.0, Permission::ReadWrite)?;
    Ok(ip)
}

/// The instance that a field names. Adds an error if the caller cannot see the instance.
fn named_instance(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    field: &'static str,
    id: i64,
) -> Result<Option<Instance>> {
    match instance_for(tx, caller, InstanceId(id), Permission::ReadWrite) {
        Ok(instance) => Ok(Some(instance)),
        Err(Error::NotFound) => {
            form.refuse(field, Reason::new(Code::InstanceInvalid, "Linode is not active"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn add(tx: &mut WriteTx, caller: &Caller, instance: &Instance, kind: IpKind) -> Result<Ip> {
    let address = match kind {
        IpKind::Public => add_public(tx, caller, instance)?,
        IpKind::Private => add_private(tx, instance)?,
    };
    events::record_instance(tx, caller, Action::InstanceAddIp, instance, None)?;
    view(tx, caller, Ipv4Addr::from_bits(address))
}

fn add_public(tx: &mut WriteTx, caller: &Caller, instance: &Instance) -> Result<u32> {
    let limit = tx.policy().additional_addresses;
    if store::ips::count_additional(tx, caller.account)? >= limit {
        let text = format!(
            "You may have at most {limit} public addresses in addition to one for each instance; contact support for more"
        );
        return Err(Error::refused(Code::QuotaExceeded, text));
    }
    let address = free_public(tx)?.ok_or_else(exhausted)?;
    store::ips::take_additional(tx, caller.account, instance.id, address)?;
    Ok(address)
}

fn add_private(tx: &mut WriteTx, instance: &Instance) -> Result<u32> {
    if !instance.private_ipv4.is_empty() {
        let text = "The instance already has a private IPv4 address; it can have only one";
        return Err(Error::refused(Code::QuotaExceeded, text));
    }
    let address = free_private(tx)?.ok_or_else(exhausted)?;
    store::ips::take_private(tx, instance.id, address)?;
    Ok(address)
}

fn exhausted() -> Error {
    Error::refused(Code::AddressesExhausted, "The provider has no free address")
}

fn set_rdns(tx: &mut WriteTx, caller: &Caller, mut ip: Ip, request: &Request) -> Result<Ip> {
    request.check_if_match(&ip)?;
    let mut form = request.form()?;
    let clears_rdns = form.is_null("rdns");
    let rdns = form.optional("rdns", Hostname::parse);
    if form.boolean("reserved") == Some(true) {
        draft::refuse_reserved(&mut form);
    }
    if ip.kind == IpKind::Private && rdns.is_some() {
        let text = "Only a public address can have a reverse DNS name";
        form.refuse("rdns", Reason::new(Code::RdnsInvalid, text));
    }
    form.finish(|| Some(()))?;
    ip.rdns = match clears_rdns {
        true => None,
        false => rdns.or(ip.rdns),
    };
    store::ips::set_rdns(tx, &ip)?;
    let instance = loading::instance(tx, caller, ip.instance)?;
    events::record_instance(tx, caller, Action::IpUpdate, &instance, None)?;
    Ok(ip)
}
