//! The free addresses of each subnet, stored as ranges. Two ranges are never adjacent to each other.
//!
//! The lowest free address is the start of the first range. A lookup by primary key finds it, no matter how
//! many addresses are in use. Taking an address splits a range. Releasing an address merges it with the
//! ranges next to it.

use std::collections::HashMap;

use crate::model::cidr::Cidr;
use crate::model::id::SubnetId;
use crate::store::error::StoreError;
use crate::store::list::id_lists;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// Inserts all assignable addresses of a new subnet as one free range.
pub fn insert_all(tx: &mut WriteTx, subnet: SubnetId, range: Cidr) -> Result<(), StoreError> {
    let all = range.assignable();
    insert(tx, subnet, *all.start(), *all.end())
}

pub fn delete_all(tx: &mut WriteTx, subnet: SubnetId) -> Result<(), StoreError> {
    tx.execute_deferred("DELETE FROM free_range WHERE subnet = $1", args![subnet])?;
    Ok(())
}

/// The lowest free address that is not in any of these ranges.
pub fn lowest_outside(
    tx: &mut ReadTx,
    subnet: SubnetId,
    excluded: &[Cidr],
) -> Result<Option<u32>, StoreError> {
    let mut excluded: Vec<_> = excluded
        .iter()
        .map(|range| (range.first(), range.last()))
        .collect();
    excluded.sort_unstable();
    let mut excluded = excluded.into_iter().peekable();
    let mut from = 0;
    loop {
        let row = tx.find(
            "SELECT first_address, last_address FROM free_range
             WHERE subnet = $1 AND last_address >= $2 AND first_address >= coalesce(
                 (SELECT max(first_address) FROM free_range WHERE subnet = $1 AND first_address <= $2), 0)
             ORDER BY first_address LIMIT 1",
            args![subnet, from],
        )?;
        let Some(mut row) = row else { return Ok(None) };
        let (first, last): (u32, u32) = (row.take()?, row.take()?);
        let mut lowest = first.max(from);
        while let Some((_, end)) = excluded.next_if(|(begin, _)| *begin <= lowest) {
            match end.checked_add(1) {
                Some(next) => lowest = lowest.max(next),
                None => return Ok(None),
            }
        }
        if lowest <= last {
            return Ok(Some(lowest));
        }
        from = lowest;
    }
}

/// The number of free addresses in each of these subnets. The result omits full subnets.
pub fn totals(tx: &mut ReadTx, subnets: &[SubnetId]) -> Result<HashMap<SubnetId, u64>, StoreError> {
    let ids: Vec<i64> = subnets.iter().map(|subnet| subnet.0).collect();
    let mut totals = HashMap::new();
    for (list, args) in id_lists(&ids) {
        let sql = format!(
            "SELECT subnet, CAST(sum(last_address - first_address + 1) AS BIGINT) FROM free_range
             WHERE subnet IN {list} GROUP BY subnet"
        );
        for mut row in tx.all(&sql, &args)? {
            let (subnet, free): (SubnetId, i64) = (row.take()?, row.take()?);
            totals.insert(subnet, free.unsigned_abs());
        }
    }
    Ok(totals)
}

/// Removes the addresses from `first` to `last` from the free ranges. Ignores addresses that are not free.
pub fn take(tx: &mut WriteTx, subnet: SubnetId, first: u32, last: u32) -> Result<(), StoreError> {
    for (from, to) in overlapping(tx, subnet, first, last)? {
        delete(tx, subnet, from)?;
        if from < first {
            insert(tx, subnet, from, first - 1)?;
        }
        if to > last {
            insert(tx, subnet, last + 1, to)?;
        }
    }
    Ok(())
}

/// Makes the addresses from `first` to `last` free. They must not be in use.
pub fn release(tx: &mut WriteTx, subnet: SubnetId, first: u32, last: u32) -> Result<(), StoreError> {
    let (mut joined_first, mut joined_last) = (first, last);
    for (from, to) in overlapping(tx, subnet, first - 1, last + 1)? {
        delete(tx, subnet, from)?;
        joined_first = joined_first.min(from);
        joined_last = joined_last.max(to);
    }
    insert(tx, subnet, joined_first, joined_last)
}

/// The free ranges that overlap the addresses from `first` to `last`. Free ranges do not overlap each other, so at most
/// one of the returned ranges begins before `first`.
fn overlapping(
    tx: &mut ReadTx,
    subnet: SubnetId,
    first: u32,
    last: u32,
) -> Result<Vec<(u32, u32)>, StoreError> {
    let rows = tx.all(
        "SELECT first_address, last_address FROM free_range
         WHERE subnet = $1 AND first_address <= $3 AND last_address >= $2
           AND first_address >= coalesce(
               (SELECT max(first_address) FROM free_range WHERE subnet = $1 AND first_address <= $2), 0)
         ORDER BY first_address",
        args![subnet, first, last],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

fn insert(tx: &mut WriteTx, subnet: SubnetId, first: u32, last: u32) -> Result<(), StoreError> {
    let sql = "INSERT INTO free_range (subnet, first_address, last_address) VALUES ($1, $2, $3)";
    tx.execute_deferred(sql, args![subnet, first, last])?;
    Ok(())
}

fn delete(tx: &mut WriteTx, subnet: SubnetId, first: u32) -> Result<(), StoreError> {
    let sql = "DELETE FROM free_range WHERE subnet = $1 AND first_address = $2";
    tx.execute_deferred(sql, args![subnet, first])?;
    Ok(())
}
