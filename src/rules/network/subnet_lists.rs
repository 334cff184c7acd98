//! Lists of the subnets of a VPC that the console shows.

use crate::model::cidr::Cidr;
use crate::model::grant::Permission;
use crate::model::id::VpcId;
use crate::model::page::{Page, Paged};
use crate::model::subnet::Subnet;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::vpcs;
use crate::store::{self, ReadTx};

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
    let results = all.len() as i64;
    let skipped = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let items = all.into_iter().skip(skipped).take(page.size as usize).collect();
    Ok(Paged { items, page, results })
}

/// The number of subnets of a VPC, which the caller must be able to see.
pub fn count(tx: &mut ReadTx, vpc: VpcId) -> Result<i64> {
    Ok(store::subnets::count(tx, vpc)?)
}
