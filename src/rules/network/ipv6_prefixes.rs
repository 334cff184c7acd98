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
use crate::store::{self, WriteTx};

/// The field with the requested range.
const FIELD: &str = "ipv6[0].range";

/// Reads the field `ipv6` of a new VPC. `None` if the VPC has no IPv6 range, or after an error.
pub fn read(form: &mut Form, policy: &Policy, region: Option<&RegionId>) -> Option<RangeRequest> {
    let request = read_request(form, &OF_VPCS)?;
    let region = region.and_then(|id| policy.regions.iter().find(|region| region.id == id.0))?;
    if policy.ipv6.pool.is_none() || !region.has_capability(Region::DUAL_STACK) {
        let text = format!("IPv6 is not offered in {}. Omit the field", region.id);
        form.refuse("ipv6", Reason::new(Code::NotOffered, text));
        return None;
    }
    if !region.ipv6_prefix_lengths().contains(&request.prefix()) {
        let text = format!("Must be the prefix length 52 in {}, e.g. /52", region.id);
        form.refuse(FIELD, Reason::new(Code::CidrPrefix, text));
        return None;
    }
    Some(request)
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

/// Chooses the range of a new VPC.
pub fn choose(tx: &mut WriteTx, caller: &Caller, request: RangeRequest) -> Result<Cidr6> {
    let policy = &tx.policy().ipv6;
    let pool = policy.pool.ok_or(Error::NotFound)?;
    store::ipv6_prefixes::set_pool(tx, pool)?;
    let expiry = tx.now().plus_seconds(-policy.retention_seconds);
    loop {
        let has_more = store::ipv6_prefixes::reclaim(tx, expiry, pool)?;
        let chosen = match request {
            RangeRequest::Lowest(prefix) => store::ipv6_prefixes::lowest_free(tx, prefix)?,
            RangeRequest::This(range) => return choose_released(tx, caller, range),
        };
        match chosen {
            Some(range) => return Ok(range),
            None if has_more => {}
            None => {
                let text = format!("The provider has no free /{} IPv6 range", request.prefix());
                return Err(refuse(Reason::new(Code::NoFreeRange, text)));
            }
        }
    }
}

/// A range that the account has released, and that was not reused yet.
fn choose_released(tx: &mut WriteTx, caller: &Caller, range: Cidr6) -> Result<Cidr6> {
    let reserved = store::ipv6_prefixes::in_range(tx, range)?;
    let own = reserved.iter().find(|found| found.account == caller.account);
    match own {
        Some(found) if found.range == range && found.vpc.is_none() => Ok(range),
        Some(found) if found.vpc.is_some() => {
            let text = format!("overlaps {}, which another of your VPCs has", found.range);
            Err(refuse(Reason::new(Code::CidrOverlap, text)))
        }
        _ => {
            let text = "Must be a prefix length such as /52, auto, or a range that your account has recently released";
            Err(refuse(Reason::new(Code::RangeInvalid, text)))
        }
    }
}

fn refuse(reason: Reason) -> Error {
    Error::on(FIELD, reason)
}
