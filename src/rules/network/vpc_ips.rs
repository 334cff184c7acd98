//! Addresses and ranges of VPC interfaces (interface §2.3).

use crate::model::grant::Permission;
use crate::model::id::VpcId;
use crate::model::page::Paged;
use crate::model::vpc_ip::VpcIp;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::rules::vpcs;
use crate::store::value::Value;
use crate::store::vpc_ips::{FIELDS, Scope};
use crate::store::{self, ReadTx};

/// All addresses of the account that the caller can see.
pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<VpcIp>> {
    let query = list.read(tx.policy(), &FIELDS)?;
    Ok(store::vpc_ips::list(
        tx,
        caller.account,
        caller.visibility(),
        Scope::All,
        &query,
    )?)
}

pub fn of_vpc(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, list: &ListRequest) -> Result<Paged<VpcIp>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &FIELDS)?;
    Ok(store::vpc_ips::list(
        tx,
        caller.account,
        caller.visibility(),
        Scope::Vpc(vpc),
        &query,
    )?)
}

/// The IPv6 addresses of all VPCs. There are none, because VPCs have only IPv4 ranges.
pub fn list_ipv6(tx: &mut ReadTx, _: &Caller, list: &ListRequest) -> Result<Paged<()>> {
    Ok(list.read(tx.policy(), &FIELDS)?.select(&[], |(), _| Value::Null))
}

pub fn ipv6_of_vpc(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, list: &ListRequest) -> Result<Paged<()>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    list_ipv6(tx, caller, list)
}
