//! Addresses and ranges of VPC interfaces (interface §2.3).

use std::collections::HashMap;

use crate::model::grant::Permission;
use crate::model::id::{InterfaceId, VpcId};
use crate::model::instance::Instance;
use crate::model::network_map::NetworkHolder;
use crate::model::page::Paged;
use crate::model::vpc_ip::{VpcIp, VpcIpv6};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::rules::vpcs;
use crate::store::vpc_ips::{FIELDS, FIELDS6, Scope};
use crate::store::{self, ReadTx};

/// All addresses of the account that the caller can see.
pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<VpcIp>> {
    page(tx, caller, Scope::All, list)
}

pub fn of_vpc(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, list: &ListRequest) -> Result<Paged<VpcIp>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    page(tx, caller, Scope::Vpc(vpc), list)
}

/// All IPv6 networks of the account that the caller can see.
/// The first addresses of these instances.
pub fn of_instances(tx: &mut ReadTx, caller: &Caller, instances: &[Instance]) -> Result<Vec<VpcIp>> {
    if instances.is_empty() {
        return Ok(Vec::new());
    }
    let of_instance = |instance: &Instance| Condition::equal("linode_id", instance.id.0);
    let any = Condition::Any(instances.iter().map(of_instance).collect());
    Ok(list(tx, caller, &ListRequest::full_page().only(any))?.items)
}

pub fn list_ipv6(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<VpcIpv6>> {
    ipv6_page(tx, caller, Scope::All, list)
}

pub fn ipv6_of_vpc(
    tx: &mut ReadTx,
    caller: &Caller,
    vpc: VpcId,
    list: &ListRequest,
) -> Result<Paged<VpcIpv6>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    ipv6_page(tx, caller, Scope::Vpc(vpc), list)
}

fn page(tx: &mut ReadTx, caller: &Caller, scope: Scope, list: &ListRequest) -> Result<Paged<VpcIp>> {
    let query = list.read(tx.policy(), &FIELDS)?;
    let (account, visibility) = (caller.account, caller.visibility());
    Ok(store::vpc_ips::list(tx, account, visibility, scope, &query)?)
}

fn ipv6_page(tx: &mut ReadTx, caller: &Caller, scope: Scope, list: &ListRequest) -> Result<Paged<VpcIpv6>> {
    let query = list.read(tx.policy(), &FIELDS6)?;
    let (account, visibility) = (caller.account, caller.visibility());
    Ok(store::vpc_ips::list6(tx, account, visibility, scope, &query)?)
}

/// The IPv6 networks of the interfaces with these IPv4 addresses, by interface. The caller can see the addresses.
pub fn networks_of(tx: &mut ReadTx, ips: &[VpcIp]) -> Result<HashMap<InterfaceId, Vec<NetworkHolder>>> {
    let mut ids: Vec<_> = ips.iter().map(|ip| ip.interface).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut networks: HashMap<_, Vec<_>> = HashMap::new();
    for holder in store::interface_ranges::networks_of(tx, &ids)? {
        networks.entry(holder.interface).or_default().push(holder);
    }
    Ok(networks)
}
