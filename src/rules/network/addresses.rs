//! Assignment of a subnet's addresses to instances, for both address families.
//!
//! An address or range of a subnet belongs to one instance; several configs of that instance can use it. Free
//! addresses are stored as ranges (`store/network/free_ranges.rs`), so the number of assigned addresses does
//! not affect the time to find the lowest free address.

use std::collections::{BTreeMap, HashMap};

use crate::model::cidr::{Cidr, Network};
use crate::model::family::{Bits, Family};
use crate::model::id::{InstanceId, SubnetId};
use crate::model::interface::VpcAttachment;
use crate::model::reason::{Code, Reason};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::store::stored_family::StoredFamily;
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

/// The usage of several ranges together, which have `free` free addresses.
pub fn used_in_ranges(ranges: &[Cidr], free: u64) -> Usage {
    let all = ranges
        .iter()
        .map(|range| assignable_addresses(*range))
        .sum::<u64>();
    Usage {
        used: all.saturating_sub(free),
        all,
    }
}

fn assignable_addresses(range: Cidr) -> u64 {
    let assignable = range.assignable();
    u64::from(assignable.end() - assignable.start()) + 1
}

fn free_in<'a>(tx: &mut ReadTx, subnets: impl Iterator<Item = &'a Subnet>) -> Result<HashMap<SubnetId, u64>> {
    let ids: Vec<_> = subnets.map(|subnet| subnet.id).collect();
    Ok(store::free_ranges::totals(tx, &ids)?)
}

fn usage(subnet: &Subnet, free: &HashMap<SubnetId, u64>) -> Usage {
    let all = assignable_addresses(subnet.ipv4);
    let free = free.get(&subnet.id).copied().unwrap_or(0);
    let used = all.saturating_sub(free);
    Usage { used, all }
}

/// A requested part of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<F: Family> {
    /// The lowest free part with the family's `UNIT_PREFIX`.
    Lowest,
    This(Network<F>),
}

/// The parts of a subnet that an interface requests.
pub struct AddressRequest<'a, F: Family> {
    /// The part for the interface itself: an IPv4 address, or an IPv6 network for SLAAC.
    pub unit: Option<Choice<F>>,
    pub unit_field: &'a dyn Fn() -> String,
    /// The ranges that are routed to the interface.
    pub ranges: &'a [Choice<F>],
    /// The name of the field with the range at an index.
    pub range_field: &'a dyn Fn(usize) -> String,
}

/// The parts of a subnet that an interface gets.
pub struct Resolved<F: Family> {
    pub unit: Option<Network<F>>,
    pub ranges: Vec<Network<F>>,
}

/// A subnet in one family, and the instance that requests its addresses.
pub struct Target<F: Family> {
    pub subnet: SubnetId,
    pub range: Network<F>,
    /// `None` for a new instance.
    pub owner: Option<InstanceId>,
}

/// The parts of the subnet for an interface: the requested parts, or the lowest free ones. `None` after an error.
pub fn resolve<F: StoredFamily>(
    tx: &mut ReadTx,
    form: &mut Form,
    target: &Target<F>,
    request: AddressRequest<F>,
) -> Result<Option<Resolved<F>>> {
    let unit = match request.unit {
        Some(Choice::This(unit)) => Some(unit),
        _ => None,
    };
    let are_valid = check_ranges(tx, form, target, &request, unit)?;
    if let Some(unit) = unit
        && let Some(reason) = unit_fault(tx, target, unit)?
    {
        form.refuse((request.unit_field)(), reason);
        return Ok(None);
    }
    match are_valid {
        true => choose_lowest(tx, form, target, &request, unit),
        false => Ok(None),
    }
}

/// Adds errors about the requested ranges. Returns whether all of them can be assigned.
fn check_ranges<F: StoredFamily>(
    tx: &mut ReadTx,
    form: &mut Form,
    target: &Target<F>,
    request: &AddressRequest<F>,
    unit: Option<Network<F>>,
) -> Result<bool> {
    let mut are_valid = true;
    // The earlier ranges that do not overlap each other, by first address. Of these, only the last one that
    // starts before the end of a new range can overlap the new range.
    let mut earlier_ranges: BTreeMap<F::Bits, Network<F>> = BTreeMap::new();
    for (at, choice) in request.ranges.iter().enumerate() {
        let Choice::This(range) = *choice else { continue };
        let nearest = earlier_ranges.range(..=range.last()).next_back();
        let overlaps = nearest.is_some_and(|(_, other)| other.overlaps(range));
        if !overlaps {
            earlier_ranges.insert(range.first(), range);
        }
        if let Some(reason) = range_fault(tx, target, range, overlaps, unit)? {
            form.refuse((request.range_field)(at), reason);
            are_valid = false;
        }
    }
    Ok(are_valid)
}

/// Chooses the lowest free parts where the request names none. `None` after an error.
fn choose_lowest<F: StoredFamily>(
    tx: &mut ReadTx,
    form: &mut Form,
    target: &Target<F>,
    request: &AddressRequest<F>,
    mut unit: Option<Network<F>>,
) -> Result<Option<Resolved<F>>> {
    let named = |choice: &Choice<F>| match choice {
        Choice::This(range) => Some(*range),
        Choice::Lowest => None,
    };
    let mut taken: Vec<Network<F>> = request.ranges.iter().filter_map(named).chain(unit).collect();
    let space = F::subnet_space(target.subnet);
    if request.unit == Some(Choice::Lowest) {
        unit = store::free_ranges::lowest_free(tx, &space, F::UNIT_PREFIX, &taken)?;
        if unit.is_none() {
            form.refuse((request.unit_field)(), exhausted(target.range));
            return Ok(None);
        }
        taken.extend(unit);
    }
    let mut ranges = Vec::with_capacity(request.ranges.len());
    for (at, choice) in request.ranges.iter().enumerate() {
        let range = match choice {
            Choice::This(range) => *range,
            Choice::Lowest => {
                let Some(range) = store::free_ranges::lowest_free(tx, &space, F::UNIT_PREFIX, &taken)? else {
                    form.refuse((request.range_field)(at), exhausted(target.range));
                    return Ok(None);
                };
                taken.push(range);
                range
            }
        };
        ranges.push(range);
    }
    Ok(Some(Resolved { unit, ranges }))
}

fn exhausted<F: Family>(subnet: Network<F>) -> Reason {
    let text = format!("No {} in {subnet} is free", F::UNIT_NAME);
    Reason::new(Code::AddressesExhausted, text)
}

/// Whether a range is within the assignable addresses of a subnet.
fn is_assignable<F: Family>(subnet: Network<F>, range: Network<F>) -> bool {
    let assignable = subnet.assignable();
    assignable.contains(&range.first()) && assignable.contains(&range.last())
}

/// Why a range cannot be assigned to an interface; `None` if it can.
fn range_fault<F: StoredFamily>(
    tx: &mut ReadTx,
    target: &Target<F>,
    range: Network<F>,
    overlaps: bool,
    unit: Option<Network<F>>,
) -> Result<Option<Reason>> {
    let (code, text) = if !is_assignable(target.range, range) {
        let text = format!("Must be within {}, excluding {}", target.range, F::RESERVED);
        (Code::RangeInvalid, text)
    } else if overlaps {
        let text = format!("{range} overlaps another range of the request");
        (Code::RangeInvalid, text)
    } else if unit.is_some_and(|unit| range.contains(unit)) {
        let text = format!("{range} contains the interface's own address");
        (Code::RangeInvalid, text)
    } else if is_taken(tx, target, range)? {
        (Code::AddressTaken, format!("{range} is used by another instance"))
    } else {
        return Ok(None);
    };
    Ok(Some(Reason::new(code, text)))
}

/// Why the requested part for the interface itself cannot be assigned; `None` if it can.
fn unit_fault<F: StoredFamily>(
    tx: &mut ReadTx,
    target: &Target<F>,
    unit: Network<F>,
) -> Result<Option<Reason>> {
    if !is_assignable(target.range, unit) {
        let assignable = target.range.assignable();
        let text_at = |address| F::unit_text(Network::around(address, F::UNIT_PREFIX));
        let (first, last) = (text_at(*assignable.start()), text_at(*assignable.end()));
        let text = format!("Must be from {first} to {last}");
        return Ok(Some(Reason::new(Code::AddressInvalid, text)));
    }
    if is_taken(tx, target, unit)? {
        let text = format!("{} is used by another instance", F::unit_text(unit));
        return Ok(Some(Reason::new(Code::AddressTaken, text)));
    }
    Ok(None)
}

/// Whether another instance uses addresses of a range.
fn is_taken<F: StoredFamily>(tx: &mut ReadTx, target: &Target<F>, range: Network<F>) -> Result<bool> {
    let Target { subnet, owner, .. } = *target;
    Ok(store::interfaces::is_taken_by_another(tx, subnet, owner, range)?)
}

/// Takes the addresses of an attachment from the free ranges of its subnet.
pub fn assign(tx: &mut WriteTx, attachment: &VpcAttachment) -> Result<()> {
    assign_all(tx, attachment.subnet, attachment.networks())?;
    assign_all(tx, attachment.subnet, attachment.networks6())
}

fn assign_all<F: StoredFamily>(
    tx: &mut WriteTx,
    subnet: SubnetId,
    networks: impl Iterator<Item = Network<F>>,
) -> Result<()> {
    let space = F::subnet_space(subnet);
    for network in networks {
        store::free_ranges::take(tx, &space, (network.first(), network.last()))?;
    }
    Ok(())
}

/// Releases the addresses of an attachment, except addresses that another config of the instance uses. The
/// rows of the attachment must be deleted first.
pub fn release(tx: &mut WriteTx, attachment: &VpcAttachment) -> Result<()> {
    release_all(tx, attachment.subnet, attachment.networks())?;
    release_all(tx, attachment.subnet, attachment.networks6())
}

fn release_all<F: StoredFamily>(
    tx: &mut WriteTx,
    subnet: SubnetId,
    networks: impl Iterator<Item = Network<F>>,
) -> Result<()> {
    let space = F::subnet_space(subnet);
    let one = F::Bits::from_u8(1);
    for network in networks {
        // The lowest address that is not released yet; `None` after the highest address of the family.
        let mut next = Some(network.first());
        for (from, to) in store::interfaces::used_spans(tx, subnet, network)? {
            let gap_end = from
                .minus(one)
                .filter(|end| next.is_some_and(|next| next <= *end));
            if let (Some(next), Some(end)) = (next, gap_end) {
                store::free_ranges::release(tx, &space, (next, end))?;
            }
            next = next.and_then(|next| Some(next.max(to.plus(one)?)));
        }
        if let Some(next) = next.filter(|next| *next <= network.last()) {
            store::free_ranges::release(tx, &space, (next, network.last()))?;
        }
    }
    Ok(())
}
