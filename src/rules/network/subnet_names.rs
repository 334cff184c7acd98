//! The names of the VPCs and subnets that a caller can see, for links and lists of choices.

use std::collections::HashMap;

use crate::model::cidr::Network;
use crate::model::family::{V4, V6};
use crate::model::grant::Permission;
use crate::model::id::{SubnetId, VpcId};
use crate::model::interface::Interface;
use crate::model::subnet_name::{SubnetName, VpcName};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::vpcs;
use crate::store::stored_family::StoredFamily;
use crate::store::{self, ReadTx};

/// The maximum number of VPCs in a list of choices.
pub const MAX_VPC_CHOICES: i64 = 500;

/// The VPCs that an instance can be attached to: of one region, or of all regions.
pub fn vpc_choices(tx: &mut ReadTx, caller: &Caller, region: Option<&str>) -> Result<Vec<VpcName>> {
    let (account, visibility) = (caller.account, caller.visibility());
    Ok(store::subnet_names::vpcs(
        tx,
        account,
        visibility,
        region,
        MAX_VPC_CHOICES,
    )?)
}

/// The subnets of a VPC; empty if the caller cannot see the VPC.
pub fn of_vpc(tx: &mut ReadTx, caller: &Caller, vpc: VpcId) -> Result<Vec<SubnetName>> {
    match vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly) {
        Ok(vpc) => Ok(store::subnet_names::of_vpc(tx, caller.account, vpc.id)?),
        Err(Error::NotFound) => Ok(Vec::new()),
        Err(other) => Err(other),
    }
}

/// The first VPCs whose label contains a text, or whose ID is the text.
pub fn vpcs_containing(tx: &mut ReadTx, caller: &Caller, text: &str, limit: usize) -> Result<Vec<VpcName>> {
    let (account, visibility) = (caller.account, caller.visibility());
    Ok(store::subnet_names::vpcs_containing(
        tx,
        account,
        visibility,
        text,
        limit as i64,
    )?)
}

/// The first subnets whose label contains a text, or whose ID is the text.
pub fn containing(tx: &mut ReadTx, caller: &Caller, text: &str, limit: usize) -> Result<Vec<SubnetName>> {
    let (account, visibility) = (caller.account, caller.visibility());
    Ok(store::subnet_names::containing(
        tx,
        account,
        visibility,
        text,
        limit as i64,
    )?)
}

/// The first subnets that have addresses of a range.
pub fn in_range<F: NamedFamily>(
    tx: &mut ReadTx,
    caller: &Caller,
    range: Network<F>,
    limit: usize,
) -> Result<Vec<SubnetName>> {
    let (account, visibility) = (caller.account, caller.visibility());
    let vpcs = store::subnet_names::vpcs_in_range(tx, account, visibility, range, limit as i64)?;
    let mut found = Vec::new();
    for vpc in vpcs {
        let subnets = store::subnet_names::of_vpc(tx, account, vpc.id)?.into_iter();
        found.extend(subnets.filter(|subnet| F::range_of(subnet).is_some_and(|own| own.overlaps(range))));
    }
    found.truncate(limit);
    Ok(found)
}

/// A family in which subnets have ranges.
pub trait NamedFamily: StoredFamily {
    /// The range of a subnet in this family.
    fn range_of(subnet: &SubnetName) -> Option<Network<Self>>;
}

impl NamedFamily for V4 {
    fn range_of(subnet: &SubnetName) -> Option<Network<V4>> {
        Some(subnet.ipv4)
    }
}

impl NamedFamily for V6 {
    fn range_of(subnet: &SubnetName) -> Option<Network<V6>> {
        subnet.ipv6
    }
}

pub fn find(tx: &mut ReadTx, caller: &Caller, id: SubnetId) -> Result<Option<SubnetName>> {
    let mut found = store::subnet_names::with_ids(tx, caller.account, caller.visibility(), &[id])?;
    Ok(found.pop())
}

/// The subnets of these interfaces, by ID, without the subnets that the caller cannot see.
pub fn of_interfaces<'a>(
    tx: &mut ReadTx,
    caller: &Caller,
    interfaces: impl Iterator<Item = &'a Interface>,
) -> Result<HashMap<SubnetId, SubnetName>> {
    let attachments = interfaces.filter_map(|interface| interface.vpc.as_ref());
    let mut ids: Vec<_> = attachments.map(|vpc| vpc.subnet).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = store::subnet_names::with_ids(tx, caller.account, caller.visibility(), &ids)?;
    Ok(found.into_iter().map(|name| (name.id, name)).collect())
}
