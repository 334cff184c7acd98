//! The address map of a subnet, at different zoom levels.

use std::collections::HashSet;

use crate::model::address_map::{self, Holder, View};
use crate::model::cidr::Cidr;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::subnet::Subnet;
use crate::model::ticket::Ticket;
use crate::model::vpc::Vpc;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::{subnets, ticket_network, vpcs};
use crate::store::{self, ReadTx};

/// A subnet with its VPC, and the map of a part of the subnet.
pub struct SubnetMap {
    pub vpc: Vpc,
    pub subnet: Subnet,
    pub window: Cidr,
    pub view: View,
    /// The holders of the addresses in the window; empty if the view has buckets.
    pub holders: Vec<Holder>,
}

/// The part of a subnet to show.
#[derive(Clone, Copy, Debug)]
pub enum Window {
    Whole,
    Part(Cidr),
    /// Around the address of this interface; the whole subnet if the interface is no longer in it.
    Around(InterfaceId),
}

/// Shows a part of a subnet, or all of it.
pub fn view(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, id: SubnetId, window: Window) -> Result<SubnetMap> {
    let vpc = vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let subnet = subnets::view(tx, caller, (vpc.id, id))?;
    let mut map = load_map(tx, vpc, subnet, window)?;
    hide_labels(tx, caller, &mut map.holders)?;
    Ok(map)
}

/// Shows a subnet that a ticket is about, for staff.
pub fn view_for_staff(tx: &mut ReadTx, ticket: &Ticket, id: SubnetId, window: Window) -> Result<SubnetMap> {
    let vpc = store::subnets::find_without_uses(tx, id)?
        .ok_or(Error::NotFound)?
        .vpc;
    let vpc = ticket_network::find_vpc(tx, ticket, vpc)?.ok_or(Error::NotFound)?;
    let subnet = store::subnets::find(tx, vpc.id, id)?.ok_or(Error::NotFound)?;
    load_map(tx, vpc, subnet, window)
}

fn load_map(tx: &mut ReadTx, vpc: Vpc, subnet: Subnet, window: Window) -> Result<SubnetMap> {
    let id = subnet.id;
    let window = match window {
        Window::Whole => subnet.ipv4,
        Window::Part(part) if subnet.ipv4.contains(part) => part,
        Window::Part(_) => return Err(Error::NotFound),
        Window::Around(interface) => {
            let address = store::interfaces::address_on(tx, id, interface)?;
            address.map_or(subnet.ipv4, |address| {
                address_map::window_around(subnet.ipv4, address)
            })
        }
    };
    let (view, holders) = match address_map::bucket_prefix(window) {
        None => {
            let holders = store::interfaces::holders(tx, id, window.first(), window.last())?;
            (address_map::addresses(subnet.ipv4, window, &holders), holders)
        }
        Some(prefix) => {
            let counts = store::interfaces::counts(tx, id, window, prefix)?;
            let ranges = store::interfaces::ranges(tx, id, window.first(), window.last())?;
            let view = address_map::buckets(subnet.ipv4, window, prefix, &counts, &ranges);
            (view, Vec::new())
        }
    };
    Ok(SubnetMap {
        vpc,
        subnet,
        window,
        view,
        holders,
    })
}

/// Removes the labels of instances that the caller cannot see.
fn hide_labels(tx: &mut ReadTx, caller: &Caller, holders: &mut [Holder]) -> Result<()> {
    let visible = visible(tx, caller)?;
    for holder in holders {
        if !visible.has(holder.instance) {
            holder.instance_label = None;
        }
    }
    Ok(())
}

/// The instances whose labels a caller can see. `None` stands for all instances.
pub struct VisibleInstances(Option<HashSet<i64>>);

impl VisibleInstances {
    pub fn has(&self, instance: InstanceId) -> bool {
        self.0.as_ref().is_none_or(|ids| ids.contains(&instance.0))
    }
}

pub fn visible(tx: &mut ReadTx, caller: &Caller) -> Result<VisibleInstances> {
    if !caller.is_restricted() {
        return Ok(VisibleInstances(None));
    }
    let all = store::grants::list_by_kind(tx, caller.account, caller.user(), GrantKind::Linode)?;
    let granted = all.into_iter().filter(|grant| grant.permission.is_some());
    Ok(VisibleInstances(Some(granted.map(|grant| grant.id).collect())))
}
