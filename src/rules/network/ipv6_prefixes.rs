//! IPv6 ranges of VPCs, from the provider's pool (decision 0029).
//!
//! A released range is reused only after the retention. Until then, its account can request it again.

use crate::model::cidr::Cidr6;
use crate::model::policy::Policy;
use crate::model::range_request::{OF_VPCS, PrefixLengths, RangeRequest};
use crate::model::reason::{Code, Reason};
use crate::model::region::{Region, RegionId};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::store::{self, ReadTx, WriteTx};

/// The field with the requested range.
const FIELD: &str = "ipv6[0].range";

/// Reads the field `ipv6` of a new VPC. `None` if the VPC has no IPv6 range, or after an error.
pub fn read(form: &mut Form, policy: &Policy, region: Option<&RegionId>) -> Option<RangeRequest> {
    let request = read_request(form, &lengths_in(policy, region))?;
    let region = find_region(policy, region)?;
    if policy.ipv6_prefix_lengths(region).is_empty() {
        let text = format!("IPv6 is not offered in {}. Omit the field", region.id);
        form.refuse("ipv6", Reason::new(Code::NotOffered, text));
        return None;
    }
    Some(request)
}

fn find_region<'a>(policy: &'a Policy, id: Option<&RegionId>) -> Option<&'a Region> {
    id.and_then(|id| policy.regions.iter().find(|region| region.id == id.0))
}

/// The prefix lengths of VPCs in a region; all prefix lengths if there are none.
fn lengths_in(policy: &Policy, region: Option<&RegionId>) -> PrefixLengths {
    let offered = find_region(policy, region).map(|region| policy.ipv6_prefix_lengths(region));
    PrefixLengths {
        allowed: offered
            .filter(|lengths| !lengths.is_empty())
            .unwrap_or(OF_VPCS.allowed),
        ..OF_VPCS
    }
}

/// Reads a list with at most one object, whose field `range` is a request. An object without `range` means `auto`.
pub fn read_request(form: &mut Form, lengths: &PrefixLengths) -> Option<RangeRequest> {
    let path = form.path("ipv6");
    if form.count("ipv6") > 1 {
        let text = "Must have at most one element";
        form.refuse(path, Reason::new(Code::OutOfRange, text));
    }
    let read = |item: &mut Form| match item.has("range") {
        true => item.optional("range", |raw| RangeRequest::parse(raw, lengths)),
        false => Some(RangeRequest::Lowest(lengths.default)),
    };
    form.first("ipv6", 1, read).into_iter().flatten().flatten().next()
}

/// Chooses the range of a new VPC, and adds an error if there is none.
pub fn choose(
    tx: &mut WriteTx,
    caller: &Caller,
    form: &mut Form,
    region: Option<&RegionId>,
    request: RangeRequest,
) -> Result<Option<Cidr6>> {
    let policy = &tx.policy().ipv6;
    let pool = policy.pool.ok_or(Error::NotFound)?;
    let expiry = tx.now().plus_seconds(-policy.retention_seconds);
    store::ipv6_prefixes::set_pool(tx, pool)?;
    let chosen = loop {
        let has_more = store::ipv6_prefixes::reclaim(tx, expiry, pool)?;
        let prefix = match request {
            RangeRequest::Lowest(prefix) => prefix,
            RangeRequest::This(range) if caller.is_provider() => break choose_free(tx, caller, pool, range)?,
            RangeRequest::This(range) => break choose_released(tx, caller, region, range)?,
        };
        match store::ipv6_prefixes::lowest_free(tx, prefix)? {
            Some(range) => break Ok(range),
            None if has_more => {}
            None => {
                let text = format!("The provider has no free /{prefix} IPv6 range");
                break Err(Reason::new(Code::NoFreeRange, text));
            }
        }
    };
    Ok(chosen.map_err(|reason| form.refuse(FIELD, reason)).ok())
}

/// A range that the account has released, and that was not reused yet.
fn choose_released(
    tx: &mut ReadTx,
    caller: &Caller,
    region: Option<&RegionId>,
    range: Cidr6,
) -> Result<Result<Cidr6, Reason>> {
    let reserved = store::ipv6_prefixes::in_range(tx, range)?;
    let own = reserved.iter().find(|found| found.account == caller.account);
    Ok(match own {
        Some(found) if found.range == range && found.vpc.is_none() => Ok(range),
        Some(found) if found.vpc.is_some() => {
            // A restricted user may not see the other VPC, so the text does not show its range.
            let text = "overlaps the IPv6 range of another VPC of your account";
            Err(Reason::new(Code::CidrOverlap, text))
        }
        _ => Err(lengths_in(tx.policy(), region).reason(Code::RangeInvalid)),
    })
}

/// A range of the pool that no VPC has, for the provider. A range that the account has released is free, too.
fn choose_free(tx: &mut ReadTx, caller: &Caller, pool: Cidr6, range: Cidr6) -> Result<Result<Cidr6, Reason>> {
    if !pool.contains(range) {
        let text = format!("Must be inside {pool}, the IPv6 pool of the provider");
        return Ok(Err(Reason::new(Code::RangeInvalid, text)));
    }
    let reserved = store::ipv6_prefixes::in_range(tx, range)?;
    let is_free = reserved
        .iter()
        .all(|found| found.account == caller.account && found.range == range && found.vpc.is_none());
    let text = "overlaps the IPv6 range of another VPC, or of a VPC that was deleted recently";
    Ok(match is_free {
        true => Ok(range),
        false => Err(Reason::new(Code::CidrOverlap, text)),
    })
}
