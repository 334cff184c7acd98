//! Which addresses of a subnet belong to whom.
//!
//! In one subnet an address or range belongs to one instance; two configs of the same instance
//! may repeat it. What nobody has is kept as ranges (`store/free_ranges.rs`), so that the lowest
//! free address is found at once however many are taken.

use super::error::Result;
use crate::model::cidr::Cidr;
use crate::model::id::{InstanceId, SubnetId};
use crate::model::interface::VpcAttachment;
use crate::store::{self, ReadTx, WriteTx};

/// Whether a span can belong to an instance; `None` is one that is still to be made.
pub fn is_free_for(
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

/// The lowest address that nobody has, outside of these ranges that are about to be taken.
pub fn lowest_free(tx: &mut ReadTx, subnet: SubnetId, outside: &[Cidr]) -> Result<Option<u32>> {
    Ok(store::free_ranges::lowest_outside(tx, subnet, outside)?)
}

pub fn take(tx: &mut WriteTx, attachment: &VpcAttachment) -> Result<()> {
    for (first, last) in spans(attachment) {
        store::free_ranges::take(tx, attachment.subnet, first, last)?;
    }
    Ok(())
}

/// Gives back what an attachment had, but for what another config of the instance still uses.
/// Its own rows must be gone.
pub fn give_back(tx: &mut WriteTx, attachment: &VpcAttachment) -> Result<()> {
    let subnet = attachment.subnet;
    for (first, last) in spans(attachment) {
        let mut next = u64::from(first);
        let used = store::interfaces::claims(tx, subnet, first, last)?;
        for (from, to) in used.into_iter().chain([(last.saturating_add(1), u32::MAX)]) {
            let gap_end = u64::from(from).min(u64::from(last) + 1);
            if next < gap_end {
                store::free_ranges::give_back(tx, subnet, next as u32, (gap_end - 1) as u32)?;
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
