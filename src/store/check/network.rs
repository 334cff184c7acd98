//! Invariants of subnets, addresses and free ranges.

use std::net::Ipv4Addr;

use super::invariant::{Findings, Invariant};
use crate::model::cidr::Cidr;
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::{Row, args};

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "subnets of a VPC do not overlap",
        "SELECT 'subnet ' || id, 'overlaps another subnet of VPC ' || vpc FROM (
             SELECT id, vpc, first_address, max(last_address) OVER (PARTITION BY vpc ORDER BY first_address, id
                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_before FROM subnet) AS ordered
         WHERE first_address <= last_before ORDER BY id",
    ),
    Invariant::function("stored first and last addresses match the range", check_ranges),
    Invariant::query(
        "VPC interfaces have an address and a subnet of the same VPC",
        "SELECT 'interface ' || f.id, CASE
                 WHEN f.subnet IS NULL OR f.vpc IS NULL OR f.address IS NULL THEN 'has no VPC, subnet or address'
                 ELSE 'has subnet ' || f.subnet || ', which is not in VPC ' || f.vpc END
         FROM interface f LEFT JOIN subnet s ON s.id = f.subnet
         WHERE f.purpose = 'vpc' AND (f.subnet IS NULL OR f.vpc IS NULL OR f.address IS NULL OR s.vpc <> f.vpc)
         ORDER BY f.id",
    ),
    Invariant::query(
        "addresses are usable addresses of their subnet",
        "SELECT 'interface ' || f.id, 'has an address that is not usable in subnet ' || s.id
         FROM interface f JOIN subnet s ON s.id = f.subnet
         WHERE f.address < s.first_address + 2 OR f.address > s.last_address - 2 ORDER BY f.id",
    ),
    Invariant::query(
        "routed ranges are inside their subnet",
        "SELECT 'interface ' || r.interface, 'has the range ' || r.ipv4 || ', which is not inside subnet ' || s.id
         FROM interface_range r JOIN subnet s ON s.id = r.subnet
         WHERE r.first_address < s.first_address OR r.last_address > s.last_address ORDER BY r.interface, r.place",
    ),
    Invariant::function("an address either belongs to one instance or is free", check_assignments),
];

/// Compares the stored first and last addresses of subnets and routed ranges with their CIDR ranges.
fn check_ranges(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = "SELECT 'subnet ' || id, ipv4, first_address, last_address FROM subnet
        UNION ALL SELECT 'interface ' || interface, ipv4, first_address, last_address FROM interface_range";
    tx.for_each(sql, args![], |row| {
        let (object, text): (String, String) = (row.take()?, row.take()?);
        let (first, last): (i64, i64) = (row.take()?, row.take()?);
        let is_same = |cidr: Cidr| (i64::from(cidr.first()), i64::from(cidr.last())) == (first, last);
        match Cidr::parse(&text) {
            Ok(cidr) if is_same(cidr) => {}
            Ok(_) => findings.add(
                object,
                format!("first and last address do not match the range {text}"),
            ),
            Err(_) => findings.add(object, format!("has the range {text}, which is not a network")),
        }
        Ok(())
    })
}

/// The addresses of a subnet from `first` to `last`. `instance` is 0 if the addresses are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    subnet: i64,
    first: i64,
    last: i64,
    instance: i64,
}

fn read_span(row: &mut Row) -> Result<Span, StoreError> {
    Ok(Span {
        subnet: row.take()?,
        first: row.take()?,
        last: row.take()?,
        instance: row.take()?,
    })
}

/// Compares the stored free ranges of each subnet with the gaps between the addresses in use.
fn check_assignments(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let used = "SELECT subnet, first, last, instance FROM (
            SELECT subnet, address AS first, address AS last, instance FROM interface WHERE address IS NOT NULL
            UNION ALL SELECT subnet, first_address, last_address, instance FROM interface_range) AS used
        ORDER BY subnet, first, last";
    let free = "SELECT subnet, first_address, last_address, 0 FROM free_range ORDER BY subnet, first_address";
    let subnets = "SELECT id, first_address + 2, last_address - 2, 0 FROM subnet ORDER BY id";
    let mut used = tx.read(used, args![], read_span)?.into_iter().peekable();
    let mut free = tx.read(free, args![], read_span)?.into_iter().peekable();
    for subnet in tx.read(subnets, args![], read_span)? {
        while used.next_if(|span| span.subnet < subnet.subnet).is_some() {}
        while free.next_if(|span| span.subnet < subnet.subnet).is_some() {}
        let in_use: Vec<_> =
            std::iter::from_fn(|| used.next_if(|span| span.subnet == subnet.subnet)).collect();
        let stored: Vec<_> =
            std::iter::from_fn(|| free.next_if(|span| span.subnet == subnet.subnet)).collect();
        check_subnet(subnet, &in_use, &stored, findings);
    }
    Ok(())
}

/// Checks one subnet. The spans are ordered by their first address.
fn check_subnet(usable: Span, in_use: &[Span], stored: &[Span], findings: &mut Findings) {
    let object = format!("subnet {}", usable.subnet);
    let mut expected = Vec::new();
    // `next` is the first address after all spans so far. `last_instance` has the address before `next`.
    let (mut next, mut last_instance) = (usable.first, 0);
    for span in in_use {
        if span.first < next
            && span.last >= usable.first
            && span.instance != last_instance
            && last_instance != 0
        {
            let address = text_of(span.first);
            findings.add(
                object.clone(),
                format!(
                    "instances {last_instance} and {} both have {address}",
                    span.instance
                ),
            );
        }
        if span.first > next {
            expected.push((next, span.first - 1));
        }
        if span.last + 1 > next {
            (next, last_instance) = (span.last + 1, span.instance);
        }
    }
    if next <= usable.last {
        expected.push((next, usable.last));
    }
    let stored: Vec<_> = stored.iter().map(|span| (span.first, span.last)).collect();
    if let Some((first, last)) = difference(&expected, &stored) {
        let problem = match expected.contains(&(first, last)) {
            true => "are free, but are not stored as free",
            false => "are stored as free, but are not free",
        };
        let range = format!("{} to {}", text_of(first), text_of(last));
        findings.add(object, format!("the addresses {range} {problem}"));
    }
}

/// The first range that is in only one of the two lists.
fn difference(expected: &[(i64, i64)], stored: &[(i64, i64)]) -> Option<(i64, i64)> {
    let missing = expected.iter().find(|range| !stored.contains(range));
    missing
        .or_else(|| stored.iter().find(|range| !expected.contains(range)))
        .copied()
}

fn text_of(address: i64) -> String {
    match u32::try_from(address) {
        Ok(address) => Ipv4Addr::from_bits(address).to_string(),
        Err(_) => address.to_string(),
    }
}
