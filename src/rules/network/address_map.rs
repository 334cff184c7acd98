//! The address map of a subnet, at different zoom levels.

use std::collections::HashSet;

use crate::model::address_map::{self, Holder, View};
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::family::{Family, V6};
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::network_map::{self, NetworkHolder, NetworkView};
use crate::model::subnet::Subnet;
use crate::model::ticket::Ticket;
use crate::model::vpc::Vpc;
use crate::rules::addresses::Usage;
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
    /// `None` if the subnet has no IPv6 range.
    pub ipv6: Option<NetworkMap>,
}

/// The map of a part of a subnet's IPv6 range.
pub struct NetworkMap {
    pub range: Cidr6,
    pub window: Cidr6,
    pub view: NetworkView,
    /// The holders of the networks in the window; empty if the view has blocks.
    pub holders: Vec<NetworkHolder>,
    /// The usage of the whole subnet.
    pub usage: Usage,
}

/// The parts of a subnet to show, in both families.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    pub ipv4: Window,
    /// `None` for the whole IPv6 range.
    pub ipv6: Option<Cidr6>,
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
pub fn view(
    tx: &mut ReadTx,
    caller: &Caller,
    vpc: VpcId,
    id: SubnetId,
    windows: Windows,
) -> Result<SubnetMap> {
    let vpc = vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let subnet = subnets::view(tx, caller, (vpc.id, id))?;
    let mut map = load_map(tx, vpc, subnet, windows)?;
    let visible = visible(tx, caller)?;
    let networks = map.ipv6.iter_mut().flat_map(|map| &mut map.holders);
    let in_ipv6 = networks.map(|holder| (holder.instance, &mut holder.instance_label));
    let in_ipv4 = map
        .holders
        .iter_mut()
        .map(|holder| (holder.instance, &mut holder.instance_label));
    for (instance, label) in in_ipv4.chain(in_ipv6) {
        if !visible.has(instance) {
            *label = None;
        }
    }
    Ok(map)
}

/// Shows a subnet that a ticket is about, for staff.
pub fn view_for_staff(tx: &mut ReadTx, ticket: &Ticket, id: SubnetId, windows: Windows) -> Result<SubnetMap> {
    let vpc = store::subnets::find_without_uses(tx, id)?
        .ok_or(Error::NotFound)?
        .vpc;
    let vpc = ticket_network::find_vpc(tx, ticket, vpc)?.ok_or(Error::NotFound)?;
    let subnet = store::subnets::find(tx, vpc.id, id)?.ok_or(Error::NotFound)?;
    load_map(tx, vpc, subnet, windows)
}

fn load_map(tx: &mut ReadTx, vpc: Vpc, subnet: Subnet, windows: Windows) -> Result<SubnetMap> {
    let id = subnet.id;
    let window = match windows.ipv4 {
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
    let ipv6 = load_network_map(tx, &subnet, windows.ipv6)?;
    Ok(SubnetMap {
        ipv6,
        vpc,
        subnet,
        window,
        view,
        holders,
    })
}

fn load_network_map(tx: &mut ReadTx, subnet: &Subnet, window: Option<Cidr6>) -> Result<Option<NetworkMap>> {
    let Some(range) = subnet.ipv6 else {
        return match window {
            Some(_) => Err(Error::NotFound),
            None => Ok(None),
        };
    };
    let window = window.unwrap_or(range);
    if !range.contains(window) || window.prefix() > V6::UNIT_PREFIX {
        return Err(Error::NotFound);
    }
    let used = store::interface_ranges::used_networks(tx, subnet.id)?;
    let (view, holders) = match network_map::block_prefix(window) {
        None => {
            let holders = store::interface_ranges::network_holders(tx, subnet.id, window)?;
            (network_map::networks(range, window, &holders), holders)
        }
        Some(prefix) => (network_map::blocks(range, window, prefix, &used), Vec::new()),
    };
    let usage = Usage {
        used: used.len() as u64,
        all: network_map::usable_networks(range, range),
    };
    Ok(Some(NetworkMap {
        range,
        window,
        view,
        holders,
        usage,
    }))
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
