//! Assignment of a subnet's addresses to instances.
//!
//! An address or range of a subnet belongs to one instance; several configs of that instance can use it. Free
//! addresses are stored as ranges (`store/network/free_ranges.rs`), so the number of assigned addresses does
//! not affect the time to find the lowest free address.

use std::collections::{BTreeMap, HashMap};

use crate::model::cidr::Cidr;
use crate::model::id::{InstanceId, SubnetId};
use crate::model::interface::{VpcAttachment, write_address};
use crate::model::reason::{Code, Reason};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::store::{self, ReadTx, WriteTx};

/// The number of assigned addresses, and the number of all usable addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub used: u64,
    pub all: u64,
}

impl Usage {
    pub fn percent(self) -> f64 {
        match self.all {
            0 => 0.0,
            all => self.used as f64 * 100.0 / all as f64,
        }
    }

    pub fn and(self, other: Usage) -> Usage {
        Usage {
            used: self.used + other.used,
            all: self.all + other.all,
        }
    }
}

/// The usage of each subnet.
pub fn used_in_subnets(tx: &mut ReadTx, subnets: &[Subnet]) -> Result<Vec<Usage>> {
    let free = free_in(tx, subnets.iter())?;
    Ok(subnets.iter().map(|subnet| usage(subnet, &free)).collect())
}

/// The usage of each VPC: the sum over its subnets.
pub fn used_in_vpcs(tx: &mut ReadTx, vpcs: &[Vpc]) -> Result<Vec<Usage>> {
    let free = free_in(tx, vpcs.iter().flat_map(|vpc| &vpc.subnets))?;
    let total = |vpc: &Vpc| {
        let each = vpc.subnets.iter().map(|subnet| usage(subnet, &free));
        each.fold(Usage::default(), Usage::and)
    };
    Ok(vpcs.iter().map(total).collect())
}

fn free_in<'a>(tx: &mut ReadTx, subnets: impl Iterator<Item = &'a Subnet>) -> Result<HashMap<SubnetId, u64>> {
    let ids: Vec<_> = subnets.map(|subnet| subnet.id).collect();
    Ok(store::free_ranges::totals(tx, &ids)?)
}

fn usage(subnet: &Subnet, free: &HashMap<SubnetId, u64>) -> Usage {
    let assignable = subnet.ipv4.assignable();
    let all = u64::from(assignable.end() - assignable.start()) + 1;
    let free = free.get(&subnet.id).copied().unwrap_or(0);
    let used = all.saturating_sub(free);
    Usage { used, all }
}

/// The addresses that an interface requests.
pub struct AddressRequest<'a> {
    /// The prefix of the interface's field names.
    pub path: &'a str,
    pub address: Option<u32>,
    pub ranges: &'a [Cidr],
}

/// The address of an interface: the requested address, or the lowest free address. `None` after an error.
pub fn resolve(
    tx: &mut ReadTx,
    form: &mut Form,
    subnet: &Subnet,
    owner: Option<InstanceId>,
    request: AddressRequest,
) -> Result<Option<u32>> {
    let mut ranges_are_valid = true;
    // The earlier ranges that do not overlap each other, by first address. Of these, only the last one that
    // starts before the end of a new range can overlap the new range.
    let mut earlier_ranges: BTreeMap<u32, Cidr> = BTreeMap::new();
    for (at, range) in request.ranges.iter().enumerate() {
        let nearest = earlier_ranges.range(..=range.last()).next_back();
        let overlaps = nearest.is_some_and(|(_, other)| other.overlaps(*range));
        if !overlaps {
            earlier_ranges.insert(range.first(), *range);
        }
        if let Some(reason) = range_fault(tx, subnet, owner, *range, overlaps, request.address)? {
            form.refuse(format!("{}ip_ranges[{at}]", request.path), reason);
            ranges_are_valid = false;
        }
    }
    let address = match request.address {
        Some(address) => check_requested(tx, subnet, owner, address)?,
        None if !ranges_are_valid => return Ok(None),
        None => lowest_free(tx, subnet.id, request.ranges)?.ok_or_else(|| {
            let text = format!("No address in {} is free", subnet.ipv4);
            Reason::new(Code::AddressesExhausted, text)
        }),
    };
    match address {
        Ok(address) => Ok(ranges_are_valid.then_some(address)),
        Err(reason) => {
            form.refuse(format!("{}ipv4.vpc", request.path), reason);
            Ok(None)
        }
    }
}

/// Whether a range is within the usable addresses of a subnet.
fn is_assignable(subnet: &Subnet, first: u32, last: u32) -> bool {
    let assignable = subnet.ipv4.assignable();
    assignable.contains(&first) && assignable.contains(&last)
}

/// Why a range cannot be assigned to an interface; `None` if it can.
fn range_fault(
    tx: &mut ReadTx,
    subnet: &Subnet,
    owner: Option<InstanceId>,
    range: Cidr,
    overlaps: bool,
    address: Option<u32>,
) -> Result<Option<Reason>> {
    let (first, last) = (range.first(), range.last());
    let (code, text) = if !is_assignable(subnet, first, last) {
        let text = format!(
            "Must be within {}, excluding its first two and last two addresses",
            subnet.ipv4
        );
        (Code::RangeInvalid, text)
    } else if overlaps {
        let text = format!("{range} overlaps another range of the request");
        (Code::RangeInvalid, text)
    } else if address.is_some_and(|address| first <= address && address <= last) {
        let text = format!("{range} contains the interface's own address");
        (Code::RangeInvalid, text)
    } else if !is_free_for(tx, subnet.id, owner, first, last)? {
        (Code::AddressTaken, format!("{range} is used by another instance"))
    } else {
        return Ok(None);
    };
    Ok(Some(Reason::new(code, text)))
}

/// Validates a requested address.
fn check_requested(
    tx: &mut ReadTx,
    subnet: &Subnet,
    owner: Option<InstanceId>,
    address: u32,
) -> Result<Result<u32, Reason>> {
    if !is_assignable(subnet, address, address) {
        let assignable = subnet.ipv4.assignable();
        let (first, last) = (
            write_address(*assignable.start()),
            write_address(*assignable.end()),
        );
        let text = format!("Must be from {first} to {last}");
        return Ok(Err(Reason::new(Code::AddressInvalid, text)));
    }
    if !is_free_for(tx, subnet.id, owner, address, address)? {
        let text = format!("{} is used by another instance", write_address(address));
        return Ok(Err(Reason::new(Code::AddressTaken, text)));
    }
    Ok(Ok(address))
}

/// Whether a range is free or already assigned to the instance. `instance` is `None` for a new instance.
fn is_free_for(
    tx: &mut ReadTx,
    subnet: SubnetId,
    instance: Option<InstanceId>,
    first: u32,
    last: u32,
) -> Result<bool> {
    Ok(!store::interfaces::is_taken_by_another(
        tx, subnet, instance, first, last,
    )?)
}

/// The lowest free address outside of the ranges that the same request assigns.
fn lowest_free(tx: &mut ReadTx, subnet: SubnetId, requested_ranges: &[Cidr]) -> Result<Option<u32>> {
    Ok(store::free_ranges::lowest_outside(tx, subnet, requested_ranges)?)
}

pub fn assign(tx: &mut WriteTx, attachment: &VpcAttachment) -> Result<()> {
    for (first, last) in spans(attachment) {
        store::free_ranges::take(tx, attachment.subnet, first, last)?;
    }
    Ok(())
}

/// Releases the addresses of an attachment, except addresses that another config of the instance uses. The
/// rows of the attachment must be deleted first.
pub fn release(tx: &mut WriteTx, attachment: &VpcAttachment) -> Result<()> {
    let subnet = attachment.subnet;
    for (first, last) in spans(attachment) {
        let mut next = u64::from(first);
        let used = store::interfaces::used_spans(tx, subnet, first, last)?;
        // The last pair releases the gap after the last used span.
        for (from, to) in used.into_iter().chain([(last.saturating_add(1), u32::MAX)]) {
            let gap_end = u64::from(from).min(u64::from(last) + 1);
            if next < gap_end {
                store::free_ranges::release(tx, subnet, next as u32, (gap_end - 1) as u32)?;
            }
            next = next.max(u64::from(to) + 1);
        }
    }
    Ok(())
}

fn spans(attachment: &VpcAttachment) -> impl Iterator<Item = (u32, u32)> {
    let ranges = attachment
        .ranges
        .iter()
        .map(|range| (range.first(), range.last()));
    std::iter::once((attachment.address, attachment.address)).chain(ranges)
}
