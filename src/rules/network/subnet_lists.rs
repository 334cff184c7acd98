//! The subnets of a VPC as the console shows them: lists, and the overview on the page of the VPC.

use std::collections::HashMap;

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::grant::Permission;
use crate::model::id::{InterfaceId, SubnetId, VpcId};
use crate::model::page::{Page, Paged};
use crate::model::subnet::{Subnet, SubnetUse};
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::VpcIp;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::rules::vpcs;
use crate::store::{self, ReadTx};

/// A page of the subnets, in an order of the console.
pub fn sorted(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, list: &ListRequest) -> Result<Paged<Subnet>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &store::subnets::CONSOLE_FIELDS)?;
    Ok(store::subnets::list(tx, vpc, &query)?)
}

/// A page of the subnets that overlap a range, in the order of their addresses.
pub fn in_range(
    tx: &mut ReadTx,
    caller: &Caller,
    vpc: VpcId,
    range: Cidr,
    page: Page,
) -> Result<Paged<Subnet>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let all = store::subnets::overlapping(tx, vpc, range)?;
    select(tx, all, page)
}

/// A page of the subnets whose IPv6 ranges overlap a range, in the order of their addresses.
pub fn in_ipv6_range(
    tx: &mut ReadTx,
    caller: &Caller,
    vpc: VpcId,
    range: Cidr6,
    page: Page,
) -> Result<Paged<Subnet>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let all = store::subnets::all_overlapping6(tx, vpc, range)?;
    select(tx, all, page)
}

fn select(tx: &mut ReadTx, all: Vec<Subnet>, page: Page) -> Result<Paged<Subnet>> {
    let mut subnets = Paged::select(all, page);
    store::subnets::add_uses(tx, &mut subnets.items)?;
    Ok(subnets)
}

/// The number of subnets of a VPC, which the caller must be able to see.
pub fn count(tx: &mut ReadTx, vpc: VpcId) -> Result<i64> {
    Ok(store::subnets::count(tx, vpc)?)
}

/// What the page of a VPC shows of its subnets.
pub struct Overview {
    pub count: i64,
    pub instances: usize,
    /// The subnets with their usage, or `None` if there are many.
    pub subnets: Option<Vec<(Subnet, Usage)>>,
}

/// The overview of a VPC, which the caller must be able to see. More than `max_few` subnets are many: the overview does
/// not read them, so its cost does not depend on their number.
pub fn overview(tx: &mut ReadTx, vpc: VpcId, max_few: i64) -> Result<Overview> {
    let count = count(tx, vpc)?;
    if count > max_few {
        return Ok(Overview {
            count,
            instances: store::interfaces::count_instances(tx, vpc)? as usize,
            subnets: None,
        });
    }
    let subnets = store::subnets::of_vpc(tx, vpc)?;
    let used = addresses::used_in_subnets(tx, &subnets)?;
    let mut instances: Vec<_> = subnets
        .iter()
        .flat_map(|subnet| &subnet.uses)
        .map(|subnet_use| subnet_use.instance)
        .collect();
    instances.sort_unstable();
    instances.dedup();
    Ok(Overview {
        count,
        instances: instances.len(),
        subnets: Some(subnets.into_iter().zip(used).collect()),
    })
}

/// The ranges of all subnets of a VPC, and the usage of the subnets together.
pub struct Allocation {
    pub vpc: Vpc,
    pub ranges: Vec<Cidr>,
    pub usage: Usage,
}

pub fn allocation(tx: &mut ReadTx, caller: &Caller, vpc: VpcId) -> Result<Allocation> {
    let vpc = vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let ranges = store::subnets::ranges_of_vpc(tx, vpc.id)?;
    let free = store::free_ranges::total_of_vpc(tx, vpc.id)?;
    Ok(Allocation {
        usage: addresses::used_in_ranges(&ranges, free),
        ranges,
        vpc,
    })
}

/// The subnets of these addresses, and their interfaces. The caller can see the addresses.
pub struct Attachments {
    pub subnets: HashMap<SubnetId, Subnet>,
    pub uses: HashMap<InterfaceId, SubnetUse>,
}

pub fn attachments(tx: &mut ReadTx, ips: &[VpcIp]) -> Result<Attachments> {
    let mut subnets: Vec<_> = ips.iter().map(|ip| ip.subnet).collect();
    subnets.sort_unstable();
    subnets.dedup();
    let mut interfaces: Vec<_> = ips.iter().map(|ip| ip.interface).collect();
    interfaces.sort_unstable();
    interfaces.dedup();
    let subnets = store::subnets::with_ids(tx, &subnets)?.into_iter();
    let uses = store::interfaces::with_ids(tx, &interfaces)?.into_iter();
    Ok(Attachments {
        subnets: subnets.map(|subnet| (subnet.id, subnet)).collect(),
        uses: uses
            .map(|subnet_use| (subnet_use.interface, subnet_use))
            .collect(),
    })
}
