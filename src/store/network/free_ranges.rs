//! The free addresses of each address space, stored as ranges. Two ranges are never adjacent to each other.
//!
//! The address spaces are the subnets of both families, and for IPv6 also VPCs and the provider's pool. The lowest
//! free address is the start of the first range. A lookup by primary key finds it, no matter how many addresses are in
//! use. Taking addresses splits a range. Releasing addresses merges them with the ranges next to them.

use std::collections::HashMap;

use super::stored_family::{Space, Span, Stored, StoredFamily, lowest};
use crate::model::cidr::Network;
use crate::model::family::{Bits, Family};
use crate::model::id::{SubnetId, VpcId};
use crate::store::error::StoreError;
use crate::store::list::covering_conditions;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, Value, args};

/// Makes the addresses of a new address space free.
pub fn insert_all<F: StoredFamily>(
    tx: &mut WriteTx,
    space: &Space<F>,
    (first, last): Span<F>,
) -> Result<(), StoreError> {
    insert(tx, space, first, last)
}

pub fn delete_all<F: StoredFamily>(tx: &mut WriteTx, space: &Space<F>) -> Result<(), StoreError> {
    tx.execute_deferred(space.statements.delete_all, &[space.owner.into()])?;
    Ok(())
}

/// The lowest free network with this prefix length that does not overlap any of the excluded networks.
pub fn lowest_free<F: StoredFamily>(
    tx: &mut ReadTx,
    space: &Space<F>,
    prefix: u8,
    excluded: &[Network<F>],
) -> Result<Option<Network<F>>, StoreError> {
    let mut search = Search::new(prefix, excluded);
    let mut sql = space.statements.next;
    loop {
        let args = [space.owner.into(), F::to_value(search.from), lowest::<F>()];
        let ranges = tx.all(sql, &args)?;
        if ranges.is_empty() {
            return Ok(None);
        }
        for range in ranges {
            let (first, last) = read_span::<F>(range)?;
            match search.find_in(first, last) {
                Found::Free(network) => return Ok(Some(network)),
                Found::Nothing => {}
                Found::End => return Ok(None),
            }
        }
        // Most searches end in the first range. In a fragmented space, each query reads several ranges.
        sql = space.statements.next_64;
    }
}

/// The search for a free network, range by range.
struct Search<F: Family> {
    prefix: u8,
    /// The excluded networks that are not passed yet, ordered by first address.
    excluded: std::iter::Peekable<std::vec::IntoIter<Network<F>>>,
    /// The lowest address that is not searched yet.
    from: F::Bits,
}

enum Found<F: Family> {
    Free(Network<F>),
    /// The range has no free network with the prefix length.
    Nothing,
    /// The search has reached the highest address of the family.
    End,
}

impl<F: Family> Search<F> {
    fn new(prefix: u8, excluded: &[Network<F>]) -> Self {
        let mut excluded = excluded.to_vec();
        excluded.sort_unstable_by_key(|network| network.first());
        Self {
            prefix,
            excluded: excluded.into_iter().peekable(),
            from: F::Bits::ZERO,
        }
    }

    fn find_in(&mut self, first: F::Bits, last: F::Bits) -> Found<F> {
        let after = |address: F::Bits| address.plus(F::Bits::from_u8(1));
        let aligned = |address| Network::<F>::at_or_after(address, self.prefix);
        let Some(mut candidate) = aligned(first.max(self.from)) else {
            return Found::End;
        };
        while let Some(other) = self.excluded.next_if(|other| other.first() <= candidate.last()) {
            if other.last() < candidate.first() {
                continue;
            }
            match after(other.last()).and_then(aligned) {
                Some(next) => candidate = next,
                None => return Found::End,
            }
        }
        if candidate.last() <= last {
            return Found::Free(candidate);
        }
        let end = after(last);
        self.from = match end {
            Some(end) => candidate.first().max(end),
            None => return Found::End,
        };
        Found::Nothing
    }
}

/// The number of free addresses in each of these IPv4 subnets. The result omits full subnets, and can contain others.
pub fn totals(tx: &mut ReadTx, subnets: &[SubnetId]) -> Result<HashMap<SubnetId, u64>, StoreError> {
    let ids: Vec<i64> = subnets.iter().map(|subnet| subnet.0).collect();
    let mut totals = HashMap::with_capacity(ids.len());
    for (condition, args) in covering_conditions(&ids) {
        let sql = format!(
            "SELECT subnet, CAST(sum(last_address - first_address + 1) AS BIGINT) FROM free_range
             WHERE subnet {condition} GROUP BY subnet"
        );
        for mut row in tx.all(&sql, &args)? {
            let (subnet, free): (SubnetId, i64) = (row.take()?, row.take()?);
            totals.insert(subnet, free.unsigned_abs());
        }
    }
    Ok(totals)
}

/// The number of free addresses in all IPv4 subnets of a VPC.
pub fn total_of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<u64, StoreError> {
    let sql = "SELECT CAST(coalesce(sum(f.last_address - f.first_address + 1), 0) AS BIGINT)
        FROM subnet s JOIN free_range f ON f.subnet = s.id WHERE s.vpc = $1";
    let free: i64 = tx.one(sql, args![vpc])?.take()?;
    Ok(free.unsigned_abs())
}

/// Whether all addresses of a network are free.
pub fn is_free<F: StoredFamily>(
    tx: &mut ReadTx,
    space: &Space<F>,
    network: Network<F>,
) -> Result<bool, StoreError> {
    let (first, last) = (network.first(), network.last());
    let free = overlapping(tx, space, first, last)?;
    Ok(free.iter().any(|(from, to)| *from <= first && last <= *to))
}

/// Removes the addresses from `first` to `last` from the free ranges. Ignores addresses that are not free.
pub fn take<F: StoredFamily>(
    tx: &mut WriteTx,
    space: &Space<F>,
    (first, last): Span<F>,
) -> Result<(), StoreError> {
    let one = F::Bits::from_u8(1);
    for (from, to) in overlapping(tx, space, first, last)? {
        delete(tx, space, from)?;
        if let Some(before) = first.minus(one).filter(|before| from <= *before) {
            insert(tx, space, from, before)?;
        }
        if let Some(after) = last.plus(one).filter(|after| *after <= to) {
            insert(tx, space, after, to)?;
        }
    }
    Ok(())
}

/// Makes the addresses from `first` to `last` free. They must not be in use.
pub fn release<F: StoredFamily>(
    tx: &mut WriteTx,
    space: &Space<F>,
    (first, last): Span<F>,
) -> Result<(), StoreError> {
    let one = F::Bits::from_u8(1);
    let (before, after) = (first.minus(one).unwrap_or(first), last.plus(one).unwrap_or(last));
    let (mut joined_first, mut joined_last) = (first, last);
    for (from, to) in overlapping(tx, space, before, after)? {
        delete(tx, space, from)?;
        joined_first = joined_first.min(from);
        joined_last = joined_last.max(to);
    }
    insert(tx, space, joined_first, joined_last)
}

/// The free ranges that overlap the addresses from `first` to `last`. Free ranges do not overlap each other, so at most
/// one of the returned ranges begins before `first`.
fn overlapping<F: StoredFamily>(
    tx: &mut ReadTx,
    space: &Space<F>,
    first: F::Bits,
    last: F::Bits,
) -> Result<Vec<Span<F>>, StoreError> {
    let args = [
        space.owner.into(),
        F::to_value(first),
        F::to_value(last),
        lowest::<F>(),
    ];
    let rows = tx.all(space.statements.overlapping, &args)?;
    rows.into_iter().map(read_span::<F>).collect()
}

fn read_span<F: StoredFamily>(mut row: Row) -> Result<Span<F>, StoreError> {
    let (Stored(first), Stored(last)): (Stored<F>, Stored<F>) = (row.take()?, row.take()?);
    Ok((first, last))
}

fn insert<F: StoredFamily>(
    tx: &mut WriteTx,
    space: &Space<F>,
    first: F::Bits,
    last: F::Bits,
) -> Result<(), StoreError> {
    let args: [Value; 3] = [space.owner.into(), F::to_value(first), F::to_value(last)];
    tx.execute_deferred(space.statements.insert, &args)?;
    Ok(())
}

fn delete<F: StoredFamily>(tx: &mut WriteTx, space: &Space<F>, first: F::Bits) -> Result<(), StoreError> {
    tx.execute_deferred(space.statements.delete, &[space.owner.into(), F::to_value(first)])?;
    Ok(())
}
