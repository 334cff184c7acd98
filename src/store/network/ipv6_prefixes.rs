//! The `ipv6_prefix` table: the IPv6 ranges of VPCs, and of deleted VPCs until they can be reused. The table `ipv6_pool`
//! has the pool for which the free ranges were computed.

use super::stored_family::{Space, StoredFamily, read_network};
use crate::model::cidr::Cidr6;
use crate::model::family::V6;
use crate::model::id::{AccountId, VpcId};
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::free_ranges;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

/// The maximum number of expired ranges that one change makes free.
const MAX_RECLAIMED: i64 = 1000;

/// The range of a VPC, or of a deleted VPC.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6Prefix {
    pub range: Cidr6,
    pub account: AccountId,
    /// `None` after the VPC was deleted.
    pub vpc: Option<VpcId>,
}

/// Computes the free ranges of the pool again, if the provider has changed the pool.
pub fn set_pool(tx: &mut WriteTx, pool: Cidr6) -> Result<(), StoreError> {
    let stored = tx.find("SELECT ipv6 FROM ipv6_pool WHERE id = 1", args![])?;
    let stored: Option<Cidr6> = stored.map(|mut row| row.take()).transpose()?;
    if stored == Some(pool) {
        return Ok(());
    }
    let space = Space::pool();
    free_ranges::delete_all(tx, &space)?;
    tx.execute(
        "INSERT INTO ipv6_pool (id, ipv6) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET ipv6 = $1",
        args![pool],
    )?;
    free_ranges::insert_all(tx, &space, (pool.first(), pool.last()))?;
    for taken in in_range(tx, pool)? {
        free_ranges::take(tx, &space, (taken.range.first(), taken.range.last()))?;
    }
    Ok(())
}

/// The lowest free range of the pool with this prefix length.
pub fn lowest_free(tx: &mut ReadTx, prefix: u8) -> Result<Option<Cidr6>, StoreError> {
    free_ranges::lowest_free(tx, &Space::pool(), prefix, &[])
}

/// Makes ranges free that were released at `before` or earlier. Returns whether there may be more of them.
pub fn reclaim(tx: &mut WriteTx, before: Time, pool: Cidr6) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT first_address, last_address FROM ipv6_prefix WHERE released <= $1
         ORDER BY released, first_address LIMIT {MAX_RECLAIMED}"
    );
    let expired: Vec<Cidr6> = tx.read(&sql, args![before], read_network)?;
    for range in &expired {
        delete(tx, *range)?;
        let in_pool = (range.first().max(pool.first()), range.last().min(pool.last()));
        if pool.overlaps(*range) {
            free_ranges::release(tx, &Space::pool(), in_pool)?;
        }
    }
    Ok(expired.len() as i64 == MAX_RECLAIMED)
}

/// The ranges that overlap a range, ordered by address. Ranges do not overlap each other, so at most one of them begins
/// before the range.
pub fn in_range(tx: &mut ReadTx, range: Cidr6) -> Result<Vec<Ipv6Prefix>, StoreError> {
    tx.read(
        "SELECT first_address, last_address, account, vpc FROM ipv6_prefix
         WHERE first_address <= $2 AND last_address >= $1
           AND first_address >= coalesce((SELECT max(first_address) FROM ipv6_prefix WHERE first_address <= $1), '')
         ORDER BY first_address",
        args![V6::to_value(range.first()), V6::to_value(range.last())],
        read,
    )
}

/// Assigns a range to a VPC. The range must be free, or released by the same account.
pub fn assign(tx: &mut WriteTx, account: AccountId, vpc: VpcId, range: Cidr6) -> Result<(), StoreError> {
    let (first, last) = (V6::to_value(range.first()), V6::to_value(range.last()));
    tx.execute(
        "INSERT INTO ipv6_prefix (first_address, last_address, account, vpc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (first_address) DO UPDATE SET vpc = $4, released = NULL",
        args![first, last, account, vpc],
    )?;
    free_ranges::take(tx, &Space::pool(), (range.first(), range.last()))
}

/// Releases the range of a VPC that is deleted. It remains reserved until `reclaim` makes it free.
pub fn release(tx: &mut WriteTx, vpc: VpcId) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE ipv6_prefix SET vpc = NULL, released = $2 WHERE vpc = $1";
    tx.execute(sql, args![vpc, now])?;
    Ok(())
}

fn delete(tx: &mut WriteTx, range: Cidr6) -> Result<(), StoreError> {
    let sql = "DELETE FROM ipv6_prefix WHERE first_address = $1";
    tx.execute(sql, args![V6::to_value(range.first())])?;
    Ok(())
}

fn read(row: &mut Row) -> Result<Ipv6Prefix, StoreError> {
    Ok(Ipv6Prefix {
        range: read_network(row)?,
        account: row.take()?,
        vpc: row.take()?,
    })
}
