//! The ports of hosts, instances and subnets, for people.

use std::collections::HashMap;

use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{HostId, InstanceId, SubnetId, VpcId};
use crate::model::port::PortDetails;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::loading::instance_for;
use crate::store::{self, ReadTx};

/// The maximum number of ports that a page shows.
pub const PORTS_PER_PAGE: i64 = 500;

/// The ports of a host, for staff. Those with problems are first.
pub fn of_host(tx: &mut ReadTx, host: HostId) -> Result<Vec<PortDetails>> {
    Ok(store::port_details::of_host(tx, host, PORTS_PER_PAGE)?)
}

/// The number of ports with an error of each host that has any, for staff.
pub fn error_counts(tx: &mut ReadTx) -> Result<HashMap<HostId, i64>> {
    Ok(store::port_details::error_counts(tx)?)
}

/// The ports of an instance that the caller can see.
pub fn of_instance(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Vec<PortDetails>> {
    instance_for(tx, caller, id, Permission::ReadOnly)?;
    Ok(store::port_details::of_instance(tx, id, PORTS_PER_PAGE)?)
}

/// The ports in a subnet of the caller's account. The subnet must be in the VPC.
pub fn of_subnet(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, subnet: SubnetId) -> Result<Vec<PortDetails>> {
    caller.require_permission(tx, GrantKind::Vpc, vpc.0, Permission::ReadOnly)?;
    let mut ports = store::port_details::of_subnet(tx, subnet, PORTS_PER_PAGE)?;
    ports.retain(|port| port.vpc == vpc && port.account == caller.account);
    Ok(ports)
}
