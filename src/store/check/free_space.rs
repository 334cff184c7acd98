//! Compares stored free ranges with the gaps between the addresses in use, for both address families.

use super::invariant::Findings;
use crate::model::family::{Bits, Family};
use crate::store::error::StoreError;
use crate::store::stored_family::{Stored, StoredFamily};
use crate::store::tx::ReadTx;
use crate::store::value::args;

/// The addresses of an address space from `first` to `last`.
#[derive(Clone, Copy, Debug)]
pub struct Span<F: Family> {
    /// The subnet or VPC.
    pub owner: i64,
    pub first: F::Bits,
    pub last: F::Bits,
    /// The instance, VPC or subnet that has the addresses; 0 if they are free.
    pub holder: i64,
}

/// Reads spans: owner, first and last address, holder. Omits rows without valid addresses, which other invariants
/// report.
pub fn read_spans<F: StoredFamily>(tx: &mut ReadTx, sql: &str) -> Result<Vec<Span<F>>, StoreError> {
    let mut found = Vec::new();
    tx.for_each(sql, args![], |row| {
        let owner = row.take()?;
        let (first, last) = (row.take::<Stored<F>>(), row.take::<Stored<F>>());
        let holder = row.take()?;
        if let (Ok(Stored(first)), Ok(Stored(last))) = (first, last) {
            found.push(Span {
                owner,
                first,
                last,
                holder,
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// Checks address spaces, which are ordered by owner. `used` and `free` are the queries for the spans in use and for
/// the free ranges, ordered by owner and first address. `kinds` names an owner and the holders, for the findings.
pub fn check_spaces<F: StoredFamily>(
    tx: &mut ReadTx,
    kinds: (&str, &str),
    spaces: &[Span<F>],
    (used, free): (&str, &str),
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let (used, free) = (read_spans(tx, used)?, read_spans(tx, free)?);
    compare_spaces(kinds, spaces, (used, free), findings);
    Ok(())
}

/// Like `check_spaces`, with the spans in use and the free ranges.
pub fn compare_spaces<F: Family>(
    kinds: (&str, &str),
    spaces: &[Span<F>],
    (used, free): (Vec<Span<F>>, Vec<Span<F>>),
    findings: &mut Findings,
) {
    let (mut used, mut free) = (used.into_iter().peekable(), free.into_iter().peekable());
    for space in spaces {
        while used.next_if(|span| span.owner < space.owner).is_some() {}
        while free.next_if(|span| span.owner < space.owner).is_some() {}
        let in_use: Vec<_> = std::iter::from_fn(|| used.next_if(|span| span.owner == space.owner)).collect();
        let stored: Vec<_> = std::iter::from_fn(|| free.next_if(|span| span.owner == space.owner)).collect();
        check_space(kinds, space, &in_use, &stored, findings);
    }
}

/// Checks one address space. The spans are ordered by their first address.
fn check_space<F: Family>(
    (owner, holders): (&str, &str),
    usable: &Span<F>,
    in_use: &[Span<F>],
    stored: &[Span<F>],
    findings: &mut Findings,
) {
    let one = F::Bits::from_u8(1);
    let object = format!("{owner} {}", usable.owner);
    let mut expected = Vec::new();
    // `next` is the first address after all spans so far, or `None` after the highest address of the family.
    // `last_holder` has the address before `next`.
    let (mut next, mut last_holder) = (Some(usable.first), 0);
    for span in in_use {
        let is_shared = next.is_none_or(|next| span.first < next) && span.last >= usable.first;
        if is_shared && span.holder != last_holder && last_holder != 0 {
            let address = F::address_text(span.first);
            let text = format!("{holders} {last_holder} and {} both have {address}", span.holder);
            findings.add(object.clone(), text);
        }
        if let (Some(from), Some(to)) = (next, span.first.minus(one))
            && from <= to
        {
            expected.push((from, to));
        }
        if next.is_some_and(|next| span.last >= next) {
            (next, last_holder) = (span.last.plus(one), span.holder);
        }
    }
    if let Some(next) = next.filter(|next| *next <= usable.last) {
        expected.push((next, usable.last));
    }
    let stored: Vec<_> = stored.iter().map(|span| (span.first, span.last)).collect();
    if let Some((first, last)) = difference(&expected, &stored) {
        let problem = match expected.contains(&(first, last)) {
            true => "are free, but are not stored as free",
            false => "are stored as free, but are not free",
        };
        let range = format!("{} to {}", F::address_text(first), F::address_text(last));
        findings.add(object, format!("the addresses {range} {problem}"));
    }
}

/// The first range that is in only one of the two lists.
fn difference<B: Bits>(expected: &[(B, B)], stored: &[(B, B)]) -> Option<(B, B)> {
    let missing = expected.iter().find(|range| !stored.contains(range));
    missing
        .or_else(|| stored.iter().find(|range| !expected.contains(range)))
        .copied()
}
